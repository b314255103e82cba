//! The drawings of a bench's report, each with the numbers behind it.

use std::collections::HashMap;

use metasd::bandit::{PolicyParams, PolicySpec, Reward};
use metasd::bench::{DomainSummary, RunRecord, Variant, curves};
use metasd::sim::{Arm, Experiment, regret};
use metasd::{Error, ErrorKind, Result};

use super::document::{Figure, csv_line};
use crate::cli::interrupt;
use crate::cli::plot::{self, Axes, Curve, Labels};

/// Token budgets of the simulated regret.
const REGRET_TOKENS: [u64; 7] = [128, 256, 512, 1024, 2048, 4096, 8192];

/// Queries that it is averaged over.
const REGRET_RUNS: u64 = 40;

/// What the drawings are made from.
#[derive(Debug)]
pub struct Material<'a> {
    /// What was compared.
    pub variants: &'a [Variant],
    /// The parameters of each of them.
    pub params: &'a [PolicyParams],
    /// The drafters' names.
    pub drafters: &'a [String],
    /// All runs at the temperature that is drawn.
    pub records: Vec<&'a RunRecord>,
    /// The most tokens drafted in a round.
    pub n_max: usize,
    /// Seed of the simulation.
    pub seed: u64,
}

/// The part of a file's name that stands for a domain.
fn slug(domain: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    domain.chars().map(plain).collect()
}

/// A variant's name in a legend.
fn name(variant: &Variant) -> String {
    match variant.reward {
        Some(reward) => format!("{} {reward}", variant.method),
        None => variant.method.to_string(),
    }
}

/// `curves` as comma-separated values, a line for each point.
fn csv(x: &str, y: &str, curves: &[Curve]) -> String {
    let mut text = csv_line(&["series", x, y]);
    for curve in curves {
        for (at, value) in &curve.points {
            text.push_str(&csv_line(&[
                &curve.name,
                &at.to_string(),
                &value.to_string(),
            ]));
        }
    }
    text
}

fn curve(name: &str, values: &[f64], thin: bool) -> Curve {
    let points = values.iter().enumerate();
    Curve {
        name: name.to_owned(),
        points: points
            .map(|(index, value)| ((index + 1) as f64, *value))
            .collect(),
        thin,
    }
}

