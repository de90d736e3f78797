//! A type's `impl` blocks are in its own file, or in files of the folder with its name: code
//! elsewhere cannot own a part of the type's state.

use crate::homes::{Homes, is_within, module};
use crate::impl_blocks::impl_blocks;
use crate::{Finding, Repository};

/// Files that contain the `impl` of another file's type, to be emptied: a file and a type. No entry
/// may be added, and an unnecessary one must be removed.
const EXCEPTIONS: &[(&str, &str)] = &[
    // Files next to the file of their type that belong in its folder.
    ("crates/testing/corpus/src/parse.rs", "Case"),
    ("crates/testing/corpus/src/parse.rs", "Expected"),
];

/// Every inherent `impl` outside tests that is neither in the file of its type nor in that folder,
/// and every unnecessary exception.
#[must_use]
pub fn check(repository: &Repository) -> Vec<Finding> {
    findings(repository, EXCEPTIONS)
}

fn findings(repository: &Repository, exceptions: &[(&str, &str)]) -> Vec<Finding> {
    let files = repository.rust_files();
    let homes = Homes::from_files(&files);
    let mut found = Vec::new();
    let mut needed = Vec::new();
    for file in &files {
        for block in impl_blocks(file) {
            let (line, name) = (block.line, block.name);
            let homes = homes.of_name(file, name);
            if homes.is_empty() || homes.iter().any(|home| is_within(module(&file.path), home)) {
                continue;
            }
            let exception = (file.path.as_str(), name);
            if exceptions.contains(&exception) {
                needed.push(exception);
            } else {
                let message = format!(
                    "`impl {name}` lies outside of {}.rs and its folder; give what it needs to a \
                     type of this file",
                    homes.join(".rs, ")
                );
                found.push(Finding::violation(&file.path, line, message));
            }
        }
    }
    let stale = exceptions
        .iter()
        .filter(|exception| !needed.contains(exception));
    for (path, name) in stale {
        let message = format!("`impl {name}` is no exception any more; xtask/src/impl_place.rs");
        found.push(Finding::violation(path, 0, message));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::findings as all;
    use crate::Repository;

    fn findings(files: &[(&str, &str)]) -> usize {
        all(&Repository::in_memory(files), &[]).len()
    }

    #[test]
    fn own_file_and_folder_are_right_and_others_wrong() {
        let of = |path: &str, text: &str| {
            let declared = ("crates/x/src/worker.rs", "pub struct Worker<I>(I);\n");
            findings(&[declared, (path, text)])
        };
        let text = "impl<I: Io<Error = E>> Worker<I> {\n}\n";
        assert_eq!(of("crates/x/src/worker/a.rs", text), 0);
        assert_eq!(of("crates/x/src/worker/deep/a.rs", text), 0);
        assert_eq!(of("crates/x/src/link.rs", text), 1);
        assert_eq!(of("crates/x/src/workers.rs", text), 1);
        let conversion = "impl From<u8> for Worker {\n}\n";
        assert_eq!(of("crates/x/src/link.rs", conversion), 0);
        let guarded = format!("#[cfg(test)]\nmod tests {{\n{text}}}\n");
        assert_eq!(of("crates/x/src/link.rs", &guarded), 0);
    }

    #[test]
    fn names_are_those_of_one_crate_and_of_any_of_its_modules() {
        let types = [
            ("crates/x/src/a.rs", "struct Slot;\nimpl Slot {\n}\n"),
            ("crates/x/src/b.rs", "struct Slot;\nimpl Slot {\n}\n"),
            ("crates/y/src/c.rs", "impl Slot {\n}\n"),
        ];
        assert_eq!(findings(&types), 0);
        let root = [
            ("crates/x/src/lib.rs", "pub struct Run;\n"),
            ("crates/x/src/a.rs", "impl Run {\n}\n"),
        ];
        assert_eq!(findings(&root), 1);
    }

    #[test]
    fn an_exception_is_needed_or_wrong() {
        let files = [
            ("crates/x/src/a.rs", "struct Slot;\n"),
            ("crates/x/src/b.rs", "impl Slot {\n}\n"),
        ];
        let with = |exceptions| all(&Repository::in_memory(&files), exceptions).len();
        assert_eq!(with(&[("crates/x/src/b.rs", "Slot")]), 0);
        assert_eq!(with(&[("crates/x/src/c.rs", "Slot")]), 2);
    }
}
