//! A test that is left out has a reason.

use crate::{Finding, Repository};

/// Every `#[ignore]` without a reason.
#[must_use]
pub fn check(repository: &Repository) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in repository.rust_files() {
        for (at, _) in file.code.match_indices("#[ignore]") {
            let message = "write `#[ignore = \"reason\"]`, or let the test run".to_owned();
            findings.push(Finding::violation(&file.path, file.line_of(at), message));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::Repository;

    #[test]
    fn only_a_reason_excuses() {
        let findings = |text: &str| check(&Repository::of(&[("crates/x/src/a.rs", text)])).len();
        assert_eq!(findings("#[test]\n#[ignore]\nfn a() {}"), 1);
        assert_eq!(
            findings("#[test]\n#[ignore = \"an hour long\"]\nfn a() {}"),
            0
        );
    }
}
