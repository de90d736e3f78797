//! Pure crates stay pure: crates whose row has `none` import nothing with effects.

use crate::architecture::{Effects, crates};
use crate::{Finding, Repository};

/// Crates that exist for their effects. `serde`, `rustls` and similar crates only compute.
const WORLDLY: &[&str] = &[
    "async-std",
    "libc",
    "mio",
    "nix",
    "polling",
    "rand",
    "rustix",
    "rustls-native-certs",
    "signal-hook",
    "smol",
    "socket2",
    "tokio",
    "ureq",
];

/// Every such dependency in the manifest of a crate without effects, except for its tests.
#[must_use]
pub fn check(repository: &Repository) -> Vec<Finding> {
    let mut findings = Vec::new();
    for row in crates(repository) {
        let manifests = repository.ending("/Cargo.toml");
        for (path, text) in manifests.filter(|(path, _)| row.contains(path)) {
            if row.effects == Effects::None {
                findings.extend(worldly(path, text));
            }
        }
    }
    findings
}

fn worldly(path: &str, manifest: &str) -> Vec<Finding> {
    let mut section = "";
    let mut findings = Vec::new();
    for (index, line) in manifest.lines().enumerate() {
        if line.starts_with('[') {
            section = line.trim();
        }
        let name_end = line.find(|c: char| !(c.is_alphanumeric() || "-_".contains(c)));
        let name = &line[..name_end.unwrap_or(line.len())];
        if !section.contains("dev-dependencies") && WORLDLY.contains(&name) {
            let message = format!("`{name}` touches the world, and this crate may not");
            findings.push(Finding::violation(path, index + 1, message));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::Repository;

    #[test]
    fn only_pure_crates_are_held_to_it_and_their_tests_are_not() {
        let findings = |effects: &str, manifest: &str| {
            let page = format!(
                "| layer | crate | uses | effects |\n|---|---|---|---|\n| 1 | `x` | | {effects} |\n"
            );
            let files = [
                ("ARCHITECTURE.md", page.as_str()),
                ("crates/a/x/Cargo.toml", manifest),
            ];
            check(&Repository::in_memory(&files)).len()
        };
        let dependency = "[dependencies]\nrustix.workspace = true\n";
        assert_eq!(findings("none", dependency), 1);
        assert_eq!(findings("sockets", dependency), 0);
        assert_eq!(findings("none", "[dev-dependencies]\nmio = \"1\"\n"), 0);
        assert_eq!(findings("none", "[dependencies]\nmiow = \"1\"\n"), 0);
    }
}
