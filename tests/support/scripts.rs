//! Scripts of targets and drafters on a vocabulary of a few tokens.

use metasd::scripted::Script;

pub const N_VOCAB: usize = 7;

/// Counts through the vocabulary: after token i comes i + step.
pub fn counting(step: usize) -> Script {
    Box::new(move |text| {
        let last = text.last().map_or(0, |token| token.index());
        let mut row = vec![0.0; N_VOCAB];
        row[(last + step) % N_VOCAB] = 5.0;
        row
    })
}

/// Like `counting(1)`, but wrong after every token divisible by three.
pub fn half_right() -> Script {
    Box::new(|text| {
        let last = text.last().map_or(0, |token| token.index());
        let step = if last.is_multiple_of(3) { 2 } else { 1 };
        let mut row = vec![0.0; N_VOCAB];
        row[(last + step) % N_VOCAB] = 3.0;
        row
    })
}
