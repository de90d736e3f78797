//! Lists that two crates must hold in the same order, though neither may know the other.

use crate::{Finding, Repository};
use drumfire_http1::Notice;
use drumfire_measure::Leniency;

/// Where the list is that must follow.
const NOTICES: &str = "crates/http1/src/notices.rs";

/// Compares what `http1` forgives with what `measure` counts: bit for bit, a set of one is handed
/// on as a set of the other.
#[must_use]
pub fn check(_: &Repository) -> Vec<Finding> {
    let notices: Vec<&str> = Notice::ALL.iter().map(|notice| notice.name()).collect();
    let leniencies: Vec<&str> = Leniency::ALL.iter().map(|l| l.name()).collect();
    compare(&notices, &leniencies)
}

fn compare(notices: &[&str], leniencies: &[&str]) -> Vec<Finding> {
    if notices == leniencies {
        return Vec::new();
    }
    let message = format!("notices {notices:?} are not the leniencies {leniencies:?}");
    vec![Finding::violation(NOTICES, 0, message)]
}

#[cfg(test)]
mod tests {
    use super::compare;

    #[test]
    fn the_order_counts() {
        assert!(compare(&["a", "b"], &["a", "b"]).is_empty());
        assert_eq!(compare(&["a", "b"], &["b", "a"]).len(), 1);
        assert_eq!(compare(&["a"], &["a", "b"]).len(), 1);
    }
}
