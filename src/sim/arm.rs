//! A scripted drafter: how likely its tokens are to be accepted, and how that changes.

use std::fmt;
use std::str::FromStr;

use rand::{Rng, RngExt};
use rand_distr::{Beta, Distribution};

use crate::error::{Error, Result};

/// How the agreements of a block's positions spread around an arm's own by default: about as
/// those of a small drafter, of which some tokens are all but certain and some a guess.
pub const DEFAULT_SPREAD: f64 = 0.6;

/// An arm whose agreement with the target is scripted.
///
/// Its agreement `α` is the chance that a drafted token is accepted. Within a round each position
/// has its own, drawn from the Beta distribution of mean `α` and variance `s²·α·(1 − α)`, where
/// `s` is the spread: with `s = 0` all positions are alike, with `s` near 1 each is all but
/// certain to be accepted or to be rejected. The chance of acceptance is `α` whatever the spread.
#[derive(Clone, PartialEq, Debug)]
pub struct Arm {
    course: Course,
    spread: f64,
}

/// Agreement over a query, of which 0 is the beginning and 1 the end.
#[derive(Clone, PartialEq, Debug)]
enum Course {
    /// Parts of equal length, each with its agreement; one for an arm that does not change.
    Steps(Vec<f64>),
    /// From the first agreement to the second in a straight line.
    Line(f64, f64),
}

/// The distribution of a position's agreement.
struct Positions {
    alpha: f64,
    beta: Option<Beta<f64>>,
}

impl Positions {
    fn draw(&self, rng: &mut dyn Rng) -> f64 {
        self.beta.map_or(self.alpha, |beta| beta.sample(rng))
    }
}

/// What an arm does in one round.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Block {
    /// Mean agreement over the drafted positions, in [0, 1].
    pub bd: f64,
    /// How many positions were accepted or rejected: all of them, or those up to the first
    /// rejection with it.
    pub positions: usize,
    /// Mean agreement over these, in [0, 1].
    pub agreement: f64,
    /// Tokens before the first rejection.
    pub accepted: usize,
}

impl Arm {
    /// An arm of agreement `alpha` throughout.
    ///
    /// # Errors
    /// [`InvalidArgument`](crate::error::ErrorKind::InvalidArgument) if `alpha` is not in [0, 1].
    pub fn steady(alpha: f64) -> Result<Self> {
        Self::steps(&[alpha])
    }

    /// An arm that has the agreements `alphas` one after the other, each for an equal part of the
    /// query.
    ///
    /// # Errors
    /// [`InvalidArgument`](crate::error::ErrorKind::InvalidArgument) if there is none or one is
    /// not in [0, 1].
    pub fn steps(alphas: &[f64]) -> Result<Self> {
        if alphas.is_empty() {
            return Err(Error::invalid("an arm needs an agreement; none is given"));
        }
        alphas.iter().try_for_each(|&alpha| check(alpha))?;
        Ok(Self::with(Course::Steps(alphas.to_vec())))
    }

    /// An arm whose agreement goes from `first` to `last` in a straight line.
    ///
    /// # Errors
    /// [`InvalidArgument`](crate::error::ErrorKind::InvalidArgument) if one is not in [0, 1].
    pub fn line(first: f64, last: f64) -> Result<Self> {
        check(first)?;
        check(last)?;
        Ok(Self::with(Course::Line(first, last)))
    }

    fn with(course: Course) -> Self {
        Self {
            course,
            spread: DEFAULT_SPREAD,
        }
    }

    /// The same arm with another spread `s`.
    ///
    /// # Errors
    /// [`InvalidArgument`](crate::error::ErrorKind::InvalidArgument) if it is not in [0, 1).
    pub fn spread(mut self, spread: f64) -> Result<Self> {
        if !(0.0..1.0).contains(&spread) {
            return Err(Error::invalid(format!(
                "spread is {spread}; it must be at least 0 and below 1"
            )));
        }
        self.spread = spread;
        Ok(self)
    }

    /// Whether the arm is the same throughout.
    pub fn is_steady(&self) -> bool {
        match &self.course {
            Course::Steps(alphas) => alphas.len() == 1,
            Course::Line(first, last) => first == last,
        }
    }

    /// Agreement when the part `progress` of the query is done, in [0, 1].
    pub fn agreement(&self, progress: f64) -> f64 {
        let progress = progress.clamp(0.0, 1.0);
        match &self.course {
            Course::Steps(alphas) => {
                let step = (progress * alphas.len() as f64) as usize;
                alphas[step.min(alphas.len() - 1)]
            }
            Course::Line(first, last) => first + progress * (last - first),
        }
    }

