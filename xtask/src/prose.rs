//! Comments name their subjects: advice for the words that STYLE.md's law on clauses lists.

use crate::{Finding, Repository};

/// Words and phrases that leave the noun or the mechanism to the reader.
const HIDING: [&str; 8] = [
    "nobody",
    "somebody",
    "everybody",
    "whoever",
    "so often",
    "what is wrong",
    "is told",
    "are told",
];
/// The beginning of a doc comment without a noun.
const HEADLESS: [&str; 3] = ["What ", "Who ", "So many "];

/// Every line of a comment with such a clause.
#[must_use]
pub fn check(repository: &Repository) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in repository.rust_files() {
        let lines = repository.text(&file.path).lines().map(str::trim_start);
        for (line, text) in lines.enumerate() {
            if let Some(clause) = text.starts_with("//").then(|| clause(text)).flatten() {
                let message = format!("line {}: \"{clause}\"; name the subject", line + 1);
                findings.push(Finding::advice(&file.path, line + 1, message));
            }
        }
    }
    findings
}

/// The first such clause of a comment's line.
fn clause(line: &str) -> Option<&'static str> {
    let doc = ["/// ", "//! "]
        .into_iter()
        .find_map(|sign| line.strip_prefix(sign));
    let begins = |word: &&&str| doc.is_some_and(|text| text.starts_with(**word));
    let lower = line.to_lowercase();
    let holds = |word: &&&str| {
        lower.match_indices(**word).any(|(at, word)| {
            let letter = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
            let (before, after) = (&lower[..at], &lower[at + word.len()..]);
            !letter(before.chars().next_back()) && !letter(after.chars().next())
        })
    };
    let found = HEADLESS.iter().find(begins);
    found.or_else(|| HIDING.iter().find(holds)).copied()
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::{Repository, Severity};

    #[test]
    fn clauses_without_a_noun_are_found() {
        for (text, expected) in [
            ("/// What came of it.\n", Some("What ")),
            ("// Then what came of it is known.\n", None),
            ("    // Nobody reads it.\n", Some("nobody")),
            ("/// The peer that is told.\n", Some("is told")),
            ("/// Nobodyish.\n", None),
            ("let text = \"nobody\";\n", None),
            ("/// The number of bytes.\n", None),
        ] {
            let findings = check(&Repository::of(&[("crates/x/src/a.rs", text)]));
            let found = findings.first().map(|finding| {
                assert_eq!((finding.severity, finding.line), (Severity::Advice, 1));
                finding.message.split('"').nth(1).unwrap()
            });
            assert_eq!(found, expected, "{text}");
        }
    }
}
