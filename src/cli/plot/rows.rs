//! Drawings with a row for each of several names.

use metasd::bench::Quartiles;
use metasd::{Error, Result};
use plotters::prelude::*;

use super::{Drawn, Labels, cannot_draw};

/// Height of a row, and of what is above and below all of them.
const ROW: u32 = 26;
const FRAME: u32 = 110;
const WIDTH: u32 = 900;

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

fn label(names: &[String], value: &SegmentValue<usize>) -> String {
    match value {
        SegmentValue::CenterOf(row) => names.get(*row).cloned().unwrap_or_default(),
        _ => String::new(),
    }
}

fn draw_timeline(
    text: &mut String,
    labels: &Labels<'_>,
    names: &[String],
    choices: &[Option<usize>],
) -> Drawn {
    let root = SVGBackend::with_string(text, size(names.len())).into_drawing_area();
    root.fill(&WHITE)?;
    // Segmented axes begin at the bottom; the first name is to be at the top.
    let reversed: Vec<String> = names.iter().rev().cloned().collect();
    let mut chart = ChartBuilder::on(&root)
        .caption(labels.title, ("sans-serif", 18))
        .margin(12)
        .x_label_area_size(44)
        .y_label_area_size(150)
        .build_cartesian_2d(
            0.5..choices.len() as f64 + 0.5,
            (0..names.len() - 1).into_segmented(),
        )?;
    chart
        .configure_mesh()
        .x_desc(labels.x)
        .disable_x_mesh()
        .y_labels(names.len() + 1)
        .x_label_formatter(&|x| format!("{x:.0}"))
        .y_label_formatter(&|value| label(&reversed, value))
        .light_line_style(WHITE)
        .draw()?;
    let marks = choices.iter().enumerate().filter_map(|(round, choice)| {
        let choice = (*choice)?;
        let row = names.len().checked_sub(choice + 1)?;
        let x = round as f64 + 1.0;
        Some(Rectangle::new(
            [
                (x - 0.45, SegmentValue::Exact(row)),
                (x + 0.45, SegmentValue::Exact(row + 1)),
            ],
            Palette99::pick(choice).filled(),
        ))
    });
    chart.draw_series(marks)?;
    root.present()?;
    Ok(())
}

fn draw_intervals(text: &mut String, labels: &Labels<'_>, rows: &[(String, Quartiles)]) -> Drawn {
    let root = SVGBackend::with_string(text, size(rows.len())).into_drawing_area();
    root.fill(&WHITE)?;
    let low = rows.iter().map(|(_, row)| row.lower).fold(1.0, f64::min);
    let high = rows.iter().map(|(_, row)| row.upper).fold(1.0, f64::max);
    let margin = ((high - low) * 0.05).max(0.02);
    let reversed: Vec<String> = rows.iter().rev().map(|(name, _)| name.clone()).collect();
    let mut chart = ChartBuilder::on(&root)
        .caption(labels.title, ("sans-serif", 18))
        .margin(12)
        .x_label_area_size(44)
        .y_label_area_size(200)
        .build_cartesian_2d(
            low - margin..high + margin,
            (0..rows.len() - 1).into_segmented(),
        )?;
    chart
        .configure_mesh()
        .x_desc(labels.x)
        .y_labels(rows.len() + 1)
        .y_label_formatter(&|value| label(&reversed, value))
        .light_line_style(WHITE)
        .draw()?;
    let even = [
        (1.0, SegmentValue::Exact(0)),
        (1.0, SegmentValue::Exact(rows.len())),
    ];
    chart.draw_series([PathElement::new(even, BLACK.stroke_width(1))])?;
    for (row, (_, quartiles)) in rows.iter().rev().enumerate() {
        let at = SegmentValue::CenterOf(row);
        let color = Palette99::pick(3);
        let ends = [(quartiles.lower, at.clone()), (quartiles.upper, at.clone())];
        chart.draw_series([PathElement::new(ends, color.stroke_width(2))])?;
        chart.draw_series([Circle::new((quartiles.median, at), 4, color.filled())])?;
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
