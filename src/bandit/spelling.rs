//! Names as people misspell them: which known one was meant, and how an error lists them all.

use std::fmt;

/// `` `a`, `b`, `c` ``
pub(super) fn list(names: &[impl fmt::Display]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}

pub(super) fn did_you_mean(suggestion: Option<&str>) -> String {
    suggestion.map_or_else(String::new, |name| format!(" (did you mean `{name}`?)"))
}

/// The candidate that `text` is most likely a misspelling of, if any comes near.
pub(super) fn closest<'a>(
    text: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let text = text.to_lowercase();
    let near = |candidate: &str| {
        let candidate = candidate.to_lowercase();
        // `ucb` is far from `metasd-ucb` by edits, yet plainly a part of it.
        if text.len() >= 3 && candidate.contains(&text) {
            return Some(0);
        }
        let distance = strsim::osa_distance(&text, &candidate);
        (3 * distance <= candidate.chars().count().max(3)).then_some(distance)
    };
    candidates
        .into_iter()
        .filter_map(|candidate| near(candidate).map(|distance| (distance, candidate)))
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, candidate)| candidate)
}
