//! Which thresholds have failed.

use drumfire_k6::Registry;
use drumfire_units::Nanos;

/// The metrics, or selections of their samples, of which a threshold has failed.
pub(super) fn crossed(registry: &Registry, elapsed: Nanos) -> Vec<String> {
    let mut names = Vec::new();
    for metric in registry.metrics() {
        let whole = (metric.name.clone(), &metric.total);
        let parts = metric.parts.iter();
        let parts = parts.map(|(selection, part)| (selection.to_string(), part));
        for (name, part) in std::iter::once(whole).chain(parts) {
            let mut rules = part.rules.iter();
            if rules.any(|rule| !rule.threshold.holds(&part.sink, seconds(elapsed))) {
                names.push(name);
            }
        }
    }
    names
}

/// A duration in seconds.
pub(super) fn seconds(time: Nanos) -> f64 {
    time.0 as f64 / 1e9
}
