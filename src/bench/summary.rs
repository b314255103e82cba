//! What all runs say: for each domain and method how much faster than plain decoding.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use crate::bandit::Reward;
use crate::bench::{Parts, Quartiles, RunRecord, Variant};

/// The results of a benchmark.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Summary {
    /// Domain by domain, in the order of their prompts.
    pub domains: Vec<DomainSummary>,
    /// Each method over all domains.
    pub means: Vec<MeanRow>,
}

/// The results of a domain.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct DomainSummary {
    /// Its name.
    pub name: String,
    /// Prompts that were run.
    pub prompts: usize,
    /// A row for every method, reward and temperature.
    pub rows: Vec<Row>,
}

/// A method with a reward at a temperature in one domain.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Row {
    /// The method as it is written.
    pub method: String,
    /// The reward; `null` for a method that does not look at it.
    pub reward: Option<Reward>,
    /// The sampling temperature.
    pub temperature: f32,
    /// Finished runs.
    pub runs: usize,
    /// Median, over the pairs of a run with that of `off` on the same prompt in the same
    /// repetition, of the ratio of their tokens per second; `null` without a pair.
    pub speedup: Option<f64>,
    /// The quartiles of these ratios.
    pub speedup_quartiles: Option<Quartiles>,
    /// How many they are.
    pub pairs: usize,
    /// The speed-up over that of the fastest single drafter of the domain; `null` without one.
    pub of_best_single: Option<f64>,
    /// Median over the runs.
    pub tokens_per_second: Option<f64>,
    /// Tokens committed a round, over all rounds.
    pub mean_acceptance_length: Option<f64>,
    /// Mean block divergence over the rounds that had a drafter; one that proposed nothing counts
    /// as 0.
    pub mean_bd: Option<f64>,
    /// The part of all rounds that each drafter had; that of an ensemble, whose drafts are no single
    /// drafter's, by its policy's name.
    pub share: BTreeMap<String, f64>,
    /// Where the time of a generated token went.
    pub parts_per_token: Parts,
    /// How the greedy texts compare with the target's own; `null` when none was compared.
    pub texts: Option<Texts>,
}

/// How many texts were the target's own.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Texts {
    /// Texts compared.
    pub compared: usize,
    /// The same tokens.
    pub identical: usize,
    /// They part where two tokens are all but equally likely, and rounding decides.
    pub explained: usize,
    /// They part elsewhere.
    pub unexplained: usize,
}

/// A method over all domains: means of what its rows say, each `null` when one of them has none.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct MeanRow {
    /// The method as it is written.
    pub method: String,
    /// The reward; `null` for a method that does not look at it.
    pub reward: Option<Reward>,
    /// The sampling temperature.
    pub temperature: f32,
    /// Mean of the domains' median speed-ups.
    pub speedup: Option<f64>,
    /// Mean of their ratios to the fastest single drafter of the domain.
    pub of_best_single: Option<f64>,
    /// Mean of the mean acceptance lengths.
    pub mean_acceptance_length: Option<f64>,
    /// Mean of the block divergences.
    pub mean_bd: Option<f64>,
}

/// A prompt in a repetition at a temperature.
type Place = (usize, usize, u32);

fn place(record: &RunRecord) -> Place {
    (
        record.repetition,
        record.prompt,
        record.temperature.to_bits(),
    )
}

impl Summary {
    /// What `records` say of `variants` at `temperatures`. The rounds of the records name the
    /// drafters by their place in `drafters`.
    pub fn new(
        variants: &[Variant],
        temperatures: &[f32],
        drafters: &[String],
        records: &[RunRecord],
    ) -> Self {
        let plain: HashMap<Place, f64> = records
            .iter()
            .filter(|record| record.method == "off")
            .filter_map(|record| Some((place(record), record.tokens_per_second()?)))
            .collect();
        let domains = domains(records).into_iter().map(|name| {
            let records: Vec<&RunRecord> = records.iter().filter(|r| r.domain == name).collect();
            let mut rows = Vec::new();
            for &temperature in temperatures {
                let at = rows.len();
                for variant in variants {
                    rows.push(row(variant, temperature, drafters, &records, &plain));
                }
                relate_to_best(variants, &mut rows[at..]);
            }
            let mut prompts: Vec<usize> = records.iter().map(|record| record.prompt).collect();
            prompts.sort_unstable();
            prompts.dedup();
            DomainSummary {
                name: name.to_owned(),
                prompts: prompts.len(),
                rows,
            }
        });
        let domains: Vec<DomainSummary> = domains.collect();
        Self {
            means: means(&domains),
            domains,
        }
    }
}

