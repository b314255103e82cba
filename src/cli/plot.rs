//! Curves, as an SVG file.

mod rows;

use std::ops::Range;
use std::path::Path;

use metasd::{Error, ErrorKind, Result};
use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::prelude::*;

pub use rows::{intervals, timeline};

const SIZE: (u32, u32) = (900, 560);

/// A curve with its name in the legend.
#[derive(Debug)]
pub struct Curve {
    pub name: String,
    /// `(x, y)` in order of `x`, which is positive.
    pub points: Vec<(f64, f64)>,
    /// Drawn thinner, to stand back behind the others.
    pub thin: bool,
}

/// What the axes show.
#[derive(Debug)]
pub struct Labels<'a> {
    pub title: &'a str,
    pub x: &'a str,
    pub y: &'a str,
}

/// How the axes are divided.
#[derive(Clone, Copy, Debug, Default)]
pub struct Axes {
    /// Whether the x axis is logarithmic.
    pub log_x: bool,
    /// What the y axis shows, when not what the curves need.
    pub y: Option<(f64, f64)>,
}

/// Draws `curves` over a logarithmic axis to the file at `path`.
///
/// # Errors
/// When there is no point, or the file cannot be written.
pub fn svg(path: &Path, labels: &Labels<'_>, curves: &[Curve]) -> Result<()> {
    let axes = Axes {
        log_x: true,
        y: None,
    };
    write(path, &drawing(labels, axes, curves)?)
}

/// Writes a drawing to the file at `path`.
///
/// # Errors
/// When the file cannot be written.
pub fn write(path: &Path, drawing: &str) -> Result<()> {
    std::fs::write(path, drawing).map_err(|error| Error::io("cannot write the plot", path, error))
}

/// `curves` as the text of an SVG file.
///
/// # Errors
/// When there is no point.
pub fn drawing(labels: &Labels<'_>, axes: Axes, curves: &[Curve]) -> Result<String> {
    let points = || curves.iter().flat_map(|curve| &curve.points);
    let range = |value: fn(&(f64, f64)) -> f64| {
        points()
            .map(value)
            .filter(|value| value.is_finite())
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
                (low.min(value), high.max(value))
            })
    };
    let (x_low, x_high) = range(|point| point.0);
    let (y_low, y_high) = range(|point| point.1);
    if x_low > x_high || y_low > y_high {
        return Err(Error::invalid("nothing to plot"));
    }
    // A range of no width has no axis.
    let x_range = if x_low < x_high {
        x_low..x_high
    } else {
        x_low / 2.0..x_high * 2.0
    };
    let margin = ((y_high - y_low) * 0.05).max(0.5);
    let y_range = match axes.y {
        Some((low, high)) => low..high,
        None => (y_low - margin)..(y_high + margin),
    };

    let mut text = String::new();
    // Growing curves leave the upper left free, shares that settle begin there.
    let drawn = if axes.log_x {
        let legend = SeriesLabelPosition::UpperLeft;
        let x_range = x_range.log_scale();
        draw(&mut text, labels, curves, (x_range, y_range), legend)
    } else {
        let legend = SeriesLabelPosition::UpperRight;
        draw(&mut text, labels, curves, (x_range, y_range), legend)
    };
    drawn.map_err(cannot_draw)?;
    Ok(text)
}

type Drawn = std::result::Result<(), Box<dyn std::error::Error>>;

fn cannot_draw(error: Box<dyn std::error::Error>) -> Error {
    Error::new(ErrorKind::Io, format!("cannot draw the plot: {error}"))
}

fn draw<X>(
    text: &mut String,
    labels: &Labels<'_>,
    curves: &[Curve],
    (x_range, y_range): (X, Range<f64>),
    legend: SeriesLabelPosition,
) -> Drawn
where
    X: AsRangedCoord<Value = f64>,
    X::CoordDescType: ValueFormatter<f64>,
{
    let root = SVGBackend::with_string(text, SIZE).into_drawing_area();
    root.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&root)
        .caption(labels.title, ("sans-serif", 18))
        .margin(12)
        .x_label_area_size(44)
        .y_label_area_size(64)
        .build_cartesian_2d(x_range, y_range)?;
    chart
        .configure_mesh()
        .x_desc(labels.x)
        .y_desc(labels.y)
        .x_label_formatter(&|x| format!("{x:.0}"))
        .light_line_style(WHITE)
        .draw()?;
    for (index, curve) in curves.iter().enumerate() {
        let color = Palette99::pick(index).to_rgba();
        let style = color.stroke_width(if curve.thin { 1 } else { 2 });
        let points = curve.points.iter().copied();
        let finite = points.filter(|(x, y)| x.is_finite() && y.is_finite());
        chart
            .draw_series(LineSeries::new(finite, style))?
            .label(&curve.name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], style));
    }
    chart
        .configure_series_labels()
        .position(legend)
        .background_style(WHITE.mix(0.8))
        .border_style(BLACK.mix(0.3))
        .draw()?;
    root.present()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(points: &[(f64, f64)]) -> Curve {
        Curve {
            name: "metasd-ucb bd".to_owned(),
            points: points.to_vec(),
            thin: false,
        }
    }

    const LABELS: Labels<'_> = Labels {
        title: "regret",
        x: "tokens",
        y: "rounds",
    };

    const AXES: Axes = Axes {
        log_x: true,
        y: None,
    };

    #[test]
    fn a_plot_names_its_curves_and_axes() {
        let text = drawing(&LABELS, AXES, &[curve(&[(128.0, 1.0), (512.0, 3.0)])]).expect("drawn");
        assert!(text.starts_with("<svg") && text.trim_end().ends_with("</svg>"));
        for word in ["metasd-ucb bd", "regret", "tokens", "rounds", "<polyline"] {
            assert!(text.contains(word), "{word}");
        }
    }

    #[test]
    fn a_single_point_and_a_level_curve_can_be_drawn() {
        drawing(&LABELS, AXES, &[curve(&[(128.0, 1.0)])]).expect("a point");
        drawing(&LABELS, AXES, &[curve(&[(128.0, 0.0), (256.0, 0.0)])]).expect("level");
    }

    #[test]
    fn a_plain_axis_may_begin_at_zero_and_show_more_than_the_curve() {
        let axes = Axes {
            log_x: false,
            y: Some((0.0, 1.0)),
        };
        let text = drawing(&LABELS, axes, &[curve(&[(0.0, 0.4), (9.0, 0.6)])]).expect("drawn");
        assert!(text.contains("1.0"), "the end of the y axis");
    }

    #[test]
    fn nothing_to_plot_is_an_error() {
        drawing(&LABELS, AXES, &[]).expect_err("no curve");
        drawing(&LABELS, AXES, &[curve(&[(1.0, f64::NAN)])]).expect_err("no number");
    }
}
