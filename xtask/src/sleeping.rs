//! Nothing in a crate without effects sleeps, not even its tests, because time is an argument
//! there.

use crate::architecture::{Effects, crates};
use crate::{Finding, Repository};

/// Every word that sleeps, in the sources and tests of crates whose row has `none`.
#[must_use]
pub fn check(repository: &Repository) -> Vec<Finding> {
    let mut pure = crates(repository);
    pure.retain(|row| row.effects == Effects::None);
    let mut findings = Vec::new();
    for file in repository.rust_files() {
        if !pure.iter().any(|row| row.contains(&file.path)) {
            continue;
        }
        for (at, _) in file.code.match_indices("thread::sleep") {
            let message = "a pure crate takes the time as an argument; don't sleep".to_owned();
            findings.push(Finding::violation(&file.path, file.line_of(at), message));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::Repository;

    #[test]
    fn tests_of_pure_crates_do_not_sleep() {
        let page = "| layer | crate | uses | effects |\n|---|---|---|---|\n\
                    | 1 | `x` | | none |\n| 1 | `net` | | sockets |\n";
        let findings = |path: &str, text: &str| {
            check(&Repository::in_memory(&[
                ("ARCHITECTURE.md", page),
                (path, text),
            ]))
            .len()
        };
        let sleeps = "#[cfg(test)]\nmod tests { fn a() { std::thread::sleep(x) } }";
        assert_eq!(findings("crates/a/x/src/a.rs", sleeps), 1);
        assert_eq!(findings("crates/core/net/src/a.rs", sleeps), 0);
        assert_eq!(findings("crates/a/x/src/a.rs", "// thread::sleep"), 0);
    }
}
