//! Progress on standard error, where that is a terminal.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressFinish, ProgressStyle};
use metasd::llama::ProgressFn;

use super::interrupt;

/// Prompts shorter than this are read before a bar could be seen.
const LONG_PROMPT: usize = 256;

/// Shows what takes long.
#[derive(Debug)]
pub struct Progress {
    hidden: bool,
    prompt: Option<ProgressBar>,
}

impl Progress {
    /// Shows progress unless `hidden`, or unless standard error is no terminal.
    pub fn new(hidden: bool) -> Self {
        Self {
            hidden,
            prompt: None,
        }
    }

    /// A bar for loading `what` and the function that moves it; Ctrl-C stops the load.
    pub fn load(&self, what: &str) -> ProgressFn {
        let bar = self.bar(100, "{msg} {wide_bar} {percent:>3}%");
        bar.set_message(format!("loading {what}"));
        Box::new(move |part| {
            bar.set_position((part * 100.0) as u64);
            if part >= 1.0 {
                bar.finish_and_clear();
            }
            !interrupt::is_set()
        })
    }

    /// A sign of life while `body` runs.
    pub fn during<T>(&self, what: &'static str, body: impl FnOnce() -> T) -> T {
        let bar = self.bar(0, "{spinner} {msg}");
        bar.set_message(what);
        bar.enable_steady_tick(Duration::from_millis(100));
        let result = body();
        bar.finish_and_clear();
        result
    }

    /// A bar for `total` steps of `what`; it goes when it is dropped.
    pub fn steps(&self, what: &'static str, total: u64) -> ProgressBar {
        let bar = self.bar(total, "{msg} {wide_bar} {pos}/{len}");
        bar.set_message(what);
        bar.with_finish(ProgressFinish::AndClear)
    }

    /// `done` of a prompt's `total` tokens have been read.
    pub fn prompt(&mut self, done: usize, total: usize) {
        if done >= total {
            if let Some(bar) = self.prompt.take() {
                bar.finish_and_clear();
            }
            return;
        }
        if total < LONG_PROMPT {
            return;
        }
        if self.prompt.is_none() {
            let bar = self.bar(total as u64, "{msg} {wide_bar} {pos}/{len} tokens");
            bar.set_message("reading the prompt");
            self.prompt = Some(bar);
        }
        if let Some(bar) = &self.prompt {
            bar.set_position(done as u64);
        }
    }

    fn bar(&self, length: u64, template: &str) -> ProgressBar {
        let target = if self.hidden {
            ProgressDrawTarget::hidden()
        } else {
            ProgressDrawTarget::stderr()
        };
        let style =
            ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
        ProgressBar::with_draw_target(Some(length), target).with_style(style)
    }
}
