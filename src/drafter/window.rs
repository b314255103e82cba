//! Which part of the history a drafter with a small context keeps.

use std::ops::Range;

use crate::error::{Error, ErrorKind, Result};

/// What has to go before more positions fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Room {
    /// Nothing.
    Enough,
    /// What lies before this position.
    From(usize),
    /// All that is held; it goes on at this position.
    Anew(usize),
}

/// How to hold positions up to `end` (at least 1, and one past what is held or more) with `more`
/// after them, in a context of `n_ctx` that holds the positions `held`.
///
/// Half of the window goes at once, so that this happens once in many rounds. At least the position
/// before `end` is left to decode.
///
/// # Errors
/// [`ErrorKind::ContextOverflow`] when `more` positions and one before them never fit.
pub(super) fn room(held: Range<usize>, n_ctx: usize, end: usize, more: usize) -> Result<Room> {
    let needed = end + more;
    if needed - held.start.min(needed) <= n_ctx {
        return Ok(Room::Enough);
    }
    if more + 1 > n_ctx {
        return Err(Error::new(
            ErrorKind::ContextOverflow,
            format!("a draft of {more} tokens does not fit a context of {n_ctx}"),
        ));
    }
    let window = (n_ctx / 2).max(more + 1);
    let start = needed - window;
    Ok(if start >= held.end {
        Room::Anew(start.min(end - 1))
    } else {
        Room::From(start)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_goes_while_everything_fits() {
        assert_eq!(room(0..5, 16, 10, 6).expect("fits"), Room::Enough);
        assert_eq!(room(4..5, 16, 14, 6).expect("fits"), Room::Enough);
    }

    #[test]
    fn half_of_the_window_goes_at_once() {
        assert_eq!(room(0..12, 16, 13, 4).expect("fits"), Room::From(9));
        // Nothing of what is held lies in the new window.
        assert_eq!(room(0..5, 16, 100, 4).expect("fits"), Room::Anew(96));
        // A draft as long as the window leaves the one position that it needs.
        assert_eq!(room(0..5, 16, 100, 15).expect("fits"), Room::Anew(99));
    }

    #[test]
    fn a_draft_that_no_window_holds_is_refused() {
        let error = room(0..5, 4, 100, 4).expect_err("too long");
        assert_eq!(error.kind(), ErrorKind::ContextOverflow);
        assert!(error.to_string().contains("draft of 4 tokens"), "{error}");
    }
}