    /// Tokens that a round of `n_max` drafted ones commits on average: `Σ_{k=0}^{n_max} α^k`.
    pub fn committed(&self, progress: f64, n_max: usize) -> f64 {
        let alpha = self.agreement(progress);
        (0..n_max).fold(1.0, |sum, _| 1.0 + alpha * sum)
    }

    /// The variance of the agreement over positions when its mean is `alpha`.
    pub(super) fn position_variance(&self, alpha: f64) -> f64 {
        self.spread.powi(2) * alpha * (1.0 - alpha)
    }

    /// A round of `n_max` drafted tokens when the part `progress` of the query is done.
    ///
    /// # Panics
    /// If `n_max` is 0.
    pub fn round(&self, progress: f64, n_max: usize, rng: &mut dyn Rng) -> Block {
        assert!(n_max > 0, "a round drafts a token or more");
        let positions = self.positions(progress);
        let (mut sum, mut until_rejection) = (0.0, 0.0);
        let mut accepted = 0;
        for position in 0..n_max {
            let agreement = positions.draw(rng);
            sum += agreement;
            if accepted == position {
                until_rejection += agreement;
                if rng.random::<f64>() < agreement {
                    accepted += 1;
                }
            }
        }
        Block {
            bd: sum / n_max as f64,
            positions: (accepted + 1).min(n_max),
            agreement: until_rejection / (accepted + 1).min(n_max) as f64,
            accepted,
        }
    }

    /// Mean agreement over `committed` positions of a text when the part `progress` of the query
    /// is done. Those that the arm drafted itself, in the block `own`, are taken from there.
    ///
    /// # Panics
    /// If `committed` is 0.
    pub fn score(
        &self,
        progress: f64,
        committed: usize,
        own: Option<&Block>,
        rng: &mut dyn Rng,
    ) -> f64 {
        assert!(committed > 0, "a round commits a token or more");
        let positions = self.positions(progress);
        let (known, mut sum) = own.map_or((0, 0.0), |block| {
            let known = block.positions.min(committed);
            (known, block.agreement * known as f64)
        });
        sum += (known..committed).map(|_| positions.draw(rng)).sum::<f64>();
        sum / committed as f64
    }

    /// How its positions agree when the part `progress` of the query is done.
    fn positions(&self, progress: f64) -> Positions {
        let alpha = self.agreement(progress);
        // The mean of Beta(αν, (1 − α)ν) is α, its variance α(1 − α) / (ν + 1).
        let nu = self.spread.powi(-2) - 1.0;
        // There is none without spread, nor for an agreement of 0 or 1.
        let beta = Some(nu)
            .filter(|nu| nu.is_finite())
            .and_then(|nu| Beta::new(alpha * nu, (1.0 - alpha) * nu).ok());
        Positions { alpha, beta }
    }
}

fn check(alpha: f64) -> Result<()> {
    if (0.0..=1.0).contains(&alpha) {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "an arm's agreement is {alpha}; it must lie in [0, 1]"
    )))
}

/// `0.7`, `0.7/0.3` (steps) or `0.7..0.3` (a line).
impl FromStr for Arm {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let number = |text: &str| {
            text.trim().parse::<f64>().map_err(|_| {
                Error::invalid(format!(
                    "`{text}` is no agreement; an arm is a number from 0 to 1, several with `/` \
                     between them for steps, or two with `..` for a line"
                ))
            })
        };
        if let Some((first, last)) = text.split_once("..") {
            return Self::line(number(first)?, number(last)?);
        }
        let alphas: Vec<f64> = text.split('/').map(number).collect::<Result<_>>()?;
        Self::steps(&alphas)
    }
}

