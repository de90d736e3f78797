//! A file has one noun: advice above 500 lines that are not tests, a violation above 600.

use crate::{Finding, Repository};

/// Above this a file is worth splitting.
const SOFT: usize = 500;
/// Above this it must be split.
pub(crate) const HARD: usize = 600;

/// Longer files. None may be added but a table; one that is no longer so long must be taken out.
const EXCEPTIONS: &[&str] = &[
    // Tables: their rows are one noun, and are looked up rather than read.
    "crates/report/src/json/contract.rs",
    // Files that are to be divided.
    "crates/cli/src/habits.rs",
    "crates/dialects/src/ghz/args.rs",
];

/// Every Rust file that is too long, tests not counted, and every exception that is none.
#[must_use]
pub fn check(repository: &Repository) -> Vec<Finding> {
    findings(repository, EXCEPTIONS)
}

fn findings(repository: &Repository, exceptions: &[&str]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut needed = Vec::new();
    for file in repository.rust_files() {
        let lines = file.product_lines();
        let message = format!("{lines} lines without tests; split it by its nouns");
        if lines > HARD && exceptions.contains(&file.path.as_str()) {
            needed.push(file.path);
        } else if lines > HARD {
            findings.push(Finding::violation(&file.path, 0, message));
        } else if lines > SOFT {
            findings.push(Finding::advice(&file.path, 0, message));
        }
    }
    let is_stale = |path: &&&str| !needed.iter().any(|long| long == **path);
    for path in exceptions.iter().filter(is_stale) {
        let message = "is no exception any more; take it out of xtask/src/file_length.rs";
        findings.push(Finding::violation(path, 0, message.to_owned()));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::{HARD, SOFT, findings};
    use crate::{Repository, Severity};

    #[test]
    fn both_limits_are_exact() {
        let severity = |lines: usize| {
            let text = "x();\n".repeat(lines) + "#[cfg(test)]\nmod tests {\n}\n";
            let findings = findings(&Repository::of(&[("crates/x/src/a.rs", &text)]), &[]);
            findings.first().map(|finding| finding.severity)
        };
        assert_eq!(severity(SOFT), None);
        assert_eq!(severity(SOFT + 1), Some(Severity::Advice));
        assert_eq!(severity(HARD), Some(Severity::Advice));
        assert_eq!(severity(HARD + 1), Some(Severity::Violation));
    }

    #[test]
    fn an_exception_is_needed_or_wrong() {
        let found = |lines: usize, exceptions: &[&str]| {
            let text = "x();\n".repeat(lines);
            findings(&Repository::of(&[("crates/x/src/a.rs", &text)]), exceptions).len()
        };
        assert_eq!(found(HARD + 1, &["crates/x/src/a.rs"]), 0);
        assert_eq!(found(HARD + 1, &["crates/x/src/b.rs"]), 2);
        assert_eq!(found(SOFT, &["crates/x/src/a.rs"]), 1);
    }
}
