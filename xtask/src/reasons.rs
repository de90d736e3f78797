//! Every external dependency has its reason next to it in the root's Cargo.toml.

use crate::{Finding, Repository};

/// The manifest with the list.
const MANIFEST: &str = "Cargo.toml";
/// The start of the list.
const SECTION: &str = "[workspace.dependencies]";
/// The minimum number of words of a reason; a shorter comment is a heading.
const WORDS_MIN: usize = 3;

/// Every line of the list that has a comment neither at its end nor above it in the same paragraph.
/// A line with a trailing comment ends the scope of the comment above.
#[must_use]
pub fn check(repository: &Repository) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut inside = false;
    let mut reason_above = false;
    for (index, line) in repository.text(MANIFEST).lines().enumerate() {
        if line.starts_with('[') {
            inside = line == SECTION;
        } else if line.is_empty() {
            reason_above = false;
        } else if line.starts_with('#') {
            reason_above = is_reason(line);
        } else if inside && !line.starts_with("drumfire-") {
            let comment = line.split_once(" #").map_or("", |(_, comment)| comment);
            if is_reason(comment) {
                reason_above = false;
            } else if !reason_above {
                let name = line.split_whitespace().next().unwrap_or(line);
                let message = format!("`{name}` needs a comment that says why we depend on it");
                findings.push(Finding::violation(MANIFEST, index + 1, message));
            }
        }
    }
    findings
}

fn is_reason(comment: &str) -> bool {
    let words = comment.trim_start_matches('#').split_whitespace();
    words.count() >= WORDS_MIN
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::Repository;

    #[test]
    fn a_heading_is_no_reason() {
        let findings = |list: &str| {
            let text = format!("[workspace.dependencies]\n{list}\n[profile.dev]\nx = 1\n");
            check(&Repository::in_memory(&[("Cargo.toml", &text)])).len()
        };
        assert_eq!(findings("a = \"1\" # it parses what we can't"), 0);
        assert_eq!(
            findings("# Both decode what servers send.\na = \"1\"\nb = \"1\""),
            0
        );
        assert_eq!(
            findings(
                "# Both decode what servers send.\na = \"1\"\nb = \"1\" # it speaks for itself\nc = \"1\""
            ),
            1
        );
        assert_eq!(findings("# Control plane.\na = \"1\""), 1);
        assert_eq!(findings("# Why we need it here.\n\na = \"1\""), 1);
        assert_eq!(findings("drumfire-x = { path = \"x\" }"), 0);
    }
}