impl<'a> Material<'a> {
    /// The runs of a variant in a domain.
    fn runs(&self, variant: &Variant, domain: &str) -> Vec<&'a RunRecord> {
        let method = variant.method.to_string();
        let is_its = |record: &&&RunRecord| {
            record.domain == domain && record.method == method && record.reward == variant.reward
        };
        self.records.iter().filter(is_its).copied().collect()
    }

    /// The runs of a domain in which a drafter is alone; all of them when there are none.
    fn singles(&self, domain: &str) -> Vec<&'a RunRecord> {
        let single = |variant: &&Variant| variant.method.drafter().is_some();
        let variants = self.variants.iter().filter(single);
        let runs: Vec<&RunRecord> = variants.flat_map(|v| self.runs(v, domain)).collect();
        if runs.is_empty() {
            let of_domain = |record: &&&RunRecord| record.domain == domain;
            return self.records.iter().filter(of_domain).copied().collect();
        }
        runs
    }

    /// The method that stands for all that learn: the first `metasd-ucb`, else the first.
    fn main(&self) -> Option<&Variant> {
        let learning = || self.variants.iter().filter(|v| v.method.learns());
        learning()
            .find(|variant| variant.method.policy == PolicySpec::MetasdUcb)
            .or_else(|| learning().next())
    }

    /// The speed-up of every method in a domain, at the temperature of the first row.
    pub fn speedup(&self, domain: &DomainSummary) -> Result<Option<Figure>> {
        let rows: Vec<_> = domain
            .rows
            .iter()
            .filter(|row| row.temperature == domain.rows[0].temperature)
            .filter_map(|row| {
                let reward = row
                    .reward
                    .map_or(String::new(), |reward| format!(" {reward}"));
                Some((format!("{}{reward}", row.method), row.speedup_quartiles?))
            })
            .collect();
        if rows.is_empty() {
            return Ok(None);
        }
        let labels = Labels {
            title: &format!("Speed over plain decoding: {}", domain.name),
            x: "median and quartiles of the ratio",
            y: "",
        };
        let mut csv = csv_line(&["method", "lower", "median", "upper"]);
        for (name, quartiles) in &rows {
            let values = [quartiles.lower, quartiles.median, quartiles.upper];
            let values = values.map(|value| value.to_string());
            csv.push_str(&csv_line(&[name, &values[0], &values[1], &values[2]]));
        }
        Ok(Some(Figure {
            name: format!("speedup-{}", slug(&domain.name)),
            caption: format!("Speed over plain decoding in {}", domain.name),
            svg: plot::intervals(&labels, &rows)?,
            csv,
        }))
    }

    /// Which share each drafter has had as the texts of a domain go on.
    pub fn share(&self, domain: &str) -> Result<Option<Figure>> {
        let Some(main) = self.main() else {
            return Ok(None);
        };
        let runs = self.runs(main, domain);
        let share = |drafter: usize| {
            let runs: Vec<_> = runs.iter().map(|&run| (run, drafter)).collect();
            curves::cumulative_share(&runs)
        };
        let drafters = self.drafters.iter().enumerate();
        let curves: Vec<Curve> = drafters
            .map(|(index, name)| curve(name, &share(index), false))
            .collect();
        if curves.iter().all(|curve| curve.points.is_empty()) {
            return Ok(None);
        }
        let title = format!("Share of the drafters so far, {}: {domain}", name(main));
        shares(&title, format!("share-{}", slug(domain)), &curves).map(Some)
    }

    /// Which drafter had each round of the first prompt of a domain.
    pub fn timeline(&self, domain: &str) -> Result<Option<Figure>> {
        let Some(main) = self.main() else {
            return Ok(None);
        };
        let runs = self.runs(main, domain);
        let Some(run) = runs.iter().min_by_key(|run| (run.prompt, run.repetition)) else {
            return Ok(None);
        };
        let choices: Vec<_> = run.rounds.iter().map(|round| round.drafter).collect();
        if choices.is_empty() {
            return Ok(None);
        }
        let title = format!(
            "Chosen drafters, {}: prompt {} ({domain})",
            name(main),
            run.prompt + 1
        );
        let labels = Labels {
            title: &title,
            x: "round",
            y: "",
        };
        let mut csv = csv_line(&["round", "drafter", "accepted", "bd"]);
        for (index, round) in run.rounds.iter().enumerate() {
            let drafter = round.drafter.and_then(|index| self.drafters.get(index));
            csv.push_str(&csv_line(&[
                (index + 1).to_string(),
                drafter.cloned().unwrap_or_default(),
                round.accepted.to_string(),
                round.bd.map_or(String::new(), |bd| bd.to_string()),
            ]));
        }
        Ok(Some(Figure {
            name: format!("timeline-{}", slug(domain)),
            svg: plot::timeline(&labels, self.drafters, &choices)?,
            caption: title,
            csv,
        }))
    }

    /// How soon each policy has found the drafter that is worth most in the prompt's domain, with
    /// each reward.
    pub fn convergence(&self, domains: &[&str]) -> Result<Option<Figure>> {
        let best: HashMap<&str, usize> = domains
            .iter()
            .filter_map(|domain| {
                let singles = self.singles(domain);
                Some((
                    *domain,
                    curves::best_drafter(&singles, self.drafters.len())?,
                ))
            })
            .collect();
        let mut drawn = Vec::new();
        for variant in self.variants.iter().filter(|v| v.method.learns()) {
            let mut runs = Vec::new();
            for domain in domains {
                let of_domain = self.runs(variant, domain).into_iter();
                runs.extend(of_domain.filter_map(|run| Some((run, *best.get(domain)?))));
            }
            let thin = variant.reward != Some(Reward::default());
            drawn.push(curve(
                &name(variant),
                &curves::cumulative_share(&runs),
                thin,
            ));
        }
        if drawn.iter().all(|curve| curve.points.is_empty()) {
            return Ok(None);
        }
        let title = "Share of the domain's best drafter so far";
        let figure = shares(title, "convergence".to_owned(), &drawn)?;
        Ok(Some(Figure {
            caption: format!("{title}: of the one that alone commits the most tokens a round"),
            ..figure
        }))
    }

    /// Simulated regret on arms that agree with the target as often as the drafters did in the
    /// domain.
    pub fn regret(&self, domain: &str) -> Result<Option<Figure>> {
        let agreements = curves::agreements(&self.singles(domain), self.drafters.len());
        let arms: Vec<Arm> = agreements
            .iter()
            .flatten()
            .map(|agreement| Arm::steady(agreement.clamp(0.0, 1.0)))
            .collect::<Result<_>>()?;
        let plays = |variant: &&(&Variant, &PolicyParams)| variant.0.method.learns();
        let played: Vec<_> = self.variants.iter().zip(self.params).collect();
        let played: Vec<_> = played.iter().filter(plays).collect();
        if arms.is_empty() || played.is_empty() {
            return Ok(None);
        }
        let mut after_run = || match interrupt::is_set() {
            true => Err(Error::new(ErrorKind::Cancelled, "interrupted")),
            false => Ok(()),
        };
        let mut drawn: Vec<Curve> = played
            .iter()
            .map(|(variant, params)| Curve {
                name: name(variant),
                points: Vec::new(),
                thin: params.reward != Reward::default(),
            })
            .collect();
        for tokens in REGRET_TOKENS {
            let experiment = Experiment {
                arms: &arms,
                tokens,
                n_max: self.n_max,
                runs: REGRET_RUNS,
                seed: self.seed,
            };
            let (_, best) = experiment.best_fixed(&mut after_run)?;
            for ((variant, params), curve) in played.iter().zip(&mut drawn) {
                let runs = experiment.runs(&variant.method.policy, params, &mut after_run)?;
                curve
                    .points
                    .push((tokens as f64, regret(&runs, &best).mean));
            }
        }
        let title = format!("Simulated regret on arms of the drafters' agreement: {domain}");
        let labels = Labels {
            title: &title,
            x: "tokens",
            y: "rounds",
        };
        let axes = Axes {
            log_x: true,
            y: None,
        };
        let told: Vec<String> = self
            .drafters
            .iter()
            .zip(&agreements)
            .filter_map(|(name, agreement)| Some(format!("{name} {:.3}", (*agreement)?)))
            .collect();
        Ok(Some(Figure {
            name: format!("regret-{}", slug(domain)),
            caption: format!(
                "{title}; mean of {REGRET_RUNS} queries, {} tokens drafted in a round, on {}",
                self.n_max,
                told.join(", ")
            ),
            svg: plot::drawing(&labels, axes, &drawn)?,
            csv: csv("tokens", "regret", &drawn),
        }))
    }
}

