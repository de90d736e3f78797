//! One term, one word: identifiers avoid the words that GLOSSARY.md replaces.

use crate::{Finding, Repository, RustFile, table};

/// The page with the list.
const PAGE: &str = "GLOSSARY.md";
/// Dialects use another tool's terms, so these are correct there.
const FOREIGN: &str = "crates/compat/dialects/";

/// Every identifier outside the dialects that contains a forbidden word.
#[must_use]
pub fn check(repository: &Repository) -> Vec<Finding> {
    let banned = banned(repository);
    if banned.is_empty() {
        let message = "the column `not in identifiers` has no words in backticks".to_owned();
        return vec![Finding::violation(PAGE, 0, message)];
    }
    let files = repository.rust_files();
    files
        .iter()
        .filter(|file| !file.path.starts_with(FOREIGN))
        .flat_map(|file| findings(file, &banned))
        .collect()
}

/// A forbidden word, and the term to use.
struct Banned<'a> {
    word: &'a str,
    term: &'a str,
}

/// The words in backticks in the last column of the glossary's table of words to avoid.
fn banned(repository: &Repository) -> Vec<Banned<'_>> {
    let header = ["use", "not in identifiers"];
    let mut all = Vec::new();
    for row in table::rows(repository.text(PAGE), &header) {
        let term = row.cell(0);
        all.extend(row.code(1).into_iter().map(|word| Banned { word, term }));
    }
    all
}

fn findings(file: &RustFile, banned: &[Banned<'_>]) -> Vec<Finding> {
    let mut found = Vec::new();
    let stem = file.path.strip_suffix(".rs").unwrap_or(&file.path);
    let name = stem.rsplit('/').next().unwrap_or(stem);
    for (at, identifier) in file
        .words()
        .map(|(at, word)| (Some(at), word))
        .chain([(None, name)])
    {
        for part in parts(identifier) {
            if let Some(Banned { word, term }) = banned.iter().find(|b| b.word == part) {
                let line = at.map_or(0, |at| file.line_of(at));
                let message =
                    format!("`{identifier}` contains `{word}`; GLOSSARY.md has \"{term}\"");
                found.push(Finding::violation(&file.path, line, message));
            }
        }
    }
    found
}

/// The words of an identifier, in lower case: `HeadCache_hits` is `head`, `cache`, `hits`.
fn parts(identifier: &str) -> Vec<String> {
    let mut parts = Vec::new();
    for piece in identifier.split('_') {
        let mut start = 0;
        let bytes = piece.as_bytes();
        for at in 1..bytes.len() {
            if bytes[at].is_ascii_uppercase() && !bytes[at - 1].is_ascii_uppercase() {
                parts.push(piece[start..at].to_lowercase());
                start = at;
            }
        }
        if start < piece.len() {
            parts.push(piece[start..].to_lowercase());
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::{check, parts};
    use crate::Repository;

    const GLOSSARY: &str = "| use | not in identifiers |\n|---|---|\n| request | call, `hit` |\n";

    #[test]
    fn identifiers_are_split_into_words() {
        assert_eq!(parts("snake_case"), ["snake", "case"]);
        assert_eq!(parts("CamelCase"), ["camel", "case"]);
        assert_eq!(parts("MAX_HIT"), ["max", "hit"]);
        assert_eq!(parts("_x"), ["x"]);
    }

    #[test]
    fn banned_words_are_found_in_names_and_not_in_texts() {
        let findings = |path: &str, text: &str| {
            let files = [("GLOSSARY.md", GLOSSARY), (path, text)];
            check(&Repository::in_memory(&files)).len()
        };
        assert_eq!(findings("crates/x/src/a.rs", "fn cache_hit() {}"), 1);
        assert_eq!(findings("crates/x/src/a.rs", "struct HitRate;"), 1);
        assert_eq!(findings("crates/x/src/hit.rs", ""), 1);
        assert_eq!(
            findings("crates/x/src/a.rs", "fn white() { \"hit\" } // hit"),
            0
        );
        assert_eq!(
            findings("crates/compat/dialects/src/a.rs", "fn hit() {}"),
            0
        );
    }

    #[test]
    fn a_glossary_without_banned_words_is_an_error() {
        assert_eq!(check(&Repository::in_memory(&[])).len(), 1);
    }
}
