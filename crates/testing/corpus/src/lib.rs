//! The conformance cases of HTTP/1.1: valid and invalid responses as sent, each with the outcome
//! that a client must report.
//!
//! Knows the form of a case file (`conformance/http1/README.md`), and the files, which it embeds:
//! tests replay them, and the built-in target serves them by name. Must not know how responses are
//! parsed. Start reading at [`Case`].

mod case;
mod files;
mod parse;

pub use case::{Case, Expected, Piece, Request, StreamEnd};
pub use parse::CaseError;

/// All cases, in order of their names.
#[must_use]
pub fn all() -> Vec<Case> {
    names().filter_map(find).collect()
}

/// The case with this name, such as `45-excess`.
#[must_use]
pub fn find(name: &str) -> Option<Case> {
    let (name, text) = files::FILES.iter().find(|(known, _)| *known == name)?;
    // A test parses every embedded file, so parsing does not fail here.
    Case::parse(name, text).ok()
}

/// The names of all cases, in order.
pub fn names() -> impl Iterator<Item = &'static str> {
    files::FILES.iter().map(|(name, _)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_file_is_embedded_and_parses() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../conformance/http1");
        let mut present = BTreeSet::new();
        for entry in std::fs::read_dir(folder).expect("the folder of the cases") {
            let file = entry
                .expect("an entry")
                .file_name()
                .into_string()
                .expect("a name in UTF-8");
            present.extend(file.strip_suffix(".case").map(str::to_owned));
        }
        let embedded: BTreeSet<String> = names().map(str::to_owned).collect();
        assert_eq!(present, embedded, "list every file in files.rs");
        for (name, text) in files::FILES {
            if let Err(error) = Case::parse(name, text) {
                panic!("{name}: {error}");
            }
        }
        assert_eq!(all().len(), files::FILES.len());
    }

    #[test]
    fn the_table_of_82_is_whole() {
        let numbers: BTreeSet<&str> = names().filter_map(|name| name.split('-').next()).collect();
        for number in 0..82 {
            assert!(
                numbers.contains(format!("{number:02}").as_str()),
                "case {number:02} is missing"
            );
        }
    }
}
