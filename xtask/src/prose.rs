//! Plain English: finds the patterns that STYLE.md's rules of language forbid, in texts for users.
//!
//! Texts for users are the pages of documentation, the string literals of the program, and the doc
//! comments of its flags, which are the help. Every line with a pattern counts. [`ALLOWED`] has the
//! number of such lines per file, and that number must only fall. In other comments, a pattern is
//! advice.

use crate::mask::strings;
use crate::{Finding, Repository};
use regex::Regex;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The files with such lines, and their numbers: quotations and names of other tools' texts.
const ALLOWED: &[(&str, usize)] = &[];

/// Words that hide the subject or the verb.
static PATTERN: LazyLock<Regex> = LazyLock::new(|| {
    let patterns = [
        r"\b(of whom|whoever|whatever|nobody|no one|somebody|everybody)\b",
        r"\bwhat (is|was|are|were|has|have|had|comes|came|lies|stands|goes|went|ends|does) ",
        r"\b(is|are|was|were) told\b",
        r"\b(is|are|has|have) none\b",
        r"\bis no [a-z]",
        r"\b(goes|go|going|went|gone) on\b",
        r"\bin place of\b",
        r"\bbeneath\b",
        r"\banew\b",
        r"(?-i:\b(That|Those) of )",
        r"(^|[.;:] )of (which|whom|these|those|several|many)\b",
        r"\b(stands|lies) (in|at|beside|there|behind|with|on|for|before)\b",
        r"\b(be|is|was) had\b",
        r"\bso (many|often)\b",
        r"\bthe greatest\b",
        r"\b(is|are) gone\b",
        r"\b(says|say|said|tells|tell) (what|how|which|who|where|so|nothing|no)\b",
        r"\bof its own\b",
        r"\bbehind (it|them|the|a|each|its)\b",
        r"^(?-i:The same|So is|And so)\b",
    ];
    #[expect(
        clippy::unwrap_used,
        reason = "the patterns are constants, and a test compiles them"
    )]
    Regex::new(&format!("(?i){}", patterns.join("|"))).unwrap()
});

/// Every line with a pattern in a text for users, in files where their number differs from the
/// allowed one.
#[must_use]
pub fn check(repository: &Repository) -> Vec<Finding> {
    against(repository, &ALLOWED.iter().copied().collect())
}

fn against(repository: &Repository, allowed: &BTreeMap<&str, usize>) -> Vec<Finding> {
    let mut found = pages(repository);
    let mut comments = Vec::new();
    for file in repository.rust_files() {
        let text = repository.text(&file.path);
        comments.extend(in_comments(&file.path, text));
        if file.path.starts_with("crates/") && file.path.contains("/src/") {
            let lines = in_literals(text)
                .into_iter()
                .chain(in_help(&file.path, text));
            let lines: Vec<_> = lines.filter(|row| !file.is_test_line(row.line)).collect();
            found.insert(file.path, lines);
        }
    }
    let mut findings = Vec::new();
    for (path, matches) in &found {
        let may = allowed.get(path.as_str()).copied().unwrap_or(0);
        if matches.len() > may {
            findings.extend(matches.iter().map(|row| {
                let message = format!(
                    "\"{}\": write plain English (STYLE.md, Language)",
                    row.words
                );
                Finding::violation(path, row.line, message)
            }));
        } else if matches.len() < may {
            let message = format!(
                "{may} lines are allowed and {} are there; lower the number",
                matches.len()
            );
            findings.push(Finding::violation(path, 0, message));
        }
    }
    findings.extend(comments);
    findings
}

/// A pattern and its line, from 1.
struct PatternMatch {
    line: usize,
    words: String,
}

impl PatternMatch {
    fn find(line: usize, text: &str) -> Option<Self> {
        PATTERN.find(text).map(|found| Self {
            line,
            words: found.as_str().trim().to_owned(),
        })
    }
}

/// The matches in the pages for users, by page.
fn pages(repository: &Repository) -> BTreeMap<String, Vec<PatternMatch>> {
    let folders = ["docs/guide/", "docs/manual/", "docs/dialects/", "examples/"];
    let single = [
        "README.md",
        "CONTRIBUTING.md",
        "GLOSSARY.md",
        "docs/install.md",
        "docs/truth.md",
    ];
    let is_page = |path: &str| {
        folders.iter().any(|folder| path.starts_with(folder)) || single.contains(&path)
    };
    let pages = repository.ending(".md").filter(|(path, _)| is_page(path));
    let matches = |text: &str| {
        let lines = text.lines().enumerate();
        lines
            .filter_map(|(at, line)| PatternMatch::find(at + 1, line))
            .collect()
    };
    pages
        .map(|(path, text)| (path.to_owned(), matches(text)))
        .collect()
}

