//! Long files are a question for review: advice above 600 lines that are not tests.

use crate::{Finding, Repository};

/// Above this number of lines, a file may contain two nouns.
pub(crate) const LINES_MAX: usize = 600;

/// Advice for every long Rust file. Tests do not count.
#[must_use]
pub fn check(repository: &Repository) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in repository.rust_files() {
        let lines = file.product_lines();
        if lines > LINES_MAX {
            let message = format!("{lines} lines without tests; does it hold two nouns?");
            findings.push(Finding::advice(&file.path, 0, message));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::{LINES_MAX, check};
    use crate::{Repository, Severity};

    #[test]
    fn the_limit_is_exact_and_tests_are_free() {
        let severity = |lines: usize| {
            let text = "x();\n".repeat(lines) + "#[cfg(test)]\nmod tests {\n}\n";
            let findings = check(&Repository::in_memory(&[("crates/x/src/a.rs", &text)]));
            findings.first().map(|finding| finding.severity)
        };
        assert_eq!(severity(LINES_MAX), None);
        assert_eq!(severity(LINES_MAX + 1), Some(Severity::Advice));
    }
}
