//! External packages come from one registry, in which a version cannot change: not from a branch of
//! a repository, another registry, or a folder outside of this repository.

use crate::{Finding, Repository};

/// The lock files of the program and of the fuzz targets.
const LOCKS: [&str; 2] = ["Cargo.lock", "fuzz/Cargo.lock"];
/// The registry.
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// Every package of a lock file with another source, or without the digest of its content.
#[must_use]
pub fn check(repository: &Repository) -> Vec<Finding> {
    let locks = LOCKS.into_iter();
    locks
        .flat_map(|path| findings(path, repository.text(path)))
        .collect()
}

fn findings(path: &str, lock: &str) -> Vec<Finding> {
    let packages = lock.split("[[package]]").skip(1);
    let strange = packages.filter_map(|package| {
        let value = |key: &str| {
            let start = format!("\n{key} = \"");
            package.split(&start).nth(1)?.split('"').next()
        };
        let name = value("name").unwrap_or_default();
        let why = match (value("source"), value("checksum")) {
            (None, _) | (Some(REGISTRY), Some(_)) => return None,
            (Some(REGISTRY), None) => "has no checksum".to_owned(),
            (Some(other), _) => format!("comes from {other}, not from crates.io"),
        };
        Some(Finding::violation(path, 0, format!("`{name}` {why}")))
    });
    strange.collect()
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::Repository;

    #[test]
    fn another_source_is_found() {
        let package =
            |source: &str| format!("[[package]]\nname = \"x\"\nversion = \"1\"\n{source}\n");
        let own = "registry+https://github.com/rust-lang/crates.io-index";
        for (source, count) in [
            (String::new(), 0),
            (format!("source = \"{own}\"\nchecksum = \"ab\""), 0),
            (format!("source = \"{own}\""), 1),
            ("source = \"git+https://x.test/y#1\"".to_owned(), 1),
            (
                "source = \"registry+https://x.test/index\"\nchecksum = \"ab\"".to_owned(),
                1,
            ),
        ] {
            let lock = package(&source);
            let found = check(&Repository::in_memory(&[("Cargo.lock", &lock)]));
            assert_eq!(found.len(), count, "{source}");
        }
    }
}
