//! Types with many fields are a question for review: advice above 20 named fields.

use crate::declarations::types;
use crate::{Finding, Repository};

/// Above this number of named fields, a type or a variant of an enum may be several types.
pub(crate) const FIELDS_MAX: usize = 20;

/// Advice for every type outside tests with many fields.
#[must_use]
pub fn check(repository: &Repository) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in &repository.rust_files() {
        for item in types(file).iter().filter(|item| item.fields > FIELDS_MAX) {
            let message = format!(
                "`{}` has {} fields; do some of them change together?",
                item.name, item.fields
            );
            findings.push(Finding::advice(&file.path, item.line, message));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::{FIELDS_MAX, check};
    use crate::{Repository, Severity};

    fn severity(fields: usize, path: &str) -> Option<Severity> {
        let fields: String = (0..fields).map(|n| format!("    f{n}: u8,\n")).collect();
        let text = format!("struct Large {{\n{fields}}}\n");
        let findings = check(&Repository::in_memory(&[(path, &text)]));
        findings.first().map(|finding| finding.severity)
    }

    #[test]
    fn the_limit_is_exact_and_tests_are_free() {
        let advice = Some(Severity::Advice);
        assert_eq!(severity(FIELDS_MAX, "crates/x/src/a.rs"), None);
        assert_eq!(severity(FIELDS_MAX + 1, "crates/x/src/a.rs"), advice);
        assert_eq!(severity(FIELDS_MAX + 1, "crates/x/tests/a.rs"), None);
    }
}
