//! A type of `engine` does one thing: at most 500 lines of `impl` and 30 methods.

use crate::homes::{Homes, module, source_folder};
use crate::impl_blocks::impl_blocks;
use crate::{Finding, Repository, RustFile};
use std::collections::{BTreeMap, BTreeSet};

/// The most methods that a type may have.
const METHODS_MAX: usize = 30;
/// The most lines of code that its inherent `impl` blocks may have together.
const LINES_MAX: usize = 500;
/// The sources of the crate that this law is for.
const ENGINE: &str = "crates/engine/src/";

/// Types that have more, to be divided: a module and a name. None may be added; one that no longer
/// has more must be taken out.
const EXCEPTIONS: &[(&str, &str)] = &[];

/// The inherent `impl` blocks of one type, counted together.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ImplSize<'a> {
    /// The folder of its crate's sources.
    pub(crate) folder: &'a str,
    /// The module that declares the type.
    pub(crate) home: &'a str,
    /// The type's name.
    pub(crate) name: &'a str,
    /// The functions of all blocks.
    pub(crate) methods: usize,
    /// The lines of code of all blocks.
    pub(crate) lines: usize,
    /// The files that have a block.
    pub(crate) files: usize,
}

/// Every type of `engine` that is too large, and every exception that is none.
#[must_use]
pub fn check(repository: &Repository) -> Vec<Finding> {
    findings(repository, EXCEPTIONS)
}

fn findings(repository: &Repository, exceptions: &[(&str, &str)]) -> Vec<Finding> {
    let files = repository.rust_files();
    let mut found = Vec::new();
    let mut needed = Vec::new();
    for size in impl_sizes(&files) {
        let is_small = size.methods <= METHODS_MAX && size.lines <= LINES_MAX;
        if is_small || size.folder != ENGINE {
            continue;
        }
        let exception = (size.home, size.name);
        if exceptions.contains(&exception) {
            needed.push(exception);
            continue;
        }
        let message = format!(
            "`{}` has {} methods in {} lines of `impl`; give a part of its state to a type of its \
             own, until it has {METHODS_MAX} and {LINES_MAX}",
            size.name, size.methods, size.lines
        );
        found.push(Finding::violation(&format!("{}.rs", size.home), 0, message));
    }
    let stale = exceptions
        .iter()
        .filter(|exception| !needed.contains(exception));
    for (home, name) in stale {
        let message = format!("`{name}` is no exception any more; xtask/src/impl_size.rs");
        found.push(Finding::violation(&format!("{home}.rs"), 0, message));
    }
    found
}

/// Every type that has an inherent `impl`, by its module and name; tests are left out.
pub(crate) fn impl_sizes(files: &[RustFile]) -> Vec<ImplSize<'_>> {
    let homes = Homes::of(files);
    let mut sizes: BTreeMap<(&str, &str), ImplSize<'_>> = BTreeMap::new();
    for file in files {
        let mut counted = BTreeSet::new();
        for block in impl_blocks(file) {
            // A type that a macro declares has no home to be found; it lives where its block does.
            let home = homes.nearest(file, block.name);
            let home = home.unwrap_or_else(|| module(&file.path));
            let name = block.name;
            let size = sizes.entry((home, name)).or_insert_with(|| ImplSize {
                folder: source_folder(&file.path),
                home,
                name,
                methods: 0,
                lines: 0,
                files: 0,
            });
            size.methods += block.methods;
            size.lines += block.lines;
            size.files += usize::from(counted.insert((home, name)));
        }
    }
    sizes.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::{LINES_MAX, METHODS_MAX, findings, impl_sizes};
    use crate::Repository;

    fn found(text: &str, exceptions: &[(&str, &str)]) -> usize {
        let files = [("crates/engine/src/a.rs", text)];
        findings(&Repository::of(&files), exceptions).len()
    }

    fn with_methods(methods: usize) -> String {
        let body = "    fn f() {}\n".repeat(methods);
        format!("struct Large;\nimpl Large {{\n{body}}}\n")
    }

    #[test]
    fn both_limits_are_exact() {
        assert_eq!(found(&with_methods(METHODS_MAX), &[]), 0);
        assert_eq!(found(&with_methods(METHODS_MAX + 1), &[]), 1);
        let with_lines = |lines: usize| {
            let body = "        g();\n        // Why.\n\n".repeat(lines - 4);
            format!("struct Long;\nimpl Long {{\n    fn f() {{\n{body}    }}\n}}\n")
        };
        assert_eq!(found(&with_lines(LINES_MAX), &[]), 0);
        assert_eq!(found(&with_lines(LINES_MAX + 1), &[]), 1);
    }

    #[test]
    fn other_crates_are_free_and_an_exception_is_needed_or_wrong() {
        let large = with_methods(METHODS_MAX + 1);
        let other = Repository::of(&[("crates/x/src/a.rs", &large)]);
        assert!(findings(&other, &[]).is_empty());
        let exceptions = [("crates/engine/src/a", "Large")];
        assert_eq!(found(&large, &exceptions), 0);
        assert_eq!(found(&with_methods(1), &exceptions), 1);
    }

    #[test]
    fn the_blocks_of_one_type_are_counted_together() {
        let files = [
            (
                "crates/x/src/a.rs",
                "struct Slot;\nimpl Slot {\n    fn f() {}\n}\n",
            ),
            (
                "crates/x/src/a/b.rs",
                "impl Slot {\n    fn g() {}\n    fn h() {}\n}\n",
            ),
            (
                "crates/x/src/c.rs",
                "struct Slot;\nimpl Slot {\n}\nimpl Slot {\n}\n",
            ),
        ];
        let files = Repository::of(&files).rust_files();
        let sizes = impl_sizes(&files);
        let seen: Vec<_> = sizes
            .iter()
            .map(|size| (size.home, size.methods, size.lines, size.files))
            .collect();
        let expected = [("crates/x/src/a", 3, 7, 2), ("crates/x/src/c", 0, 4, 1)];
        assert_eq!(seen, expected);
    }
}
