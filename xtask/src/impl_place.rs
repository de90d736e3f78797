//! A type's `impl` blocks lie in its own file, or in files of the folder beneath it: what lies
//! elsewhere can't own a part of its state.

use crate::declarations::types;
use crate::{Finding, Repository, RustFile};
use std::collections::BTreeMap;

/// Files that hold another file's `impl`, to be emptied: a file and a type. None may be added; one
/// that is not needed any more must be taken out.
const EXCEPTIONS: &[(&str, &str)] = &[
    // Files beside the one of their type that belong into its folder.
    ("crates/corpus/src/parse.rs", "Case"),
    ("crates/corpus/src/parse.rs", "Expected"),
    ("crates/measure/src/encoding.rs", "Histogram"),
    ("crates/measure/src/histogram_codec.rs", "Histogram"),
    ("crates/measure/src/quantile.rs", "Histogram"),
    ("crates/plan/src/check.rs", "Load"),
    ("crates/plan/src/law_text.rs", "Law"),
    ("crates/plan/src/law_text.rs", "Sequence"),
    ("crates/plan/src/reference.rs", "Url"),
    ("crates/target/src/carry.rs", "Driver"),
];

/// Every inherent `impl` outside tests that lies neither in the file of its type nor beneath it,
/// and every exception that is none.
#[must_use]
pub fn check(repository: &Repository) -> Vec<Finding> {
    findings(repository, EXCEPTIONS)
}

fn findings(repository: &Repository, exceptions: &[(&str, &str)]) -> Vec<Finding> {
    let files = repository.rust_files();
    // Where types of each name are declared in each crate; several modules may use one name.
    let mut homes: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
    for file in &files {
        for item in types(file) {
            let key = (source_folder(&file.path), item.name);
            homes.entry(key).or_default().push(module(&file.path));
        }
    }
    let mut found = Vec::new();
    let mut needed = Vec::new();
    for file in &files {
        let own = module(&file.path);
        for (line, name) in inherent_impls(file) {
            let Some(homes) = homes.get(&(source_folder(&file.path), name)) else {
                continue;
            };
            if homes.iter().any(|home| is_within(own, home)) {
                continue;
            }
            let exception = (file.path.as_str(), name);
            if exceptions.contains(&exception) {
                needed.push(exception);
            } else {
                let message = format!(
                    "`impl {name}` lies outside of {}.rs and its folder; give what it needs to a \
                     type of this file",
                    homes.join(".rs, ")
                );
                found.push(Finding::violation(&file.path, line, message));
            }
        }
    }
    let stale = exceptions
        .iter()
        .filter(|exception| !needed.contains(exception));
    for (path, name) in stale {
        let message = format!("`impl {name}` is no exception any more; xtask/src/impl_place.rs");
        found.push(Finding::violation(path, 0, message));
    }
    found
}

/// The folder that holds a crate's sources.
fn source_folder(path: &str) -> &str {
    path.find("/src/")
        .map_or("", |at| &path[..at + "/src/".len()])
}

/// A file's module as a path: the folder of `lib.rs` and `main.rs`, else the file without `.rs`.
fn module(path: &str) -> &str {
    let stem = path.strip_suffix(".rs").unwrap_or(path);
    match stem.rsplit_once('/') {
        Some((folder, "lib" | "main")) => folder,
        _ => stem,
    }
}

/// Whether a module is this one or lies beneath it. Items of a crate's root have no folder of their
/// own.
fn is_within(module: &str, home: &str) -> bool {
    let below = module.strip_prefix(home);
    below == Some("") || !home.ends_with("/src") && below.is_some_and(|rest| rest.starts_with('/'))
}

/// The lines and the types of `impl Type { … }`, tests left out.
fn inherent_impls(file: &RustFile) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut at = 0;
    for line in file.code.lines() {
        let start = at;
        at += line.len() + 1;
        let Some(rest) = line.strip_prefix("impl") else {
            continue;
        };
        let header_end = file.code[start..]
            .find('{')
            .map_or(start, |open| start + open);
        let header = &file.code[start..header_end];
        let number = file.line_of(start);
        if header.contains(" for ") || file.is_test_line(number) {
            continue;
        }
        if let Some(name) = first_name(skip_parameters(rest)) {
            found.push((number, name));
        }
    }
    found
}

/// Behind `<…>`, if that comes first; `->` does not occur there.
fn skip_parameters(text: &str) -> &str {
    if !text.starts_with('<') {
        return text;
    }
    let mut depth = 0_i32;
    for (at, byte) in text.bytes().enumerate() {
        depth += i32::from(byte == b'<') - i32::from(byte == b'>');
        if depth == 0 {
            return &text[at + 1..];
        }
    }
    text
}

fn first_name(text: &str) -> Option<&str> {
    let text = text.trim_start();
    let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_'))?;
    (end > 0).then(|| &text[..end])
}

#[cfg(test)]
mod tests {
    use super::findings as all;
    use crate::Repository;

    fn findings(files: &[(&str, &str)]) -> usize {
        all(&Repository::of(files), &[]).len()
    }

    #[test]
    fn own_file_and_folder_are_right_and_others_wrong() {
        let of = |path: &str, text: &str| {
            let declared = ("crates/x/src/worker.rs", "pub struct Worker<I>(I);\n");
            findings(&[declared, (path, text)])
        };
        let text = "impl<I: Io<Error = E>> Worker<I> {\n}\n";
        assert_eq!(of("crates/x/src/worker/a.rs", text), 0);
        assert_eq!(of("crates/x/src/worker/deep/a.rs", text), 0);
        assert_eq!(of("crates/x/src/link.rs", text), 1);
        assert_eq!(of("crates/x/src/workers.rs", text), 1);
        let conversion = "impl From<u8> for Worker {\n}\n";
        assert_eq!(of("crates/x/src/link.rs", conversion), 0);
        let guarded = format!("#[cfg(test)]\nmod tests {{\n{text}}}\n");
        assert_eq!(of("crates/x/src/link.rs", &guarded), 0);
    }

    #[test]
    fn names_are_those_of_one_crate_and_of_any_of_its_modules() {
        let types = [
            ("crates/x/src/a.rs", "struct Slot;\nimpl Slot {\n}\n"),
            ("crates/x/src/b.rs", "struct Slot;\nimpl Slot {\n}\n"),
            ("crates/y/src/c.rs", "impl Slot {\n}\n"),
        ];
        assert_eq!(findings(&types), 0);
        let root = [
            ("crates/x/src/lib.rs", "pub struct Run;\n"),
            ("crates/x/src/a.rs", "impl Run {\n}\n"),
        ];
        assert_eq!(findings(&root), 1);
    }

    #[test]
    fn an_exception_is_needed_or_wrong() {
        let files = [
            ("crates/x/src/a.rs", "struct Slot;\n"),
            ("crates/x/src/b.rs", "impl Slot {\n}\n"),
        ];
        let with = |exceptions| all(&Repository::of(&files), exceptions).len();
        assert_eq!(with(&[("crates/x/src/b.rs", "Slot")]), 0);
        assert_eq!(with(&[("crates/x/src/c.rs", "Slot")]), 2);
    }
}