impl fmt::Display for Arm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.course {
            Course::Steps(alphas) => {
                let alphas: Vec<String> = alphas.iter().map(f64::to_string).collect();
                f.pad(&alphas.join("/"))
            }
            Course::Line(first, last) => f.pad(&format!("{first}..{last}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;

    fn blocks(arm: &Arm, n_max: usize) -> Vec<Block> {
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        (0..20_000)
            .map(|_| arm.round(0.0, n_max, &mut rng))
            .collect()
    }

    fn mean_and_variance(values: &[f64]) -> (f64, f64) {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let square = |value: &f64| (value - mean).powi(2);
        (
            mean,
            values.iter().map(square).sum::<f64>() / values.len() as f64,
        )
    }

    #[test]
    fn a_round_commits_on_average_what_the_formula_says() {
        for spread in [0.0, 0.3, 0.9] {
            let arm = Arm::steady(0.7).unwrap().spread(spread).unwrap();
            let committed: Vec<f64> = blocks(&arm, 5)
                .iter()
                .map(|block| block.accepted as f64 + 1.0)
                .collect();
            // (1 − 0.7⁶) / (1 − 0.7)
            assert!((arm.committed(0.0, 5) - 2.941_17).abs() < 1e-5);
            let (mean, _) = mean_and_variance(&committed);
            assert!((mean - arm.committed(0.0, 5)).abs() < 0.05, "{mean}");
        }
    }

    #[test]
    fn block_divergence_has_the_mean_and_the_variance_of_its_positions() {
        let arm = Arm::steady(0.6).unwrap().spread(0.5).unwrap();
        let bd: Vec<f64> = blocks(&arm, 4).iter().map(|block| block.bd).collect();
        let (mean, variance) = mean_and_variance(&bd);
        assert!((mean - 0.6).abs() < 0.005, "{mean}");
        // 0.5²·0.6·0.4 / 4
        assert!((variance - 0.015).abs() < 0.001, "{variance}");
    }

    #[test]
    fn agreement_on_the_committed_text_is_unbiased_over_positions() {
        let arm = Arm::steady(0.6).unwrap();
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        let (mut own, mut other, mut count) = (0.0, 0.0, 0.0);
        for block in blocks(&arm, 4) {
            let committed = block.accepted + 1;
            let mut score = |own| arm.score(0.0, committed, own, &mut rng) * committed as f64;
            own += score(Some(&block));
            other += score(None);
            count += committed as f64;
        }
        assert!((own / count - 0.6).abs() < 0.005, "{}", own / count);
        assert!((other / count - 0.6).abs() < 0.005, "{}", other / count);
    }

    #[test]
    fn block_divergence_varies_less_than_block_efficiency() {
        for (alpha, spread) in [(0.3, 0.2), (0.5, 0.6), (0.8, 0.9)] {
            let arm = Arm::steady(alpha).unwrap().spread(spread).unwrap();
            let blocks = blocks(&arm, 5);
            let bd: Vec<f64> = blocks.iter().map(|block| block.bd).collect();
            let be: Vec<f64> = blocks.iter().map(|b| b.accepted as f64 / 5.0).collect();
            assert!(mean_and_variance(&bd).1 < mean_and_variance(&be).1);
        }
    }

    #[test]
    fn arms_at_the_ends_accept_nothing_and_everything() {
        for (alpha, accepted) in [(0.0, 0), (1.0, 3)] {
            let arm = Arm::steady(alpha).unwrap();
            let block = Block {
                bd: alpha,
                positions: if accepted == 0 { 1 } else { 3 },
                agreement: alpha,
                accepted,
            };
            assert!(blocks(&arm, 3).iter().all(|&other| other == block));
        }
    }

    #[test]
    fn agreement_changes_in_steps_or_in_a_line() {
        let steps: Arm = "0.7/0.3".parse().unwrap();
        let line: Arm = "0.8..0.4".parse().unwrap();
        assert_eq!(
            [0.0, 0.49, 0.5, 1.0].map(|x| steps.agreement(x)),
            [0.7, 0.7, 0.3, 0.3]
        );
        assert!((line.agreement(0.25) - 0.7).abs() < 1e-12);
        assert!((line.agreement(7.0) - 0.4).abs() < 1e-12);
        assert!(!steps.is_steady() && !line.is_steady());
        assert!("0.5".parse::<Arm>().unwrap().is_steady());
    }

    #[test]
    fn an_arm_displays_as_it_is_written() {
        for text in ["0.5", "0.7/0.3/0.5", "0.8..0.4", "1"] {
            assert_eq!(text.parse::<Arm>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_is_no_arm_is_refused() {
        let message = |text: &str| text.parse::<Arm>().unwrap_err().to_string();
        assert!(message("high").contains("`high` is no agreement"));
        assert!(message("").contains("is no agreement"));
        assert!(message("0.4/").contains("is no agreement"));
        assert!(message("1.5").contains("agreement is 1.5"));
        assert!(message("0.5..nan").contains("agreement is NaN"));
        for spread in [-0.1, 1.0, f64::NAN] {
            let error = Arm::steady(0.5).unwrap().spread(spread).unwrap_err();
            assert!(error.to_string().starts_with("spread is"), "{error}");
        }
    }
}