/// The domains in the order of their first prompts.
fn domains(records: &[RunRecord]) -> Vec<&str> {
    let mut first: Vec<(usize, &str)> = Vec::new();
    for record in records {
        match first.iter_mut().find(|(_, name)| *name == record.domain) {
            Some((prompt, _)) => *prompt = record.prompt.min(*prompt),
            None => first.push((record.prompt, &record.domain)),
        }
    }
    first.sort_unstable();
    first.into_iter().map(|(_, name)| name).collect()
}

fn row(
    variant: &Variant,
    temperature: f32,
    drafters: &[String],
    records: &[&RunRecord],
    plain: &HashMap<Place, f64>,
) -> Row {
    let method = variant.method.to_string();
    let is_its = |record: &&&RunRecord| {
        record.method == method
            && record.reward == variant.reward
            && record.temperature.to_bits() == temperature.to_bits()
    };
    let own: Vec<&RunRecord> = records.iter().filter(is_its).copied().collect();
    let ratios: Vec<f64> = own
        .iter()
        .filter_map(|record| Some(record.tokens_per_second()? / plain.get(&place(record))?))
        .collect();
    let speeds: Vec<f64> = own.iter().filter_map(|r| r.tokens_per_second()).collect();
    let tokens: usize = own.iter().map(|record| record.tokens).sum();
    let rounds = || own.iter().flat_map(|record| &record.rounds);
    let count = rounds().count() as f64;
    let drafted = rounds().filter(|round| round.drafter.is_some());
    let agreements: Vec<f64> = drafted
        .map(|round| f64::from(round.bd.unwrap_or(0.0)))
        .collect();
    let part = |of: &dyn Fn(usize) -> bool| {
        let own = rounds().filter(|round| round.drafter.is_some_and(of));
        own.count() as f64 / count.max(1.0)
    };
    let mut share: BTreeMap<String, f64> = drafters
        .iter()
        .enumerate()
        .map(|(index, name)| (name.clone(), part(&|drafter| drafter == index)))
        .collect();
    let of_all = part(&|drafter| drafter >= drafters.len());
    if of_all > 0.0 {
        share.insert(variant.method.policy.to_string(), of_all);
    }
    let mut parts = Parts::default();
    own.iter().for_each(|record| parts.add(&record.parts));
    let speedups = Quartiles::of(&ratios);
    Row {
        reward: variant.reward,
        temperature,
        runs: own.len(),
        speedup: speedups.map(|quartiles| quartiles.median),
        speedup_quartiles: speedups,
        pairs: ratios.len(),
        of_best_single: None,
        tokens_per_second: Quartiles::of(&speeds).map(|quartiles| quartiles.median),
        mean_acceptance_length: (count > 0.0).then(|| tokens as f64 / count),
        mean_bd: mean(agreements.into_iter().map(Some)),
        share,
        parts_per_token: parts.scaled(1.0 / tokens.max(1) as f64),
        texts: texts(&own),
        method,
    }
}

fn texts(records: &[&RunRecord]) -> Option<Texts> {
    let verdicts: Vec<&str> = records
        .iter()
        .filter_map(|record| Some(&*record.comparison.as_ref()?.verdict))
        .collect();
    let count = |name: &str| verdicts.iter().filter(|verdict| **verdict == name).count();
    let (identical, explained) = (count("identical"), count("explained"));
    (!verdicts.is_empty()).then(|| Texts {
        compared: verdicts.len(),
        identical,
        explained,
        unexplained: verdicts.len() - identical - explained,
    })
}

