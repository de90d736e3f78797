//! A type has one state to look after: at most 20 named fields.

use crate::declarations::types;
use crate::{Finding, Repository};

/// The most named fields that a type may have, or a variant of an enum.
pub(crate) const FIELDS_MAX: usize = 20;

/// Types that have more, to be emptied: a file and a name. None may be added; one that no longer
/// has more must be taken out.
const EXCEPTIONS: &[(&str, &str)] = &[
    // A field for each flag of a command line: falls into groups as its help has them.
    ("crates/cli/src/flags/grpc.rs", "GrpcFlags"),
    ("crates/cli/src/flags/http.rs", "TransportFlags"),
    ("crates/cli/src/flags/serve.rs", "ServeFlags"),
    // The same of foreign command lines, whose flags have no groups.
    ("crates/dialects/src/ghz/options.rs", "Options"),
    ("crates/dialects/src/go_wrk/args.rs", "Args"),
];

/// Every type outside tests with too many fields, and every exception that is none.
#[must_use]
pub fn check(repository: &Repository) -> Vec<Finding> {
    findings(repository, EXCEPTIONS)
}

fn findings(repository: &Repository, exceptions: &[(&str, &str)]) -> Vec<Finding> {
    let files = repository.rust_files();
    let mut found = Vec::new();
    let mut needed = Vec::new();
    for file in &files {
        for item in types(file).iter().filter(|item| item.fields > FIELDS_MAX) {
            let exception = (file.path.as_str(), item.name);
            if exceptions.contains(&exception) {
                needed.push(exception);
                continue;
            }
            let message = format!(
                "`{}` has {} fields; give those that change together to a type that owns them, \
                 until it has {FIELDS_MAX}",
                item.name, item.fields
            );
            found.push(Finding::violation(&file.path, item.line, message));
        }
    }
    let stale = exceptions
        .iter()
        .filter(|exception| !needed.contains(exception));
    for (path, name) in stale {
        let message = format!("`{name}` is no exception any more; xtask/src/type_size.rs");
        found.push(Finding::violation(path, 0, message));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{FIELDS_MAX, findings};
    use crate::Repository;

    fn found(fields: usize, path: &str, exceptions: &[(&str, &str)]) -> usize {
        let fields: String = (0..fields).map(|n| format!("    f{n}: u8,\n")).collect();
        let text = format!("struct Large {{\n{fields}}}\n");
        findings(&Repository::of(&[(path, &text)]), exceptions).len()
    }

    #[test]
    fn the_limit_is_exact_and_tests_are_free() {
        assert_eq!(found(FIELDS_MAX, "crates/x/src/a.rs", &[]), 0);
        assert_eq!(found(FIELDS_MAX + 1, "crates/x/src/a.rs", &[]), 1);
        assert_eq!(found(FIELDS_MAX + 1, "crates/x/tests/a.rs", &[]), 0);
    }

    #[test]
    fn an_exception_is_needed_or_wrong() {
        let exceptions = [("crates/x/src/a.rs", "Large")];
        assert_eq!(found(FIELDS_MAX + 1, "crates/x/src/a.rs", &exceptions), 0);
        assert_eq!(found(FIELDS_MAX, "crates/x/src/a.rs", &exceptions), 1);
        // Another file's, and so both are wrong.
        assert_eq!(found(FIELDS_MAX + 1, "crates/x/src/b.rs", &exceptions), 2);
    }
}
