//! The centre of a series, and the series without outliers.
//!
//! A single spike must neither look like a change nor like a trend, so series are clamped to a
//! multiple of their median absolute deviation before they are tested.

/// The distance from the median beyond which a value is clamped, in deviations estimated from the
/// median absolute deviation.
const SPIKE: f64 = 4.0;
/// The factor from the median absolute deviation to the standard deviation of a normal
/// distribution.
const NORMAL: f64 = 1.4826;

/// The series with values beyond [`SPIKE`] clamped. If more than half of the values are equal, the
/// deviation is 0, and the series is unchanged.
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

/// The arithmetic mean; 0 for an empty slice.
#[must_use]
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// The middle value, or the mean of the two middle values; 0 for an empty slice. All values must be
/// numbers. Sorts a copy.
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
