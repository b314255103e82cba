//! A report as Markdown and as a single HTML file.

use std::fmt::Write;

/// Headings, texts, tables and figures, one after the other.
#[derive(Debug, Default)]
pub struct Document {
    /// Its title.
    pub title: String,
    parts: Vec<Part>,
}

#[derive(Debug)]
enum Part {
    Heading(String),
    /// In which backquotes enclose code.
    Text(String),
    Table(Table),
    Figure(Figure),
}

/// A table; the first column is to the left, the others are to the right.
#[derive(Debug, Default)]
pub struct Table {
    /// The head.
    pub head: Vec<String>,
    /// The rows, each as long as the head.
    pub rows: Vec<Vec<String>>,
}

/// A drawing and the numbers behind it.
#[derive(Debug)]
pub struct Figure {
    /// Its files' name without the ending.
    pub name: String,
    /// What it shows.
    pub caption: String,
    /// The drawing.
    pub svg: String,
    /// The numbers.
    pub csv: String,
}

impl Document {
    /// An empty document.
    pub fn new(title: &str) -> Self {
        Self {
            title: title.to_owned(),
            parts: Vec::new(),
        }
    }

    /// Adds a heading.
    pub fn heading(&mut self, text: impl Into<String>) {
        self.parts.push(Part::Heading(text.into()));
    }

    /// Adds a paragraph, in which backquotes enclose code.
    pub fn text(&mut self, text: impl Into<String>) {
        self.parts.push(Part::Text(text.into()));
    }

    /// Adds a table.
    pub fn table(&mut self, table: Table) {
        self.parts.push(Part::Table(table));
    }

    /// Adds a figure. One with the name of another gets a number, for each has its own files.
    pub fn figure(&mut self, mut figure: Figure) {
        let name = figure.name.clone();
        let mut number = 1;
        while self.figures().any(|other| other.name == figure.name) {
            number += 1;
            figure.name = format!("{name}-{number}");
        }
        self.parts.push(Part::Figure(figure));
    }

    /// All figures.
    pub fn figures(&self) -> impl Iterator<Item = &Figure> {
        self.parts.iter().filter_map(|part| match part {
            Part::Figure(figure) => Some(figure),
            _ => None,
        })
    }

    /// As Markdown that shows the figures' files.
    pub fn markdown(&self) -> String {
        let mut text = format!("# {}\n", self.title);
        for part in &self.parts {
            text.push('\n');
            match part {
                Part::Heading(heading) => text.push_str(&format!("## {heading}\n")),
                Part::Text(paragraph) => text.push_str(&format!("{paragraph}\n")),
                Part::Table(table) => text.push_str(&table.markdown()),
                Part::Figure(figure) => {
                    let Figure { name, caption, .. } = figure;
                    let _ = writeln!(text, "![{caption}]({name}.svg)\n");
                    let _ = writeln!(text, "{caption} ([numbers]({name}.csv))");
                }
            }
        }
        text
    }

    /// As HTML that needs no other file.
    pub fn html(&self) -> String {
        let title = escaped(&self.title);
        let mut text = format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width\">\n<title>{title}</title>\n\
             <style>\n{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n"
        );
        for part in &self.parts {
            match part {
                Part::Heading(heading) => {
                    let _ = writeln!(text, "<h2>{}</h2>", escaped(heading));
                }
                Part::Text(paragraph) => {
                    let _ = writeln!(text, "<p>{}</p>", with_code(paragraph));
                }
                Part::Table(table) => text.push_str(&table.html()),
                Part::Figure(figure) => {
                    let caption = with_code(&figure.caption);
                    let svg = &figure.svg;
                    let _ = writeln!(
                        text,
                        "<figure>\n{svg}\n<figcaption>{caption}</figcaption>\n</figure>"
                    );
                }
            }
        }
        text.push_str("</body>\n</html>\n");
        text
    }
}

