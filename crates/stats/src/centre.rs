//! The centre of a series, and the series without what lies too far from it.
//!
//! A single spike must make no change and no trend, so that series are clamped to a multiple of their
//! median absolute deviation before they are tested.

/// The distance from the median, in deviations by the median absolute one, beyond which a value is
/// clamped.
const SPIKE: f64 = 4.0;
/// The factor from the median absolute deviation to the standard deviation of a normal
/// distribution.
const NORMAL: f64 = 1.4826;

/// The series with values beyond [`SPIKE`] clamped. A series of which more than half is one value
/// has no deviation, and is left as it is.
#[must_use]
pub fn without_spikes(values: &[f64]) -> Vec<f64> {
    let centre = median(values);
    let deviations: Vec<f64> = values.iter().map(|value| (value - centre).abs()).collect();
    let most = median(&deviations) * NORMAL * SPIKE;
    if most <= 0.0 {
        return values.to_vec();
    }
    let near = |value: &f64| value.clamp(centre - most, centre + most);
    values.iter().map(near).collect()
}

/// The arithmetic mean; 0 of none.
#[must_use]
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// The middle of values that are numbers, or the mean of the two in the middle; 0 of none. Sorts a
/// copy.
#[must_use]
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match (sorted.len() / 2, sorted.len() % 2) {
        (0, 0) => 0.0,
        (half, 0) => f64::midpoint(sorted[half - 1], sorted[half]),
        (half, _) => sorted[half],
    }
}
