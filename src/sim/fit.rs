//! Straight lines through points: whether regret grows with ln B or with B.

use serde::Serialize;

/// The least-squares line `y = intercept + slope·x`.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Fit {
    /// `y` at `x = 0`.
    pub intercept: f64,
    /// What `y` gains with each unit of `x`.
    pub slope: f64,
    /// R²: the part of the variance of `y` that the line explains, 0 to 1; 1 when `y` does not
    /// vary.
    pub r2: f64,
}

impl Fit {
    /// The line through `points`, each an `(x, y)`. `None` unless at least two `x` differ and all
    /// numbers are finite.
    pub fn line(points: &[(f64, f64)]) -> Option<Self> {
        let n = points.len() as f64;
        let mean = |values: &dyn Fn(&(f64, f64)) -> f64| points.iter().map(values).sum::<f64>() / n;
        let (x_mean, y_mean) = (mean(&|point| point.0), mean(&|point| point.1));
        let xx = mean(&|point| (point.0 - x_mean).powi(2));
        let xy = mean(&|point| (point.0 - x_mean) * (point.1 - y_mean));
        let yy = mean(&|point| (point.1 - y_mean).powi(2));
        if !(xx > 0.0 && xx.is_finite() && yy.is_finite()) {
            return None;
        }
        let slope = xy / xx;
        Some(Self {
            intercept: y_mean - slope * x_mean,
            slope,
            r2: if yy > 0.0 {
                (slope * xy / yy).min(1.0)
            } else {
                1.0
            },
        })
    }

    /// The line `a + b·ln x` through `points`, whose `x` are positive; otherwise as
    /// [`Fit::line`].
    pub fn logarithm(points: &[(f64, f64)]) -> Option<Self> {
        let points: Vec<(f64, f64)> = points.iter().map(|&(x, y)| (x.ln(), y)).collect();
        Self::line(&points)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_is_the_one_computed_by_hand() {
        let fit = Fit::line(&[(0.0, 1.0), (1.0, 2.0), (2.0, 4.0)]).unwrap();
        assert!((fit.slope - 1.5).abs() < 1e-12);
        assert!((fit.intercept - 5.0 / 6.0).abs() < 1e-12);
        // 1 − (1/6) / (14/3)
        assert!((fit.r2 - 27.0 / 28.0).abs() < 1e-12);
    }

    #[test]
    fn a_logarithm_is_recognised() {
        let points: Vec<(f64, f64)> = [128.0f64, 512.0, 2048.0]
            .map(|x| (x, 3.0 + 2.0 * x.ln()))
            .to_vec();
        let fit = Fit::logarithm(&points).unwrap();
        assert!((fit.intercept - 3.0).abs() < 1e-9);
        assert!((fit.slope - 2.0).abs() < 1e-9);
        assert!((fit.r2 - 1.0).abs() < 1e-9);
        assert!(Fit::line(&points).unwrap().r2 < 0.95);
    }

    #[test]
    fn values_that_do_not_vary_are_explained_by_a_level_line() {
        let fit = Fit::line(&[(1.0, 2.0), (3.0, 2.0)]).unwrap();
        assert_eq!((fit.intercept, fit.slope, fit.r2), (2.0, 0.0, 1.0));
    }

    #[test]
    fn there_is_no_line_without_two_places_or_with_numbers_that_are_none() {
        assert_eq!(Fit::line(&[]), None);
        assert_eq!(Fit::line(&[(1.0, 2.0)]), None);
        assert_eq!(Fit::line(&[(1.0, 2.0), (1.0, 3.0)]), None);
        assert_eq!(Fit::line(&[(1.0, 2.0), (2.0, f64::NAN)]), None);
        assert_eq!(Fit::logarithm(&[(0.0, 2.0), (2.0, 1.0)]), None);
    }
}