const STYLE: &str = "body { font: 15px/1.5 system-ui, sans-serif; margin: 2em auto; \
max-width: 60em; padding: 0 1em; color: #222; background: #fff }
h2 { margin-top: 2em }
.table { overflow-x: auto }
table { border-collapse: collapse; font-variant-numeric: tabular-nums }
th, td { padding: .2em .7em; border-bottom: 1px solid #ddd; text-align: right; white-space: nowrap }
th:first-child, td:first-child { text-align: left }
figure { margin: 1.5em 0 }
figure svg { max-width: 100%; height: auto }
figcaption { color: #555 }
";

impl Table {
    /// As a Markdown table.
    pub fn markdown(&self) -> String {
        let line = |cells: &[String]| {
            let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        let rule: Vec<&str> = (0..self.head.len())
            .map(|column| if column == 0 { "---" } else { "---:" })
            .collect();
        let mut text = line(&self.head);
        let _ = writeln!(text, "| {} |", rule.join(" | "));
        self.rows.iter().for_each(|row| text.push_str(&line(row)));
        text
    }

    fn html(&self) -> String {
        let row = |cells: &[String], tag: &str| {
            let cell = |cell: &String| format!("<{tag}>{}</{tag}>", with_code(cell));
            let cells: String = cells.iter().map(cell).collect();
            format!("<tr>{cells}</tr>\n")
        };
        let body: String = self.rows.iter().map(|cells| row(cells, "td")).collect();
        format!(
            "<div class=\"table\"><table>\n<thead>{}</thead>\n<tbody>\n{body}</tbody>\n\
             </table></div>\n",
            row(&self.head, "th")
        )
    }
}

/// `text` with what is between backquotes as code.
fn with_code(text: &str) -> String {
    let parts = text.split('`').enumerate();
    parts
        .map(|(index, part)| match index % 2 {
            0 => escaped(part),
            _ => format!("<code>{}</code>", escaped(part)),
        })
        .collect()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

/// A line of comma-separated values; a cell that needs quotes has them (RFC 4180).
pub fn csv_line<T: AsRef<str>>(cells: &[T]) -> String {
    let cell = |cell: &T| {
        let text = cell.as_ref();
        if text.contains([',', '"', '\n', '\r']) {
            format!("\"{}\"", text.replace('"', "\"\""))
        } else {
            text.to_owned()
        }
    };
    let cells: Vec<String> = cells.iter().map(cell).collect();
    format!("{}\n", cells.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document() -> Document {
        let mut document = Document::new("Report & more");
        document.heading("Speed");
        document.text("Over `off` <b>");
        document.table(Table {
            head: ["method", "speed"].map(str::to_owned).to_vec(),
            rows: vec![["a|b", "1.2"].map(str::to_owned).to_vec()],
        });
        document.figure(Figure {
            name: "share-qa".to_owned(),
            caption: "Shares".to_owned(),
            svg: "<svg></svg>".to_owned(),
            csv: "x,y\n".to_owned(),
        });
        document
    }

    #[test]
    fn markdown_has_the_parts_in_order_and_links_the_figures() {
        let expected = "# Report & more\n\n## Speed\n\nOver `off` <b>\n\n| method | speed |\n\
                        | --- | ---: |\n| a\\|b | 1.2 |\n\n![Shares](share-qa.svg)\n\n\
                        Shares ([numbers](share-qa.csv))\n";
        assert_eq!(document().markdown(), expected);
    }

    #[test]
    fn figures_of_the_same_name_do_not_share_files() {
        let mut document = document();
        for _ in 0..2 {
            document.figure(Figure {
                name: "share-qa".to_owned(),
                caption: String::new(),
                svg: String::new(),
                csv: String::new(),
            });
        }
        let names: Vec<&str> = document.figures().map(|figure| &*figure.name).collect();
        assert_eq!(names, ["share-qa", "share-qa-2", "share-qa-3"]);
    }

    #[test]
    fn html_is_escaped_and_has_the_drawing_itself() {
        let html = document().html();
        for part in [
            "<h1>Report &amp; more</h1>",
            "<p>Over <code>off</code> &lt;b&gt;</p>",
            "<td>a|b</td>",
            "<figure>\n<svg></svg>",
        ] {
            assert!(html.contains(part), "{part}");
        }
        assert!(!html.contains("src=") && !html.contains("href="));
    }

    #[test]
    fn a_cell_with_a_comma_is_quoted() {
        assert_eq!(
            csv_line(&["a,b", "c \"d\"", "e"]),
            "\"a,b\",\"c \"\"d\"\"\",e\n"
        );
    }
}
