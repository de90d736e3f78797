//! Large types of `engine` are a question for review: advice above 500 lines of `impl` or 30
//! methods.

use crate::homes::{Homes, module, source_folder};
use crate::impl_blocks::impl_blocks;
use crate::{Finding, Repository, RustFile};
use std::collections::{BTreeMap, BTreeSet};

/// Above this number of methods, a type may do two things.
const METHODS_MAX: usize = 30;
/// Above this number of code lines in its inherent `impl` blocks, a type may do two things.
const LINES_MAX: usize = 500;
/// The sources of the crate that is checked.
const ENGINE: &str = "crates/core/engine/src/";

/// The inherent `impl` blocks of one type, counted together.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ImplSize<'a> {
    /// The folder of the crate's sources.
    pub(crate) folder: &'a str,
    /// The module that declares the type.
    pub(crate) home: &'a str,
    /// The type's name.
    pub(crate) name: &'a str,
    /// The number of functions in all blocks.
    pub(crate) methods: usize,
    /// The number of code lines in all blocks.
    pub(crate) lines: usize,
    /// The number of files with a block.
    pub(crate) files: usize,
}

/// Advice for every large type of `engine`.
#[must_use]
pub fn check(repository: &Repository) -> Vec<Finding> {
    let mut findings = Vec::new();
    for size in impl_sizes(&repository.rust_files()) {
        let is_small = size.methods <= METHODS_MAX && size.lines <= LINES_MAX;
        if is_small || size.folder != ENGINE {
            continue;
        }
        let message = format!(
            "`{}` has {} methods in {} lines of `impl`; can a part of its state be a type?",
            size.name, size.methods, size.lines
        );
        findings.push(Finding::advice(&format!("{}.rs", size.home), 0, message));
    }
    findings
}

/// Every type with an inherent `impl`, by its module and name, without tests.
pub(crate) fn impl_sizes(files: &[RustFile]) -> Vec<ImplSize<'_>> {
    let homes = Homes::from_files(files);
    let mut sizes: BTreeMap<(&str, &str), ImplSize<'_>> = BTreeMap::new();
    for file in files {
        let mut counted = BTreeSet::new();
        for block in impl_blocks(file) {
            // The home of a type that a macro declares cannot be found, so its block's module
            // counts.
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
    use super::{LINES_MAX, METHODS_MAX, check, impl_sizes};
    use crate::{Repository, Severity};

    fn severity(path: &str, text: &str) -> Option<Severity> {
        let findings = check(&Repository::in_memory(&[(path, text)]));
        findings.first().map(|finding| finding.severity)
    }

    fn with_methods(methods: usize) -> String {
        let body = "    fn f() {}\n".repeat(methods);
        format!("struct Large;\nimpl Large {{\n{body}}}\n")
    }

    #[test]
    fn both_limits_are_exact() {
        let of = |text: &str| severity("crates/core/engine/src/a.rs", text);
        assert_eq!(of(&with_methods(METHODS_MAX)), None);
        assert_eq!(of(&with_methods(METHODS_MAX + 1)), Some(Severity::Advice));
        let with_lines = |lines: usize| {
            let body = "        g();\n        // Why.\n\n".repeat(lines - 4);
            format!("struct Long;\nimpl Long {{\n    fn f() {{\n{body}    }}\n}}\n")
        };
        assert_eq!(of(&with_lines(LINES_MAX)), None);
        assert_eq!(of(&with_lines(LINES_MAX + 1)), Some(Severity::Advice));
    }

    #[test]
    fn other_crates_are_not_checked() {
        let large = with_methods(METHODS_MAX + 1);
        assert_eq!(severity("crates/x/src/a.rs", &large), None);
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
        let files = Repository::in_memory(&files).rust_files();
        let sizes = impl_sizes(&files);
        let seen: Vec<_> = sizes
            .iter()
            .map(|size| (size.home, size.methods, size.lines, size.files))
            .collect();
        let expected = [("crates/x/src/a", 3, 7, 2), ("crates/x/src/c", 0, 4, 1)];
        assert_eq!(seen, expected);
    }
}
