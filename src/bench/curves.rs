//! What is drawn of the runs: the share of the drafters as a text goes on, and the drafter that is
//! worth most in a domain.

use crate::bench::{RoundPoint, RunRecord};

/// For each round, counted from 1 at index 0, the part of the rounds so far that went to one drafter,
/// averaged over `runs`, each of which comes with the drafter that counts there. A run that
/// has ended keeps out of it; the curve ends where less than half of the runs go on.
pub fn cumulative_share(runs: &[(&RunRecord, usize)]) -> Vec<f64> {
    let longest = runs.iter().map(|(run, _)| run.rounds.len()).max();
    let mut hits = vec![0usize; runs.len()];
    let mut curve = Vec::new();
    for round in 0..longest.unwrap_or(0) {
        let mut sum = 0.0;
        let mut going_on = 0;
        for ((run, wanted), hits) in runs.iter().zip(&mut hits) {
            if let Some(point) = run.rounds.get(round) {
                *hits += usize::from(point.drafter == Some(*wanted));
                sum += *hits as f64 / (round + 1) as f64;
                going_on += 1;
            }
        }
        if going_on * 2 < runs.len() {
            break;
        }
        curve.push(sum / going_on as f64);
    }
    curve
}

/// The mean block divergence of each of `drafters` over the rounds it had in `runs`; one that
/// proposed nothing counts as 0. `None` for a drafter without a round.
pub fn agreements(runs: &[&RunRecord], drafters: usize) -> Vec<Option<f64>> {
    by_drafter(runs, drafters, |round| f64::from(round.bd.unwrap_or(0.0)))
}

/// The drafter that commits the most tokens a round in `runs`; of equal ones the first. `None` when
/// none had a round.
pub fn best_drafter(runs: &[&RunRecord], drafters: usize) -> Option<usize> {
    let worth = by_drafter(runs, drafters, |round| round.committed as f64);
    let mut best: Option<(usize, f64)> = None;
    for (index, worth) in worth.into_iter().enumerate() {
        if let Some(worth) = worth
            && best.is_none_or(|(_, highest)| worth > highest)
        {
            best = Some((index, worth));
        }
    }
    best.map(|(index, _)| index)
}

fn by_drafter(
    runs: &[&RunRecord],
    drafters: usize,
    value: fn(&RoundPoint) -> f64,
) -> Vec<Option<f64>> {
    let mut sums = vec![(0.0, 0usize); drafters];
    for round in runs.iter().flat_map(|run| &run.rounds) {
        if let Some((sum, count)) = round.drafter.and_then(|index| sums.get_mut(index)) {
            *sum += value(round);
            *count += 1;
        }
    }
    let mean = |(sum, count): (f64, usize)| (count > 0).then(|| sum / count as f64);
    sums.into_iter().map(mean).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::fixture::{round, run};

    fn choices(drafters: &[usize]) -> RunRecord {
        let rounds = drafters.iter().map(|&drafter| round(drafter, 1, 0.5));
        run(("qa", 0), "metasd-ucb", None, rounds.collect())
    }

    #[test]
    fn a_share_is_cumulative_within_a_run_and_averaged_over_the_runs() {
        let (first, second) = (choices(&[0, 1, 1, 1]), choices(&[1, 0]));
        let share = |wanted| cumulative_share(&[(&first, wanted), (&second, wanted)]);
        assert_eq!(share(1), [0.5, 0.5, 2.0 / 3.0, 0.75]);
        assert_eq!(share(0)[..2], [0.5, 0.5]);
        // Each run may want another drafter.
        assert_eq!(cumulative_share(&[(&first, 1), (&second, 0)])[1], 0.5);
    }

    #[test]
    fn a_curve_ends_where_most_runs_have_ended() {
        let runs = [choices(&[0, 0, 0]), choices(&[0]), choices(&[0])];
        let runs: Vec<(&RunRecord, usize)> = runs.iter().map(|run| (run, 0)).collect();
        assert_eq!(cumulative_share(&runs), [1.0]);
        assert!(cumulative_share(&[]).is_empty());
    }

    #[test]
    fn agreement_and_worth_are_means_over_a_drafters_own_rounds() {
        let mut rounds = vec![round(0, 2, 0.4), round(0, 0, 0.2), round(2, 3, 0.1)];
        rounds.push(rounds[2]);
        rounds[3].bd = None;
        let run = run(("qa", 0), "random", None, rounds);
        let found = agreements(&[&run], 3);
        assert!((found[0].unwrap() - 0.3).abs() < 1e-6);
        assert_eq!(found[1], None);
        assert!((found[2].unwrap() - 0.05).abs() < 1e-6);
        assert_eq!(best_drafter(&[&run], 3), Some(2));
        assert_eq!(best_drafter(&[], 3), None);
    }
}