/// Fills in how the rows of one temperature compare with the fastest single drafter among them.
fn relate_to_best(variants: &[Variant], rows: &mut [Row]) {
    let singles = variants.iter().zip(&*rows);
    let best = singles
        .filter(|(variant, _)| variant.method.drafter().is_some())
        .filter_map(|(_, row)| row.speedup)
        .max_by(f64::total_cmp);
    for row in rows {
        row.of_best_single = row.speedup.zip(best).map(|(own, best)| own / best);
    }
}

/// The rows of the domains, which have the same order, averaged.
fn means(domains: &[DomainSummary]) -> Vec<MeanRow> {
    let Some(first) = domains.first() else {
        return Vec::new();
    };
    let row = |(index, row): (usize, &Row)| {
        let over = |value: fn(&Row) -> Option<f64>| {
            mean(domains.iter().map(|domain| value(&domain.rows[index])))
        };
        MeanRow {
            method: row.method.clone(),
            reward: row.reward,
            temperature: row.temperature,
            speedup: over(|row| row.speedup),
            of_best_single: over(|row| row.of_best_single),
            mean_acceptance_length: over(|row| row.mean_acceptance_length),
            mean_bd: over(|row| row.mean_bd),
        }
    };
    first.rows.iter().enumerate().map(row).collect()
}

