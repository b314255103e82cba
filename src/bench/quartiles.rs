//! A median that says how far the values spread.

use serde::Serialize;

/// The quartiles of some values.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Quartiles {
    /// A quarter of the values is below.
    pub lower: f64,
    /// Half of them is below.
    pub median: f64,
    /// A quarter is above.
    pub upper: f64,
}

impl Quartiles {
    /// The quartiles of `values`, between two of them by linear interpolation (Hyndman & Fan 1996,
    /// *Sample quantiles in statistical packages*, definition 7). `None` without any.
    pub fn of(values: &[f64]) -> Option<Self> {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let last = sorted.len().checked_sub(1)?;
        let quantile = |part: f64| {
            let place = part * last as f64;
            let below = sorted[place.floor() as usize];
            let above = sorted[place.ceil() as usize];
            below + (above - below) * place.fract()
        };
        Some(Self {
            lower: quantile(0.25),
            median: quantile(0.5),
            upper: quantile(0.75),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_are_those_computed_by_hand() {
        let quartiles = Quartiles::of(&[4.0, 1.0, 2.0, 3.0]).unwrap();
        assert_eq!(
            (quartiles.lower, quartiles.median, quartiles.upper),
            (1.75, 2.5, 3.25)
        );
        let one = Quartiles::of(&[7.0]).unwrap();
        assert_eq!((one.lower, one.median, one.upper), (7.0, 7.0, 7.0));
        assert_eq!(Quartiles::of(&[]), None);
    }
}
