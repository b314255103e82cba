//! Drawings with a row for each of several names.

use std::ops::Range;

use metasd::bench::Quartiles;
use metasd::{Error, Result};
use plotters::coord::Shift;
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::{Drawn, Labels, cannot_draw};

/// Height of a row, and of what is above and below all of them.
const ROW: u32 = 26;
const FRAME: u32 = 110;
const WIDTH: u32 = 900;

/// Width of the names.
const NAMES: u32 = 210;

/// Which of `names` was chosen in each round: a mark in its row. A round without a choice has none.
///
/// # Errors
/// When there are no names or no rounds.
pub fn timeline(
    labels: &Labels<'_>,
    names: &[String],
    choices: &[Option<usize>],
) -> Result<String> {
    if names.is_empty() || choices.is_empty() {
        return Err(Error::invalid("nothing to plot"));
    }
    let mut text = String::new();
    draw_timeline(&mut text, labels, names, choices).map_err(cannot_draw)?;
    Ok(text)
}

/// The median of each name as a point, on a line from the lower quartile to the upper one.
///
/// # Errors
/// When there are no rows.
pub fn intervals(labels: &Labels<'_>, rows: &[(String, Quartiles)]) -> Result<String> {
    if rows.is_empty() {
        return Err(Error::invalid("nothing to plot"));
    }
    let mut text = String::new();
    draw_intervals(&mut text, labels, rows).map_err(cannot_draw)?;
    Ok(text)
}

fn size(rows: usize) -> (u32, u32) {
    let rows = u32::try_from(rows).unwrap_or(u32::MAX);
    (WIDTH, ROW.saturating_mul(rows).saturating_add(FRAME))
}

/// A chart with a row for each of `names`, the first at the top; row `r` lies between `n − r − 1`
/// and `n − r` of the y axis, `n` being the number of names.
fn chart<'a>(
    text: &'a mut String,
    labels: &Labels<'_>,
    names: &[&str],
    x: Range<f64>,
    digits: usize,
) -> std::result::Result<Canvas<'a>, Box<dyn std::error::Error>> {
    let root = SVGBackend::with_string(text, size(names.len())).into_drawing_area();
    root.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&root)
        .caption(labels.title, ("sans-serif", 18))
        .margin(12)
        .x_label_area_size(44)
        .y_label_area_size(NAMES)
        .build_cartesian_2d(x.clone(), 0.0..names.len() as f64)?;
    chart
        .configure_mesh()
        .x_desc(labels.x)
        .disable_y_mesh()
        .y_labels(0)
        .x_label_formatter(&|x| format!("{x:.digits$}"))
        .light_line_style(WHITE)
        .draw()?;
    let style = ("sans-serif", 13)
        .into_font()
        .into_text_style(&root)
        .pos(Pos::new(HPos::Right, VPos::Center));
    for (row, name) in names.iter().enumerate() {
        let (left, middle) = chart.backend_coord(&(x.start, middle(names.len(), row)));
        root.draw(&Text::new(*name, (left - 8, middle), style.clone()))?;
    }
    Ok((root, chart))
}

type Plane = Cartesian2d<RangedCoordf64, RangedCoordf64>;

type Canvas<'a> = (
    DrawingArea<SVGBackend<'a>, Shift>,
    ChartContext<'a, SVGBackend<'a>, Plane>,
);

fn middle(rows: usize, row: usize) -> f64 {
    (rows - row) as f64 - 0.5
}

fn draw_timeline(
    text: &mut String,
    labels: &Labels<'_>,
    names: &[String],
    choices: &[Option<usize>],
) -> Drawn {
    let rows: Vec<&str> = names.iter().map(String::as_str).collect();
    let x = 0.5..choices.len() as f64 + 0.5;
    let (root, mut chart) = chart(text, labels, &rows, x, 0)?;
    let marks = choices.iter().enumerate().filter_map(|(round, choice)| {
        let choice = (*choice).filter(|choice| *choice < rows.len())?;
        let (x, y) = (round as f64 + 1.0, middle(rows.len(), choice));
        Some(Rectangle::new(
            [(x - 0.45, y - 0.4), (x + 0.45, y + 0.4)],
            Palette99::pick(choice).filled(),
        ))
    });
    chart.draw_series(marks)?;
    root.present()?;
    Ok(())
}

fn draw_intervals(text: &mut String, labels: &Labels<'_>, rows: &[(String, Quartiles)]) -> Drawn {
    let low = rows.iter().map(|(_, row)| row.lower).fold(1.0, f64::min);
    let high = rows.iter().map(|(_, row)| row.upper).fold(1.0, f64::max);
    let margin = ((high - low) * 0.05).max(0.02);
    let names: Vec<&str> = rows.iter().map(|(name, _)| name.as_str()).collect();
    let (root, mut chart) = chart(text, labels, &names, low - margin..high + margin, 2)?;
    let even = [(1.0, 0.0), (1.0, rows.len() as f64)];
    chart.draw_series([PathElement::new(even, BLACK.stroke_width(1))])?;
    let color = Palette99::pick(3);
    for (row, (_, quartiles)) in rows.iter().enumerate() {
        let y = middle(rows.len(), row);
        let ends = [(quartiles.lower, y), (quartiles.upper, y)];
        chart.draw_series([PathElement::new(ends, color.stroke_width(2))])?;
        chart.draw_series([Circle::new((quartiles.median, y), 4, color.filled())])?;
    }
    root.present()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LABELS: Labels<'_> = Labels {
        title: "Choices",
        x: "round",
        y: "",
    };

    fn names(count: usize) -> Vec<String> {
        (0..count).map(|index| format!("drafter{index}")).collect()
    }

    #[test]
    fn every_name_has_a_row_and_every_choice_a_mark() {
        for count in [1, 7, 20] {
            let choices = [Some(0), None, Some(count - 1)];
            let text = timeline(&LABELS, &names(count), &choices).expect("drawn");
            for name in names(count) {
                assert!(text.contains(&format!("\n{name}\n")), "{count}: {name}");
            }
            // The background and two marks.
            assert_eq!(text.matches("<rect").count(), 3, "{count}");
        }
    }

    #[test]
    fn an_interval_is_a_line_with_a_point() {
        let quartiles = Quartiles::of(&[0.9, 1.1, 1.4]).expect("values");
        let rows: Vec<_> = names(3).into_iter().map(|name| (name, quartiles)).collect();
        let text = intervals(&LABELS, &rows).expect("drawn");
        assert_eq!(text.matches("<circle").count(), 3);
    }

    #[test]
    fn nothing_to_plot_is_an_error() {
        timeline(&LABELS, &[], &[Some(0)]).expect_err("no names");
        timeline(&LABELS, &names(1), &[]).expect_err("no rounds");
        intervals(&LABELS, &[]).expect_err("no rows");
    }
}
