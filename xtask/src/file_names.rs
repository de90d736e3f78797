//! A file is named for its content. Some names mean nothing, and `mod.rs` hides the real name; only
//! next to integration tests is it the only way to share a module.

use crate::{Finding, Repository};

/// Names of Rust files and folders that do not describe their content.
const EMPTY_NAMES: &[&str] = &[
    "util", "utils", "common", "misc", "helper", "helpers", "types", "imp", "stuff",
];

/// Every Rust file that has a meaningless name, or is in a folder with one.
#[must_use]
pub fn check(repository: &Repository) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, _) in repository.ending(".rs") {
        let stem = path.strip_suffix(".rs").unwrap_or(path);
        if let Some(part) = stem.split('/').find(|part| EMPTY_NAMES.contains(part)) {
            let message = format!("the name `{part}` says nothing; name it for what it holds");
            findings.push(Finding::violation(path, 0, message));
        }
        if stem.ends_with("/mod") && !path.contains("/tests/") {
            let message = "write `folder.rs` beside `folder/` in place of `mod.rs`".to_owned();
            findings.push(Finding::violation(path, 0, message));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::Repository;

    #[test]
    fn names_that_say_nothing_are_found_anywhere_in_a_path() {
        let findings = |path: &str| check(&Repository::in_memory(&[(path, "")])).len();
        assert_eq!(findings("crates/x/src/utils.rs"), 1);
        assert_eq!(findings("crates/x/src/common/a.rs"), 1);
        assert_eq!(findings("crates/x/src/common/mod.rs"), 2);
        assert_eq!(findings("crates/x/tests/script/mod.rs"), 0);
        assert_eq!(findings("crates/x/src/commons.rs"), 0);
        assert_eq!(findings("docs/common.md"), 0);
    }
}
