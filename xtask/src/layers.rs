//! Crates depend downwards: compares the workspace according to cargo with ARCHITECTURE.md's table.

use crate::architecture::{CrateRow, DEVELOPMENT, PAGE, crates};
use crate::{Finding, Repository, metadata};
use serde_json::Value;

/// Crates of any layer that all tests may use.
const FOR_TESTS: &[&str] = &["testkit", "corpus"];

/// Compares the table with `cargo metadata`.
#[must_use]
pub fn check(repository: &Repository) -> Vec<Finding> {
    match metadata::packages(repository) {
        Ok(packages) => {
            let members: Vec<Member> = packages.iter().map(member).collect();
            compare(&crates(repository), &members)
        }
        Err(message) => vec![Finding::violation("Cargo.toml", 0, message)],
    }
}

/// A crate of the workspace according to cargo; crates are named by their folders.
#[derive(Debug)]
struct Member {
    name: String,
    /// The dependencies of the crate itself, including build dependencies.
    uses: Vec<String>,
    /// The dependencies of its tests only.
    tests_use: Vec<String>,
}

fn member(package: &Value) -> Member {
    let manifest = package["manifest_path"].as_str().unwrap_or("");
    let mut member = Member {
        name: last_folder(manifest.trim_end_matches("/Cargo.toml")),
        uses: Vec::new(),
        tests_use: Vec::new(),
    };
    for dependency in package["dependencies"].as_array().into_iter().flatten() {
        // Only crates of the workspace have a path.
        if let Some(path) = dependency["path"].as_str() {
            let list = match dependency["kind"].as_str() {
                Some("dev") => &mut member.tests_use,
                _ => &mut member.uses,
            };
            list.push(last_folder(path));
        }
    }
    member
}

fn last_folder(path: &str) -> String {
    path.rsplit('/').next().unwrap_or(path).to_owned()
}

/// Every difference between the table and the workspace, and every arrow that points up.
fn compare(rows: &[CrateRow<'_>], members: &[Member]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, row) in rows.iter().enumerate() {
        findings.extend(arrows_up(row, &rows[..index], rows));
        if !members.iter().any(|member| member.name == row.name) {
            let message = format!("`{}` is not a crate of the workspace", row.name);
            findings.push(Finding::violation(PAGE, row.line, message));
        }
    }
    for member in members {
        match rows.iter().find(|row| row.name == member.name) {
            Some(row) => findings.extend(differences(row, member, rows)),
            None => {
                let message = format!("the crate `{}` has no row in the table", member.name);
                findings.push(Finding::violation(PAGE, 0, message));
            }
        }
    }
    findings
}

/// The uses of a row that do not point down. Within layer 0, a crate may use the crates above it in
/// the table.
fn arrows_up(row: &CrateRow<'_>, above: &[CrateRow<'_>], all: &[CrateRow<'_>]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let Some(layer) = row.layer else {
        let message = format!("`{}` needs a layer: a number or `dev`", row.name);
        return vec![Finding::violation(PAGE, row.line, message)];
    };
    for used in &row.uses {
        let lower = layer_of(used, all).is_some_and(|other| other < layer);
        let development = layer == DEVELOPMENT && layer_of(used, all).is_some();
        let foundation = layer == 0 && above.iter().any(|other| other.name == *used);
        if !(lower || development || foundation) {
            let message = format!(
                "`{}` may not use `{used}`: that is no lower layer",
                row.name
            );
            findings.push(Finding::violation(PAGE, row.line, message));
        }
    }
    findings
}

fn layer_of(name: &str, rows: &[CrateRow<'_>]) -> Option<u32> {
    rows.iter().find(|row| row.name == name)?.layer
}

/// Dependencies that are in a manifest but not in its row, and the reverse, and forbidden
/// dependencies of its tests.
fn differences(row: &CrateRow<'_>, member: &Member, rows: &[CrateRow<'_>]) -> Vec<Finding> {
    let name = row.name;
    let mut findings = Vec::new();
    for used in &member.uses {
        if !row.uses.contains(&used.as_str()) {
            let message = format!("`{name}` uses `{used}`, which its row does not list");
            findings.push(Finding::violation(PAGE, row.line, message));
        }
    }
    for used in &row.uses {
        if !member.uses.iter().any(|other| other == used) {
            let message = format!("`{name}` does not use `{used}`; take it out");
            findings.push(Finding::violation(PAGE, row.line, message));
        }
    }
    for used in &member.tests_use {
        let lower = layer_of(used, rows) < row.layer;
        if !lower && !FOR_TESTS.contains(&used.as_str()) {
            let message = format!("the tests of `{name}` may not use `{used}`: no lower layer");
            findings.push(Finding::violation(PAGE, row.line, message));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::{Member, compare};
    use crate::Repository;
    use crate::architecture::{PAGE, crates};

    const PAGE_TEXT: &str = "| layer | crate | uses | effects |\n|---|---|---|---|\n\
        | 0 | `units` | | none |\n| 0 | `plan` | `units` | none |\n\
        | 1 | `net` | `units` | sockets |\n| dev | `testkit` | `plan` | none |\n";

    fn findings(page: &str, members: &[(&str, &[&str], &[&str])]) -> Vec<String> {
        let own = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let members: Vec<Member> = members
            .iter()
            .map(|(name, uses, tests_use)| Member {
                name: (*name).to_owned(),
                uses: own(uses),
                tests_use: own(tests_use),
            })
            .collect();
        let repository = Repository::in_memory(&[(PAGE, page)]);
        let found = compare(&crates(&repository), &members);
        found.into_iter().map(|finding| finding.message).collect()
    }

    /// The findings for a small workspace, with these dependencies of `net`.
    fn with_net(uses: &[&str], tests_use: &[&str]) -> Vec<String> {
        let members: &[(&str, &[&str], &[&str])] = &[
            ("units", &[], &[]),
            ("plan", &["units"], &["testkit"]),
            ("net", uses, tests_use),
            ("testkit", &["plan"], &[]),
        ];
        findings(PAGE_TEXT, members)
    }

    #[test]
    fn the_table_and_the_workspace_agree() {
        assert!(with_net(&["units"], &[]).is_empty());
        assert!(with_net(&["units"], &["plan", "testkit"]).is_empty());
    }

    #[test]
    fn an_edge_must_be_listed_and_a_listed_edge_must_exist() {
        let unlisted = with_net(&["units", "plan"], &[]);
        assert_eq!(unlisted.len(), 1, "{unlisted:?}");
        assert!(unlisted[0].contains("uses `plan`"), "{unlisted:?}");
        let stale = with_net(&[], &[]);
        assert!(stale[0].contains("does not use `units`"), "{stale:?}");
    }

    #[test]
    fn tests_may_not_use_their_own_layer() {
        let found = with_net(&["units"], &["net"]);
        assert!(
            found[0].contains("tests of `net` may not use `net`"),
            "{found:?}"
        );
    }

    #[test]
    fn an_arrow_may_not_point_up() {
        let page = PAGE_TEXT.replace("| `units` | | none", "| `units` | `net` | none");
        let found = findings(&page, &[]);
        assert!(
            found.iter().any(|f| f.contains("may not use `net`")),
            "{found:?}"
        );
    }

    #[test]
    fn every_crate_has_a_row_and_every_row_a_crate() {
        let found = findings(PAGE_TEXT, &[("web", &[], &[])]);
        assert!(found.iter().any(|f| f.contains("`web` has no row")));
        assert!(found.iter().any(|f| f.contains("`plan` is not a crate")));
    }
}
