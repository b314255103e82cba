//! Where labels lie in the space of embeddings, and which is nearest.

/// What is added to a dimension's variance within the labels, as a share of the mean variance: few
/// prompts tell little of it, and none of a dimension in which they happen to be equal.
const VARIANCE_FLOOR: f64 = 0.1;

/// Where the labels lie.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Geometry {
    /// The mean over the labels of their prompts' mean embedding.
    pub(super) origin: Vec<f32>,
    /// What each dimension is multiplied by.
    pub(super) scale: Vec<f32>,
    /// One for each label, of unit length; zero for a label without prompts.
    pub(super) centroids: Vec<Vec<f32>>,
}

impl Geometry {
    /// Fits it on the embeddings of each label, `width` numbers each.
    pub(super) fn fit(width: usize, of_label: &[Vec<&[f64]>]) -> Self {
        let means: Vec<Vec<f64>> = of_label.iter().map(|all| mean(width, all)).collect();
        let labels = of_label.iter().zip(&means);
        let used = labels.filter(|(all, _)| !all.is_empty());
        let origin = mean(width, used.clone().map(|(_, mean)| mean));
        let within = mean(width, used.map(|(all, mean)| variance(mean, all)));
        let all: Vec<&[f64]> = of_label.concat();
        let overall: f64 = variance(&origin, &all).iter().sum::<f64>() / width as f64;
        let scale = |within: &f64| match within + VARIANCE_FLOOR * overall {
            0.0 => 1.0,
            variance => variance.sqrt().recip(),
        };

        let single = |row: Vec<f64>| row.into_iter().map(|x| x as f32).collect();
        let mut geometry = Geometry {
            scale: within.iter().map(|within| scale(within) as f32).collect(),
            origin: single(origin),
            centroids: Vec::new(),
        };
        let centroid = |all: &Vec<&[f64]>| {
            let directions = all.iter().map(|embedded| geometry.direction(embedded));
            single(unit(mean(width, directions)))
        };
        geometry.centroids = of_label.iter().map(centroid).collect();
        geometry
    }

    /// Where a prompt lies as seen from the origin: of unit length, or zero in the origin itself.
    fn direction(&self, embedded: &[f64]) -> Vec<f64> {
        let dimensions = embedded.iter().zip(&self.origin).zip(&self.scale);
        unit(
            dimensions
                .map(|((x, &origin), &scale)| (x - f64::from(origin)) * f64::from(scale))
                .collect(),
        )
    }

    /// The places of the centroids, the nearest to a prompt first.
    pub(super) fn rank(&self, embedded: Option<&[f64]>) -> Vec<usize> {
        let direction = embedded.map(|embedded| self.direction(embedded));
        let cosine = |centroid: &Vec<f32>| {
            if centroid.iter().all(|&x| x == 0.0) {
                return f64::NEG_INFINITY;
            }
            let direction = direction.iter().flatten();
            direction
                .zip(centroid)
                .map(|(x, &y)| x * f64::from(y))
                .sum()
        };
        let cosines: Vec<f64> = self.centroids.iter().map(cosine).collect();
        let mut places: Vec<usize> = (0..cosines.len()).collect();
        places.sort_by(|&a, &b| cosines[b].total_cmp(&cosines[a]));
        places
    }
}

/// The mean of `rows`, `width` numbers each; zero of none.
pub(super) fn mean(width: usize, rows: impl IntoIterator<Item = impl AsRef<[f64]>>) -> Vec<f64> {
    let (mut sum, mut count) = (vec![0.0; width], 0.0);
    for row in rows {
        let both = sum.iter_mut().zip(row.as_ref());
        both.for_each(|(sum, x)| *sum += x);
        count += 1.0;
    }
    sum.iter_mut().for_each(|sum| *sum /= f64::max(count, 1.0));
    sum
}

/// The mean square of the difference of `rows` from `center`, dimension by dimension.
fn variance(center: &[f64], rows: &[&[f64]]) -> Vec<f64> {
    let squares = rows.iter().map(|row| -> Vec<f64> {
        let both = row.iter().zip(center);
        both.map(|(x, center)| (x - center).powi(2)).collect()
    });
    mean(center.len(), squares)
}

/// `row` scaled to unit length, or as it is when it has none.
pub(super) fn unit(mut row: Vec<f64>) -> Vec<f64> {
    let length = row.iter().map(|x| x * x).sum::<f64>().sqrt();
    if length > 0.0 {
        row.iter_mut().for_each(|x| *x /= length);
    }
    row
}