fn shares(title: &str, name: String, curves: &[Curve]) -> Result<Figure> {
    let labels = Labels {
        title,
        x: "round",
        y: "share",
    };
    let axes = Axes {
        log_x: false,
        y: Some((0.0, 1.0)),
    };
    Ok(Figure {
        name,
        caption: title.to_owned(),
        svg: plot::drawing(&labels, axes, curves)?,
        csv: csv("round", "share", curves),
    })
}

#[cfg(test)]
mod tests {
    use metasd::bench::{Method, Parts, Plan, RoundPoint};

    use super::*;

    fn record(method: &str, reward: Option<Reward>, choices: &[usize]) -> RunRecord {
        let round = |drafter: &usize| RoundPoint {
            drafter: Some(*drafter),
            drafted: 3,
            accepted: *drafter,
            committed: *drafter + 1,
            bd: Some(0.3 + 0.2 * *drafter as f32),
            be: Some(0.5),
        };
        RunRecord {
            repetition: 0,
            prompt: 0,
            domain: "a, b".to_owned(),
            temperature: 0.0,
            method: method.to_owned(),
            reward,
            stop_reason: "limit".to_owned(),
            tokens: 4,
            milliseconds: 10.0,
            parts: Parts::default(),
            comparison: None,
            rounds: choices.iter().map(round).collect(),
        }
    }

    #[test]
    fn every_figure_has_a_drawing_and_the_numbers_behind_it() {
        let methods: Vec<Method> = ["off", "fixed:x", "fixed:y", "metasd-ucb"]
            .map(|text| text.parse().expect("a method"))
            .to_vec();
        let variants = Plan::variants(&methods, &[Reward::Bd]);
        let params = vec![PolicyParams::default(); variants.len()];
        let records = [
            record("fixed:x", None, &[0, 0]),
            record("fixed:y", None, &[1, 1]),
            record("metasd-ucb", Some(Reward::Bd), &[0, 1, 1, 1]),
        ];
        let material = Material {
            variants: &variants,
            params: &params,
            drafters: &["x", "y"].map(str::to_owned),
            records: records.iter().collect(),
            n_max: 3,
            seed: 1,
        };
        let share = material.share("a, b").expect("drawn").expect("a figure");
        assert_eq!(share.name, "share-a--b");
        assert!(share.svg.starts_with("<svg"));
        assert!(
            share
                .csv
                .starts_with("series,round,share\nx,1,1\nx,2,0.5\n")
        );
        let timeline = material.timeline("a, b").expect("drawn").expect("a figure");
        assert!(timeline.csv.contains("\n2,y,1,0.5\n"), "{}", timeline.csv);
        // The second drafter is worth more.
        let convergence = material
            .convergence(&["a, b"])
            .expect("drawn")
            .expect("one");
        assert!(
            convergence.csv.contains("metasd-ucb bd,4,0.75\n"),
            "{}",
            convergence.csv
        );
        let regret = material.regret("a, b").expect("drawn").expect("a figure");
        assert!(
            regret.caption.contains("x 0.300, y 0.500"),
            "{}",
            regret.caption
        );
        assert_eq!(regret.csv.lines().count(), 1 + REGRET_TOKENS.len());
    }

    #[test]
    fn without_a_method_that_learns_there_is_nothing_to_draw() {
        let material = Material {
            variants: &[],
            params: &[],
            drafters: &[],
            records: Vec::new(),
            n_max: 3,
            seed: 1,
        };
        assert!(material.share("qa").expect("nothing").is_none());
        assert!(material.timeline("qa").expect("nothing").is_none());
        assert!(material.convergence(&["qa"]).expect("nothing").is_none());
        assert!(material.regret("qa").expect("nothing").is_none());
    }
}
