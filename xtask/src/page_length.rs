//! The pages at the root stay short enough to be read.

use crate::{Finding, Repository};

/// The most lines of each page. A page that is missing is a violation too.
const LIMITS: &[(&str, usize)] = &[
    ("ARCHITECTURE.md", 300),
    ("CONTRIBUTING.md", 150),
    ("GLOSSARY.md", 150),
    ("STYLE.md", 250),
];

/// Every page that is missing or too long.
#[must_use]
pub fn check(repository: &Repository) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, lines_max) in LIMITS {
        let lines = repository.text(path).lines().count();
        if lines == 0 || lines > *lines_max {
            let message = format!("has {lines} lines; it needs some, and at most {lines_max}");
            findings.push(Finding::violation(path, 0, message));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::{LIMITS, check};
    use crate::Repository;

    #[test]
    fn a_missing_page_and_a_long_one_are_found() {
        assert_eq!(check(&Repository::of(&[])).len(), LIMITS.len());
        let (path, lines_max) = LIMITS[0];
        let of = |lines: usize| check(&Repository::of(&[(path, &"x\n".repeat(lines))])).len();
        assert_eq!(of(lines_max), LIMITS.len() - 1);
        assert_eq!(of(lines_max + 1), LIMITS.len());
    }
}
