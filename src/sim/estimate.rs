//! Means that say how sure they are.

use serde::Serialize;

/// A mean with its standard error.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Estimate {
    /// Mean over the runs.
    pub mean: f64,
    /// Its standard error; NaN for fewer than two runs.
    pub error: f64,
}

impl Estimate {
    /// The mean of `values`; NaN without any.
    pub fn of(values: &[f64]) -> Self {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let error = match values.len() {
            0 | 1 => f64::NAN,
            _ => (squares / (n - 1.0) / n).sqrt(),
        };
        Self { mean, error }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_comes_with_its_standard_error() {
        let estimate = Estimate::of(&[1.0, 2.0, 3.0, 6.0]);
        assert_eq!(estimate.mean, 3.0);
        assert!((estimate.error - (14.0f64 / 3.0 / 4.0).sqrt()).abs() < 1e-12);
        assert!(Estimate::of(&[1.0]).error.is_nan());
    }
}
