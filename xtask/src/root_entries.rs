//! The root of the repository stays a table of contents.

use crate::{Finding, Repository};
use std::collections::BTreeSet;

/// What may stand at the root.
const ALLOWED: &[&str] = &[
    ".ci",
    // A file where the checkout is a worktree of another.
    ".git",
    ".github",
    ".gitattributes",
    ".gitignore",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "Cargo.lock",
    "Cargo.toml",
    "GLOSSARY.md",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "Makefile",
    "README.md",
    "SECURITY.md",
    "STYLE.md",
    "bench",
    "clippy.toml",
    "conformance",
    "crates",
    "deny.toml",
    "docs",
    "examples",
    "fuzz",
    "rust-toolchain.toml",
    "rustfmt.toml",
    "tools",
    "xtask",
];

/// Everything else that stands there.
#[must_use]
pub fn check(repository: &Repository) -> Vec<Finding> {
    let entries: BTreeSet<&str> = repository
        .paths()
        .map(|path| path.split('/').next().unwrap_or(path))
        .collect();
    entries
        .into_iter()
        .filter(|entry| !ALLOWED.contains(entry))
        .map(|entry| {
            let message = "does not belong at the root; xtask/src/root_entries.rs has the list";
            Finding::violation(entry, 0, message.to_owned())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::Repository;

    #[test]
    fn strays_are_found_once() {
        let files = [("Cargo.toml", ""), ("out/a.txt", ""), ("out/b.txt", "")];
        let findings = check(&Repository::of(&files));
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].path, "out");
    }
}