/// The mean; `None` without any value or when one is missing.
fn mean(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let values: Vec<f64> = values.collect::<Option<_>>()?;
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::fixture::{round, run};
    use crate::bench::{Comparison, Method, Plan, RoundPoint};

    const TEMPERATURES: [f32; 1] = [0.0];

    fn variants(methods: &[&str]) -> Vec<Variant> {
        let methods: Vec<Method> = methods.iter().map(|text| text.parse().unwrap()).collect();
        Plan::variants(&methods, &[Reward::Bd])
    }

    fn names() -> Vec<String> {
        ["a", "b"].map(str::to_owned).to_vec()
    }

    /// Plain decoding: a token a round.
    fn plain(domain: &str, prompt: usize, tokens: usize) -> RunRecord {
        let mut target = round(0, 0, 0.0);
        (target.drafter, target.drafted) = (None, 0);
        (target.bd, target.be) = (None, None);
        run((domain, prompt), "off", None, vec![target; tokens])
    }

    #[test]
    fn a_speedup_is_the_median_of_ratios_on_the_same_prompt() {
        // Rounds take 10 ms: ratios of tokens per round.
        let records = [
            plain("qa", 0, 6),
            plain("qa", 1, 6),
            plain("qa", 2, 6),
            run(("qa", 0), "fixed:a", None, vec![round(0, 1, 0.5); 3]),
            run(("qa", 1), "fixed:a", None, vec![round(0, 0, 0.1); 6]),
            run(("qa", 2), "fixed:a", None, vec![round(0, 2, 0.7); 2]),
            // No plain decoding of its prompt: no pair.
            run(("qa", 3), "fixed:a", None, vec![round(0, 5, 1.0); 1]),
        ];
        let summary = Summary::new(
            &variants(&["off", "fixed:a"]),
            &TEMPERATURES,
            &names(),
            &records,
        );
        let rows = &summary.domains[0].rows;
        assert_eq!((rows[0].speedup, rows[0].pairs), (Some(1.0), 3));
        assert_eq!(rows[0].mean_bd, None);
        let fixed = &rows[1];
        assert_eq!((fixed.runs, fixed.pairs), (4, 3));
        assert!((fixed.speedup.unwrap() - 2.0).abs() < 1e-9);
        let quartiles = fixed.speedup_quartiles.unwrap();
        assert!((quartiles.lower - 1.5).abs() < 1e-9 && (quartiles.upper - 2.5).abs() < 1e-9);
        // 24 tokens in 12 rounds, and 0.5·3 + 0.1·6 + 0.7·2 + 1.0 over them.
        assert_eq!(fixed.mean_acceptance_length, Some(2.0));
        assert!((fixed.mean_bd.unwrap() - 4.5 / 12.0).abs() < 1e-6);
        assert_eq!(fixed.share["a"], 1.0);
        assert_eq!(fixed.share["b"], 0.0);
        assert!((fixed.parts_per_token.verify_ms - 5.0).abs() < 1e-9);
    }

    #[test]
    fn rounds_of_an_ensemble_go_by_its_policy() {
        let alone = RoundPoint {
            drafter: None,
            ..round(0, 0, 0.0)
        };
        let rounds = vec![round(2, 1, 0.5), round(2, 0, 0.5), round(2, 1, 0.5), alone];
        let records = [
            plain("qa", 0, 6),
            run(("qa", 0), "static-ensemble@3", None, rounds),
        ];
        let methods = variants(&["off", "static-ensemble@3"]);
        let summary = Summary::new(&methods, &TEMPERATURES, &names(), &records);
        let rows = &summary.domains[0].rows;
        let share = |name: &str| rows[1].share.get(name).copied();
        assert_eq!(share("static-ensemble"), Some(0.75));
        assert_eq!((share("a"), share("b")), (Some(0.0), Some(0.0)));
        assert!(!rows[0].share.contains_key("static-ensemble"));
    }

    #[test]
    fn each_domain_has_its_own_best_single_drafter() {
        let mut records = Vec::new();
        for (prompt, domain, a, b) in [(0, "qa", 1, 0), (1, "code", 0, 2)] {
            records.push(plain(domain, prompt, 6));
            let place = (domain, prompt);
            records.push(run(place, "fixed:a", None, vec![round(0, a, 0.5); 3]));
            records.push(run(place, "fixed:b", None, vec![round(1, b, 0.5); 3]));
            let rounds = vec![round(0, a, 0.5), round(1, b, 0.5)];
            records.push(run(place, "metasd-ucb", Some(Reward::Bd), rounds));
        }
        let methods = variants(&["off", "fixed:a", "fixed:b", "metasd-ucb"]);
        let summary = Summary::new(&methods, &TEMPERATURES, &names(), &records);
        let of_best = |domain: usize, row: usize| {
            let value = summary.domains[domain].rows[row].of_best_single.unwrap();
            (value * 1e6).round() / 1e6
        };
        assert_eq!(summary.domains[0].name, "qa");
        assert_eq!(
            (of_best(0, 1), of_best(0, 2), of_best(0, 3)),
            (1.0, 0.5, 0.75)
        );
        assert_eq!((of_best(1, 2), of_best(1, 3)), (1.0, 0.666_667));
        let ucb = &summary.means[3];
        assert_eq!((&*ucb.method, ucb.reward), ("metasd-ucb", Some(Reward::Bd)));
        assert!((ucb.speedup.unwrap() - 1.75).abs() < 1e-9);
        assert!((ucb.of_best_single.unwrap() - (0.75 + 2.0 / 3.0) / 2.0).abs() < 1e-9);
    }

    #[test]
    fn texts_are_counted_by_verdict_and_a_row_without_runs_says_nothing() {
        let mut records = vec![plain("qa", 0, 2)];
        for verdict in ["identical", "explained", "unexplained", "identical"] {
            let mut record = run(("qa", 0), "fixed:a", None, vec![round(0, 1, 0.5)]);
            record.comparison = Some(Comparison {
                verdict: verdict.to_owned(),
                position: None,
                gap: None,
            });
            records.push(record);
        }
        let methods = variants(&["off", "fixed:a", "exp3"]);
        let summary = Summary::new(&methods, &TEMPERATURES, &names(), &records);
        let rows = &summary.domains[0].rows;
        let expected = Texts {
            compared: 4,
            identical: 2,
            explained: 1,
            unexplained: 1,
        };
        assert_eq!(rows[1].texts, Some(expected));
        let json = serde_json::to_value(&rows[2]).unwrap();
        assert_eq!(json["runs"], 0);
        assert!(json["speedup"].is_null() && json["tokens_per_second"].is_null());
        assert_eq!(summary.means[2].speedup, None);
    }
}
