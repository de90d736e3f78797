//! Every package that is used to make the program, its tests and its tools has a license that
//! deny.toml allows, either for all packages or for this one.
//!
//! If cargo-deny is installed, `make deny` checks the same and more. This check always runs.

use crate::{Finding, Repository, metadata};
use serde_json::Value;
use std::collections::BTreeSet;

/// The file with the allowed licenses.
const RULES: &str = "deny.toml";

/// Every package with another license, or without one.
#[must_use]
pub fn check(repository: &Repository) -> Vec<Finding> {
    let rules = Rules::parse(repository.text(RULES));
    match metadata::linked_packages(repository) {
        Ok(packages) => findings(&packages, &rules),
        Err(message) => vec![Finding::violation("Cargo.toml", 0, message)],
    }
}

fn findings(packages: &[Value], rules: &Rules) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in packages
        .iter()
        .filter(|package| !package["source"].is_null())
    {
        let name = package["name"].as_str().unwrap_or_default();
        let license = package["license"].as_str().unwrap_or("no license");
        if !rules.allow(name, license) {
            let message = format!("`{name}` is under {license}, which {RULES} does not allow");
            findings.push(Finding::violation(RULES, 0, message));
        }
    }
    findings
}

/// The rules of deny.toml.
#[derive(Debug, Default)]
struct Rules {
    /// The licenses that any package may have.
    allowed: BTreeSet<String>,
    /// Packages with the licenses that only they may have.
    exceptions: Vec<(String, BTreeSet<String>)>,
}

impl Rules {
    /// Reads the section `licenses`, one list after the other.
    fn parse(text: &str) -> Self {
        let section = text.split("\n[licenses]\n").nth(1).unwrap_or_default();
        let section = section.split("\n[").next().unwrap_or_default();
        let list = |name: &str| {
            let start = format!("\n{name} = [\n");
            let list = section.split(&start).nth(1).unwrap_or_default();
            list.split("\n]").next().unwrap_or_default()
        };
        let exceptions = list("exceptions").lines();
        Self {
            allowed: quoted(list("allow")).collect(),
            exceptions: exceptions
                .filter_map(|line| {
                    let mut words = quoted(line);
                    Some((words.next()?, words.collect()))
                })
                .collect(),
        }
    }

    /// Whether a package may have a license, given as an SPDX expression.
    fn allow(&self, name: &str, license: &str) -> bool {
        let own = self.exceptions.iter().filter(|(known, _)| known == name);
        let own: BTreeSet<&str> = own
            .flat_map(|(_, licenses)| licenses.iter().map(String::as_str))
            .collect();
        let is_allowed = |id: &str| self.allowed.contains(id) || own.contains(id);
        // `/` is an older notation for OR.
        let license = license
            .replace('/', " OR ")
            .replace('(', " ( ")
            .replace(')', " ) ");
        let words: Vec<&str> = license.split_whitespace().collect();
        let mut rest = &words[..];
        any(&mut rest, &is_allowed) && rest.is_empty()
    }
}

/// The texts in quotes.
fn quoted(text: &str) -> impl Iterator<Item = String> {
    let lines = text
        .lines()
        .map(|line| line.split('#').next().unwrap_or_default());
    lines
        .flat_map(|line| line.split('"').skip(1).step_by(2))
        .map(str::to_owned)
}

/// Parses `a OR b`: whether one of them is allowed.
fn any(words: &mut &[&str], is_allowed: &dyn Fn(&str) -> bool) -> bool {
    let mut is_any = all(words, is_allowed);
    while let ["OR", rest @ ..] = words {
        *words = rest;
        is_any |= all(words, is_allowed);
    }
    is_any
}

/// Parses `a AND b`: whether both are allowed.
fn all(words: &mut &[&str], is_allowed: &dyn Fn(&str) -> bool) -> bool {
    let mut are_all = one(words, is_allowed);
    while let ["AND", rest @ ..] = words {
        *words = rest;
        are_all &= one(words, is_allowed);
    }
    are_all
}

/// Parses a license, optionally with an exception that only grants more, or an expression in
/// parentheses.
fn one(words: &mut &[&str], is_allowed: &dyn Fn(&str) -> bool) -> bool {
    match words {
        ["(", rest @ ..] => {
            *words = rest;
            let is_allowed = any(words, is_allowed);
            match words {
                [")", rest @ ..] => *words = rest,
                _ => return false,
            }
            is_allowed
        }
        [id, "WITH", _, rest @ ..] | [id, rest @ ..] => {
            *words = rest;
            is_allowed(id)
        }
        [] => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const DENY: &str = "[graph]\n\n[licenses]\ninclude-dev = true # tests\nallow = [\n  \"MIT\",\n  \
                        \"Apache-2.0\", # \"GPL-3.0\"\n]\n# Why.\nexceptions = [\n  \
                        { crate = \"odd\", allow = [\"MPL-2.0\"] },\n]\n\n[bans]\nallow = [\n  \"X\",\n]\n";

    #[test]
    fn a_license_is_one_that_is_allowed() {
        let rules = Rules::parse(DENY);
        for (name, license, allowed) in [
            ("a", "MIT", true),
            ("a", "MIT OR GPL-3.0", true),
            ("a", "GPL-3.0/MIT", true),
            ("a", "MIT AND GPL-3.0", false),
            ("a", "(MIT OR X) AND Apache-2.0", true),
            ("a", "Apache-2.0 WITH LLVM-exception OR GPL-2.0", true),
            ("a", "(MIT", false),
            ("a", "MPL-2.0", false),
            ("odd", "MPL-2.0", true),
            ("a", "X", false),
            ("a", "", false),
        ] {
            assert_eq!(rules.allow(name, license), allowed, "{name} {license}");
        }
    }

    #[test]
    fn packages_of_others_are_looked_at() {
        let package = |name: &str, license: Value, source: Value| json!({"name": name, "license": license, "source": source});
        let packages = [
            package("own", Value::Null, Value::Null),
            package("good", "MIT".into(), "registry".into()),
            package("bad", "GPL-3.0".into(), "registry".into()),
            package("none", Value::Null, "registry".into()),
        ];
        let found = findings(&packages, &Rules::parse(DENY));
        let found: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].contains("`bad` is under GPL-3.0"));
        assert!(found[1].contains("`none` is under no license"));
    }
}
