//! A file has one noun: advice above 500 lines that are not tests, a violation above 800.

use crate::{Finding, Repository};

/// Above this a file is worth splitting.
const SOFT: usize = 500;
/// Above this it must be split.
const HARD: usize = 800;

/// Every Rust file that is too long, tests not counted.
#[must_use]
pub fn check(repository: &Repository) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in repository.rust_files() {
        let lines = file.product_lines();
        let message = format!("{lines} lines without tests; split it by its nouns");
        if lines > HARD {
            findings.push(Finding::violation(&file.path, 0, message));
        } else if lines > SOFT {
            findings.push(Finding::advice(&file.path, 0, message));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::{HARD, SOFT, check};
    use crate::{Repository, Severity};

    #[test]
    fn both_limits_are_exact() {
        let severity = |lines: usize| {
            let text = "x();\n".repeat(lines) + "#[cfg(test)]\nmod tests {\n}\n";
            let findings = check(&Repository::of(&[("crates/x/src/a.rs", &text)]));
            findings.first().map(|finding| finding.severity)
        };
        assert_eq!(severity(SOFT), None);
        assert_eq!(severity(SOFT + 1), Some(Severity::Advice));
        assert_eq!(severity(HARD), Some(Severity::Advice));
        assert_eq!(severity(HARD + 1), Some(Severity::Violation));
    }
}
