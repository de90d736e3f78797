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

#[cfg(test)]
mod tests {
    use super::holm;

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
