//! Every crate's documentation contains what the crate knows, what it must not know, and where to
//! start reading.

use crate::{Finding, Repository};

/// The phrases that a library's first lines must contain, in lower case. What a crate knows can be
/// phrased in too many ways to search for it.
const SENTENCES: &[&str] = &["must not know", "start reading"];

/// Every `lib.rs` without these phrases, and every `main.rs` without documentation.
#[must_use]
pub fn check(repository: &Repository) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in repository.ending("/src/lib.rs") {
        // Line breaks may be anywhere in a phrase.
        let words: Vec<&str> = docs(text).flat_map(str::split_whitespace).collect();
        let docs = words.join(" ").to_lowercase();
        for sentence in SENTENCES.iter().filter(|s| !docs.contains(**s)) {
            let message = format!("the crate's `//!` lines lack \"{sentence} …\"");
            findings.push(Finding::violation(path, 1, message));
        }
    }
    for (path, text) in repository.ending("/src/main.rs") {
        if docs(text).next().is_none() {
            let message = "starts without `//!` lines that say what the program does".to_owned();
            findings.push(Finding::violation(path, 1, message));
        }
    }
    findings
}

/// The `//!` lines at the start of a file.
fn docs(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map_while(|line| line.strip_prefix("//!"))
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::Repository;

    #[test]
    fn every_sentence_is_needed() {
        let findings =
            |text: &str| check(&Repository::in_memory(&[("crates/x/src/lib.rs", text)])).len();
        let docs = "//! X.\n//!\n//! Knows a. Must\n//! not know b. Start reading at c.\n";
        assert_eq!(findings(docs), 0);
        assert_eq!(findings("//! X. Start reading at c.\n"), 1);
        assert_eq!(findings(&format!("mod a;\n{docs}")), 2);
    }
}
