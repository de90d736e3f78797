//! Which part of a crate names which: its top-level modules and the paths between them.

use crate::rust_file::matching;
use crate::{Repository, RustFile};
use std::collections::{BTreeMap, BTreeSet};

/// For each part, the other parts that it names outside its tests.
pub(crate) type Graph = BTreeMap<String, BTreeSet<String>>;

/// The graph of the crate whose sources lie in this folder, such as `crates/engine/src/`.
pub(crate) fn graph(repository: &Repository, folder: &str) -> Graph {
    let all = repository.rust_files();
    let files: Vec<&RustFile> = all
        .iter()
        .filter(|file| file.path.starts_with(folder))
        .collect();
    let parts: BTreeSet<&str> = files
        .iter()
        .filter_map(|file| module(file, folder).first().copied())
        .filter(|part| *part != "lib")
        .collect();
    let root = files
        .iter()
        .find(|file| file.path == format!("{folder}lib.rs"));
    let exports = root.map(|root| exports(root, &parts)).unwrap_or_default();
    let mut graph: Graph = parts
        .iter()
        .map(|part| ((*part).to_owned(), BTreeSet::new()))
        .collect();
    for file in files {
        let module = module(file, folder);
        let Some(used) = module.first().and_then(|own| graph.get_mut(*own)) else {
            continue;
        };
        for name in names_below_root(file, module.len()) {
            let part = parts.get(name).or_else(|| exports.get(name));
            if let Some(part) = part.filter(|part| **part != module[0]) {
                used.insert((*part).to_owned());
            }
        }
    }
    graph
}

/// A file's module as a path of names from the crate's root.
fn module<'a>(file: &'a RustFile, folder: &str) -> Vec<&'a str> {
    let path = &file.path[folder.len()..];
    path.strip_suffix(".rs")
        .unwrap_or(path)
        .split('/')
        .collect()
}

/// The items that the root re-exports, with the part that each comes from: `pub use a::B`.
fn exports<'a>(root: &'a RustFile, parts: &BTreeSet<&'a str>) -> BTreeMap<&'a str, &'a str> {
    let mut exports = BTreeMap::new();
    for (at, word) in root.words().filter(|(_, word)| *word == "use") {
        let rest = root.code[at + word.len()..].trim_start();
        let statement = rest.split(';').next().unwrap_or(rest);
        let part = statement.split("::").next().unwrap_or(statement);
        if let Some(part) = parts.get(part) {
            let names = statement[part.len()..].split(|c: char| !is_word(c));
            exports.extend(
                names
                    .filter(|name| !name.is_empty())
                    .map(|name| (name, *part)),
            );
        }
    }
    exports
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Every name that a file of a module at this depth looks up in the crate's root, by `crate::` or
/// by as many `super::` as lead there.
fn names_below_root(file: &RustFile, depth: usize) -> Vec<&str> {
    let mut names = Vec::new();
    let code = &file.code;
    for (at, word) in file.words() {
        let climbs = match word {
            "crate" => depth,
            "super" => 1,
            _ => continue,
        };
        let before = code[..at].trim_end();
        let is_rest_of_path = word == "super" && before.ends_with("::");
        // `pub(in crate::a)` gives something away and uses nothing.
        let is_visibility = before.ends_with("(in");
        if is_rest_of_path || is_visibility || file.is_test_line(file.line_of(at)) {
            continue;
        }
        follow(
            &code[at + word.len()..],
            depth - climbs.min(depth),
            &mut names,
        );
    }
    names
}

/// Reads a path that stands `depth` modules below the root, and collects the names in it.
fn follow<'a>(rest: &'a str, depth: usize, names: &mut Vec<&'a str>) {
    let Some(rest) = rest.trim_start().strip_prefix("::") else {
        return;
    };
    for branch in branches(rest.trim_start()) {
        let end = branch.find(|c| !is_word(c)).unwrap_or(branch.len());
        match &branch[..end] {
            "super" if depth > 0 => follow(&branch[end..], depth - 1, names),
            name if depth == 0 && !name.is_empty() => names.push(name),
            _ => {}
        }
    }
}

/// The branches of a group, `{a::B, c}`; of anything else, itself.
fn branches(path: &str) -> Vec<&str> {
    if !path.starts_with('{') {
        return vec![path];
    }
    let end = matching(path, 0).unwrap_or(path.len());
    let inside = &path[1..end.max(2) - 1];
    let mut branches = Vec::new();
    let (mut depth, mut start) = (0_i32, 0);
    for (at, byte) in inside.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            b',' if depth == 0 => {
                branches.push(inside[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    branches.push(inside[start..].trim());
    branches
}

#[cfg(test)]
mod tests {
    use super::graph;
    use crate::Repository;

    /// The names in the file at this path, in a crate with the parts `a` to `e` that re-exports a
    /// type of `e`.
    fn used(path: &str, text: &str) -> Vec<String> {
        let path = format!("crates/x/src/{path}");
        let root = "mod a;\npub mod b;\npub use e::{Shown, deep::Other};\n";
        let mut files = vec![("crates/x/src/lib.rs", root)];
        for part in ["a", "b", "c", "d", "e"].map(|part| format!("crates/x/src/{part}.rs")) {
            if part != path {
                files.push((part.leak(), ""));
            }
        }
        files.push((&path, text));
        let graph = graph(&Repository::of(&files), "crates/x/src/");
        assert_eq!(graph.len(), 5, "the root is no part");
        graph["a"].iter().cloned().collect()
    }

    #[test]
    fn every_way_to_name_a_part_is_seen() {
        for (text, parts) in [
            ("use crate::b::X;", &["b"][..]),
            (
                "pub(crate) use crate::{b::{X, Y}, c, d::e};",
                &["b", "c", "d"],
            ),
            ("fn f() { crate::b::g(); }", &["b"]),
            ("use super::b::X;", &["b"]),
            ("use super::{b, c::X};", &["b", "c"]),
            ("use crate::Shown;", &["e"]),
            ("fn f(x: crate::Other) {}", &["e"]),
            ("impl crate::b::Io for X {}", &["b"]),
        ] {
            assert_eq!(used("a.rs", text), parts, "{text}");
        }
    }

    #[test]
    fn what_is_no_other_part_is_not_seen() {
        for text in [
            "use crate::a::X;",
            "use std::b::X;",
            "// crate::b\n/* super::b */ fn f() { \"crate::b\"; }",
            "pub(crate) struct b;\npub(in crate::b) struct X;",
            "#[cfg(test)]\nmod tests {\n    use crate::b::X;\n    use super::*;\n}",
            "use drumfire_net::{crate_b, b};",
            "use self::b::X;",
        ] {
            assert!(used("a.rs", text).is_empty(), "{text}");
        }
    }

    #[test]
    fn supers_count_from_the_file() {
        for (text, parts) in [
            ("use super::b::X;", &[][..]),
            ("use super::super::b::X;", &["b"]),
            ("use super::{c::X, super::d::Y};", &["d"]),
            ("use crate::b::X;", &["b"]),
        ] {
            assert_eq!(used("a/inner.rs", text), parts, "{text}");
        }
    }
}
