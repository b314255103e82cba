//! Tables in Markdown.

/// A Markdown table: the first line is its head, the first column to the left, the others to the
/// right. Every line has as many cells.
pub fn markdown(mut lines: Vec<Vec<String>>) -> String {
    let columns = lines.first().map_or(0, Vec::len);
    let widths: Vec<usize> = (0..columns)
        .map(|column| {
            let lengths = lines.iter().map(|line| line[column].chars().count());
            lengths.max().unwrap_or(0)
        })
        .collect();
    let rule: Vec<String> = widths
        .iter()
        .enumerate()
        .map(|(column, width)| match column {
            0 => "-".repeat(*width),
            _ => format!("{}:", "-".repeat(width - 1)),
        })
        .collect();
    lines.insert(1, rule);
    let line = |line: &Vec<String>| {
        let cells = line.iter().zip(&widths).enumerate();
        let padded = cells.map(|(column, (cell, &width))| match column {
            0 => format!("{cell:width$}"),
            _ => format!("{cell:>width$}"),
        });
        format!("| {} |", padded.collect::<Vec<_>>().join(" | "))
    };
    lines.iter().map(line).collect::<Vec<_>>().join("\n")
}