/// The matches in string literals, except for reasons of lint exceptions, which are for developers.
fn in_literals(text: &str) -> Vec<PatternMatch> {
    let mut matches = Vec::new();
    for place in strings(text) {
        let before = text[..place.start].trim_end();
        if before.ends_with("reason =") || before.ends_with(".expect(") {
            continue;
        }
        let line = text[..place.start].matches('\n').count() + 1;
        // A backslash at the end of a line joins it with the next line.
        let literal = text[place].replace("\\\n", "\0");
        let joined: String = literal.split('\0').map(str::trim_start).collect();
        matches.extend(PatternMatch::find(line, joined.trim_start_matches('"')));
    }
    matches
}

/// The matches in the help: the doc comments of flags.
fn in_help(path: &str, text: &str) -> Vec<PatternMatch> {
    if !path.starts_with("crates/app/cli/src/flags") {
        return Vec::new();
    }
    let docs = text.lines().enumerate().filter_map(|(at, line)| {
        let doc = line.trim_start().strip_prefix("/// ")?;
        PatternMatch::find(at + 1, doc)
    });
    docs.collect()
}

/// Advice on comments.
fn in_comments(path: &str, text: &str) -> Vec<Finding> {
    let lines = text.lines().map(str::trim_start).enumerate();
    let matches = lines.filter_map(|(at, line)| {
        let comment = line.strip_prefix("//")?.trim_start_matches(['/', '!', ' ']);
        PatternMatch::find(at + 1, comment)
    });
    let advice = matches.map(|row| {
        let message = format!("line {}: \"{}\"; name the subject", row.line, row.words);
        Finding::advice(path, row.line, message)
    });
    advice.collect()
}

#[cfg(test)]
mod tests {
    use super::against;
    use crate::{Repository, Severity};
    use std::collections::BTreeMap;

    /// The words found in a file, and whether they fail the tests.
    fn found(path: &str, text: &str, allowed: usize) -> Vec<(usize, Severity, String)> {
        let allowed = BTreeMap::from([(path, allowed)]);
        let findings = against(&Repository::in_memory(&[(path, text)]), &allowed);
        let words = |message: &str| message.split('"').nth(1).unwrap_or("-").to_owned();
        let rows = findings
            .iter()
            .map(|finding| (finding.line, finding.severity, words(&finding.message)));
        rows.collect()
    }

    #[test]
    fn patterns_are_found_in_texts_for_users_and_advised_on_in_comments() {
        use Severity::{Advice, Violation};
        let source = "crates/x/src/a.rs";
        let flags = "crates/app/cli/src/flags/http.rs";
        for (path, text, expected) in [
            (
                source,
                "/// What is it for.\n",
                Some((1, Advice, "What is")),
            ),
            (
                source,
                "    // Nobody, so nobody reads it.\n",
                Some((1, Advice, "Nobody")),
            ),
            (source, "/// Nobodyish.\n", None),
            (
                source,
                "\n let x = \"the run goes on\";\n",
                Some((2, Violation, "goes on")),
            ),
            (
                source,
                "let x = \"it is \\\n    no flag\";\n",
                Some((1, Violation, "is no f")),
            ),
            (
                source,
                "#[expect(dead_code, reason = \"nobody uses it\")]\n",
                None,
            ),
            (source, "let x = \"there are no flags\";\n", None),
            (
                source,
                "#[cfg(test)]\nmod tests {\n    const X: &str = \"nobody\";\n}\n",
                None,
            ),
            (
                flags,
                "    /// In place of the text\n",
                Some((1, Violation, "In place of")),
            ),
            (
                "docs/manual/a.md",
                "Lines.\nThose of a pool.\n",
                Some((2, Violation, "Those of")),
            ),
            ("docs/notes.md", "Those of a pool.\n", None),
        ] {
            let rows = found(path, text, 0);
            let first = rows
                .first()
                .map(|(line, severity, words)| (*line, *severity, words.as_str()));
            assert_eq!(first, expected, "{text}");
        }
        let help = found(flags, "    /// A rate in place of users\n", 0);
        assert_eq!(help[0], (1, Violation, "in place of".to_owned()));
    }

    #[test]
    fn a_files_number_of_such_lines_only_falls() {
        let text = "Nobody and nobody.\nanew\n";
        assert_eq!(found("README.md", text, 2).len(), 0);
        assert_eq!(found("README.md", text, 1).len(), 2);
        assert_eq!(found("README.md", text, 3)[0].2, "-");
    }
}
