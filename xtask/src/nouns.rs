//! The nouns of `engine` are those of the glossary: a newcomer can look up every type that one of
//! its files shows to another.

use crate::declarations::types;
use crate::{Finding, Repository, table};
use std::collections::BTreeSet;

/// The page with the terms.
const PAGE: &str = "GLOSSARY.md";
/// The crate whose types are nouns of the project's own.
const FOLDER: &str = "crates/engine/src/";
/// Suffixes of a noun: its id, and its error.
const SUFFIXES: &[&str] = &["Id", "Error"];

/// Every shared type of the crate that has no row.
#[must_use]
pub fn check(repository: &Repository) -> Vec<Finding> {
    let known = known(repository);
    let files = repository.rust_files();
    let mut found = Vec::new();
    for file in files.iter().filter(|file| file.path.starts_with(FOLDER)) {
        for item in types(file) {
            let name = item.name;
            if !item.is_shared || forms(name).iter().any(|form| known.contains(form)) {
                continue;
            }
            let message = format!("`{name}` has no row in {PAGE}: say there what it is");
            found.push(Finding::violation(&file.path, item.line, message));
        }
    }
    found
}

/// The terms and the types of the glossary's rows, in lower case and without blanks.
fn known(repository: &Repository) -> BTreeSet<String> {
    let header = ["term", "meaning", "type or field"];
    let mut known = BTreeSet::new();
    for row in table::rows(repository.text(PAGE), &header) {
        for term in row.cell(0).split(',') {
            known.insert(plain(term));
        }
        // `http1::Machine` and `Load::Open` stand for all their names.
        known.extend(
            row.code(2)
                .iter()
                .flat_map(|name| name.split("::"))
                .map(plain),
        );
    }
    known
}

/// A term as one word: letters and digits in lower case.
fn plain(text: &str) -> String {
    let letters = text.chars().filter(|c| c.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

/// A type's name as it may stand in the glossary: as it is, without such a suffix, and in the
/// singular.
fn forms(name: &str) -> Vec<String> {
    let mut forms = vec![plain(name)];
    forms.extend(
        SUFFIXES
            .iter()
            .filter_map(|end| name.strip_suffix(end))
            .map(plain),
    );
    forms.extend(name.strip_suffix('s').map(plain));
    forms
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::Repository;

    const GLOSSARY: &str = "| term | meaning | type or field | do not say |\n|---|---|---|---|\n\
        | exchange slot | x | | |\n| open model | x | `Load::Open` | |\n| user, actor | x | | |\n";

    fn found(path: &str, text: &str) -> usize {
        let files = [("GLOSSARY.md", GLOSSARY), (path, text)];
        check(&Repository::of(&files)).len()
    }

    #[test]
    fn shared_types_need_a_row() {
        let of = |text: &str| found("crates/engine/src/a.rs", text);
        for known in [
            "ExchangeSlot",
            "ExchangeSlotId",
            "Open",
            "Users",
            "UserError",
            "Actor",
        ] {
            assert_eq!(of(&format!("pub(crate) struct {known};\n")), 0, "{known}");
        }
        for unknown in ["Crowd", "Slot", "UserTable", "Us"] {
            assert_eq!(of(&format!("pub enum {unknown} {{}}\n")), 1, "{unknown}");
        }
        assert_eq!(of("struct Crowd;\n"), 0, "its file's own affair");
        assert_eq!(
            of("#[cfg(test)]\nmod tests {\n    pub(super) struct Crowd;\n}\n"),
            0
        );
        let elsewhere = found("crates/net/src/a.rs", "pub struct Crowd;\n");
        assert_eq!(elsewhere, 0);
    }
}
