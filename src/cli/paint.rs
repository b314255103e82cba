//! Colours: one for each drafter, none for the target's own tokens.

use std::fmt::Write;

use anstyle::{AnsiColor, Style};
use metasd::ArmId;

use super::options::ColorChoice;

const COLORS: [AnsiColor; 12] = [
    AnsiColor::Cyan,
    AnsiColor::Green,
    AnsiColor::Yellow,
    AnsiColor::Magenta,
    AnsiColor::Blue,
    AnsiColor::Red,
    AnsiColor::BrightCyan,
    AnsiColor::BrightGreen,
    AnsiColor::BrightYellow,
    AnsiColor::BrightMagenta,
    AnsiColor::BrightBlue,
    AnsiColor::BrightRed,
];

/// Paints text by the drafter that proposed it.
#[derive(Debug)]
pub struct Paint(());

impl Paint {
    /// A painter, if `choice` and the terminal allow colours on standard output.
    pub fn new(choice: ColorChoice) -> Option<Self> {
        let colored = match choice {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            // Knows of terminals, of NO_COLOR and its like.
            ColorChoice::Auto => {
                anstream::AutoStream::choice(&std::io::stdout()) != anstream::ColorChoice::Never
            }
        };
        colored.then_some(Self(()))
    }

    /// `text` in the drafter's colour.
    pub fn text(&self, text: &str, drafter: Option<ArmId>) -> String {
        let style = self.style(drafter);
        format!("{style}{text}{style:#}")
    }

    /// The names of the drafters in their colours.
    pub fn legend(&self, names: &[String]) -> String {
        let mut legend = "drafters:".to_owned();
        for (arm, name) in names.iter().enumerate() {
            let _ = write!(legend, " {}", self.text(name, Some(ArmId(arm))));
        }
        legend + "; plain: the target's own"
    }

    fn style(&self, drafter: Option<ArmId>) -> Style {
        drafter.map_or(Style::new(), |arm| {
            COLORS[arm.0 % COLORS.len()].on_default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_targets_own_text_stays_plain_and_drafters_differ() {
        let paint = Paint::new(ColorChoice::Always).expect("colours");
        assert_eq!(paint.text("a", None), "a");
        let (first, second) = (
            paint.text("a", Some(ArmId(0))),
            paint.text("a", Some(ArmId(1))),
        );
        assert_eq!(first, "\u{1b}[36ma\u{1b}[0m");
        assert_ne!(first, second);
    }

    #[test]
    fn more_drafters_than_colours_start_over() {
        let paint = Paint::new(ColorChoice::Always).expect("colours");
        let last = paint.text("a", Some(ArmId(COLORS.len())));
        assert_eq!(last, paint.text("a", Some(ArmId(0))));
    }
}
