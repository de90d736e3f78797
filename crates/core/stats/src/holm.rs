//! Several tests at once.

/// The probabilities of several tests, raised so that the chance of any false finding is as low as
/// in a single test: compare each with the bound of a single test. In the given order, at most 1.
///
/// S. Holm, "A simple sequentially rejective multiple test procedure", 1979. The tests may depend
/// on each other in any way, like quantiles of the same runs.
#[must_use]
pub fn holm(probabilities: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..probabilities.len()).collect();
    order.sort_by(|a, b| probabilities[*a].total_cmp(&probabilities[*b]));
    let mut raised = vec![1.0; probabilities.len()];
    let mut least: f64 = 0.0;
    for (at, index) in order.iter().enumerate() {
        let left = (probabilities.len() - at) as f64;
        // No result may be below one that was smaller before.
        least = least.max((probabilities[*index] * left).min(1.0));
        raised[*index] = least;
    }
    raised
}

/// The probability that each test by itself must not exceed to be a finding by [`holm`], in the
/// given order: an interval of the confidence 1 − level excludes 0 exactly if the test is one.
///
/// The procedure divides the error by the number of tests that are left. After the first test that
/// is not a finding, all others have its level.
#[must_use]
pub fn holm_levels(probabilities: &[f64], error: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..probabilities.len()).collect();
    order.sort_by(|a, b| probabilities[*a].total_cmp(&probabilities[*b]));
    let mut levels = vec![error; probabilities.len()];
    let mut last = None;
    for (at, index) in order.iter().enumerate() {
        let level = last.unwrap_or(error / (probabilities.len() - at) as f64);
        levels[*index] = level;
        last = last.or_else(|| (probabilities[*index] > level).then_some(level));
    }
    levels
}

#[cfg(test)]
mod tests {
    use super::{holm, holm_levels};

    #[test]
    fn a_level_decides_like_the_raised_probability() {
        for tests in [
            vec![0.01, 0.04, 0.03, 0.005],
            vec![0.001, 0.002, 0.003, 0.004],
            vec![0.5, 0.9],
            vec![0.013, 0.014, 0.01],
            vec![],
        ] {
            let decided = |(p, level): (&f64, f64)| *p <= level;
            let levels = holm_levels(&tests, 0.05).into_iter();
            let by_level: Vec<bool> = tests.iter().zip(levels).map(decided).collect();
            let raised: Vec<bool> = holm(&tests).iter().map(|p| *p <= 0.05).collect();
            assert_eq!(by_level, raised, "{tests:?}");
        }
        assert_eq!(holm_levels(&[0.2, 0.001, 0.3], 0.06), [0.03, 0.02, 0.03]);
    }

    #[test]
    fn each_is_raised_by_the_number_of_tests_that_are_left() {
        let close = |found: Vec<f64>, expected: &[f64]| {
            assert_eq!(found.len(), expected.len());
            for (found, expected) in found.iter().zip(expected) {
                assert!((found - expected).abs() < 1e-12, "{found} {expected}");
            }
        };
        // From statsmodels 0.15.0, `multipletests(…, method="holm")`.
        close(holm(&[0.01, 0.04, 0.03, 0.005]), &[0.03, 0.06, 0.06, 0.02]);
        close(holm(&[0.5, 0.9]), &[1.0, 1.0]);
        close(holm(&[]), &[]);
        close(holm(&[0.2]), &[0.2]);
    }
}
