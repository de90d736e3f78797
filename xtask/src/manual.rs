//! The manual repeats lists of the program: outcomes and leniencies. It repeats them exactly.

use crate::{Finding, Repository, table};
use drumfire_measure::{Leniency, Outcome};

/// The page on how an exchange ends.
const OUTCOMES: &str = "docs/manual/outcomes.md";

/// Every name that only one of the two has, and every blame that differs.
#[must_use]
pub fn check(repository: &Repository) -> Vec<Finding> {
    let page = repository.text(OUTCOMES);
    let outcomes = Outcome::ALL.iter().map(|outcome| {
        let blame = outcome.blame().map_or("—", |blame| blame.name());
        (outcome.name(), blame)
    });
    let leniencies = Leniency::ALL.iter().map(|leniency| (leniency.name(), ""));
    let mut findings = compare(page, &["outcome", "blame"], &outcomes.collect::<Vec<_>>());
    findings.extend(compare(
        page,
        &["leniency"],
        &leniencies.collect::<Vec<_>>(),
    ));
    findings
}

/// Compares a table's first column with the names, and its second with what belongs to each;
/// an empty text compares with nothing.
fn compare(page: &str, header: &[&str], expected: &[(&str, &str)]) -> Vec<Finding> {
    let rows = table::rows(page, header);
    let mut findings = Vec::new();
    for (name, second) in expected {
        let Some(row) = rows.iter().find(|row| row.code(0) == [*name]) else {
            let message = format!("the table `{}` lacks `{name}`", header[0]);
            findings.push(Finding::violation(OUTCOMES, 0, message));
            continue;
        };
        if !second.is_empty() && row.cell(1) != *second {
            let message = format!("`{name}` belongs to {second}, not to {}", row.cell(1));
            findings.push(Finding::violation(OUTCOMES, row.line, message));
        }
    }
    for row in &rows {
        let known = |name: &&str| expected.iter().any(|(other, _)| other == name);
        if !row.code(0).first().is_some_and(known) {
            let message = format!("{} is no {} of the program", row.cell(0), header[0]);
            findings.push(Finding::violation(OUTCOMES, row.line, message));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::compare;

    #[test]
    fn a_missing_a_surplus_and_a_differing_row_are_found() {
        let page = "| outcome | blame |\n|---|---|\n| `a` | plan |\n| `b` | target |\n";
        let findings = |expected: &[(&str, &str)]| compare(page, &["outcome"], expected).len();
        assert_eq!(findings(&[("a", "plan"), ("b", "target")]), 0);
        assert_eq!(findings(&[("a", "plan"), ("b", "network")]), 1);
        assert_eq!(findings(&[("a", "plan")]), 1);
        assert_eq!(findings(&[("a", "plan"), ("b", ""), ("c", "")]), 1);
    }
}
