//! The modules of a crate that use each other: siblings in one folder, and the paths between them.

use crate::RustFile;
use crate::rust_file::matching;
use std::collections::{BTreeMap, BTreeSet};

/// For each part, the other parts that it uses outside its tests.
pub(crate) type Graph = BTreeMap<String, BTreeSet<String>>;

/// The maximum number of re-exports that are followed for a path.
const EXPORTS_MAX: u32 = 8;

/// The graph of submodules for each module that has some, by the folder of the submodules, such as
/// `crates/core/engine/src/` and `crates/core/engine/src/exchanges/`. `root` is the folder of a crate's
/// sources.
pub(crate) fn graphs(files: &[RustFile], root: &str) -> BTreeMap<String, Graph> {
    let modules = Modules::from_files(files, root);
    let mut graphs: BTreeMap<String, Graph> = BTreeMap::new();
    for path in modules.files.keys() {
        if let Some((part, parent)) = path.split_last() {
            let graph = graphs.entry(folder(root, parent)).or_default();
            graph.entry((*part).to_owned()).or_default();
        }
    }
    for (path, file) in &modules.files {
        for named in paths_in(file) {
            let Some(other) = modules.resolve(path, &named, EXPORTS_MAX) else {
                continue;
            };
            let shared = path.iter().zip(&other).take_while(|(a, b)| a == b).count();
            if let (Some(from), Some(to)) = (path.get(shared), other.get(shared))
                && let Some(graph) = graphs.get_mut(&folder(root, &path[..shared]))
            {
                let used = graph.entry((*from).to_owned()).or_default();
                used.insert((*to).to_owned());
            }
        }
    }
    graphs
}

/// The folder of this module's submodules.
fn folder(root: &str, module: &[&str]) -> String {
    module
        .iter()
        .fold(root.to_owned(), |folder, name| format!("{folder}{name}/"))
}

/// A path as written: `["crate", "a", "B"]`.
type Written<'a> = Vec<&'a str>;
/// A module's path of names from the crate's root.
type ModulePath<'a> = Vec<&'a str>;

/// The modules of one crate, with the names that each imports or re-exports.
struct Modules<'a> {
    files: BTreeMap<ModulePath<'a>, &'a RustFile>,
    imports: BTreeMap<ModulePath<'a>, BTreeMap<&'a str, Written<'a>>>,
}

impl<'a> Modules<'a> {
    /// Reads the crate's files, except for additional programs and test modules.
    fn from_files(files: &'a [RustFile], root: &str) -> Self {
        let own = files
            .iter()
            .filter(|file| file.product_lines() > 0)
            .filter_map(|file| Some((file.path.strip_prefix(root)?, file)));
        let mut files = BTreeMap::new();
        // In order of their paths, so that `main.rs` comes last: next to a library, it is a
        // program.
        for (path, file) in own.filter(|(path, _)| !path.starts_with("bin/")) {
            files.entry(module(path)).or_insert(file);
        }
        let imports = files
            .iter()
            .map(|(path, file)| (path.clone(), imports(file)))
            .collect();
        Self { files, imports }
    }

    /// The module in which a path ends that is written in the module `from`; `None` for a path into
    /// another crate. At most `exports` re-exports are followed.
    fn resolve(&self, from: &[&'a str], written: &[&'a str], exports: u32) -> Option<Vec<&'a str>> {
        let mut at = from.to_vec();
        for (index, name) in written.iter().enumerate() {
            match *name {
                "crate" => at.clear(),
                "super" => {
                    at.pop();
                }
                "self" => {}
                name => {
                    at.push(name);
                    if self.files.contains_key(&at) {
                        continue;
                    }
                    at.pop();
                    let import = self.imports.get(&at).and_then(|names| names.get(name));
                    if let Some(import) = import
                        && exports > 0
                    {
                        let rest = [import, &written[index + 1..]].concat();
                        return self.resolve(&at, &rest, exports - 1);
                    }
                    // An item of the module, or another crate if the path begins with the name.
                    return (index > 0).then_some(at);
                }
            }
        }
        Some(at)
    }
}

/// The module of a file whose path starts at the folder of the crate's sources.
fn module(path: &str) -> ModulePath<'_> {
    match path.strip_suffix(".rs").unwrap_or(path) {
        "lib" | "main" => Vec::new(),
        stem => stem.split('/').collect(),
    }
}

/// The names that a file's `use` declarations bring into its module, with their paths.
fn imports(file: &RustFile) -> BTreeMap<&str, Written<'_>> {
    let mut imports = BTreeMap::new();
    for (at, word) in file.words().filter(|(_, word)| *word == "use") {
        if file.is_test_line(file.line_of(at)) {
            continue;
        }
        let rest = file.code[at + word.len()..].trim_start();
        let tree = rest.split(';').next().unwrap_or(rest);
        let mut leaves = Vec::new();
        follow(tree, &mut Vec::new(), &mut leaves);
        for Leaf { mut path, name } in leaves {
            if path.last() == Some(&"self") {
                path.pop();
            }
            if let Some(name) = name.or_else(|| path.last().copied())
                && path != [name]
            {
                imports.insert(name, path);
            }
        }
    }
    imports
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Every path outside tests that begins with `crate` or `super`.
fn paths_in(file: &RustFile) -> Vec<Written<'_>> {
    let mut leaves = Vec::new();
    let code = &file.code;
    for (at, word) in file.words() {
        let before = code[..at].trim_end();
        let begins_path = matches!(word, "crate" | "super") && !before.ends_with("::");
        // `pub(in crate::a)` grants visibility and uses nothing.
        let is_visibility = before.ends_with("(in");
        if begins_path && !is_visibility && !file.is_test_line(file.line_of(at)) {
            follow(&code[at..], &mut Vec::new(), &mut leaves);
        }
    }
    leaves.into_iter().map(|leaf| leaf.path).collect()
}

/// A path in a tree, and its name after `as`.
struct Leaf<'a> {
    path: Written<'a>,
    name: Option<&'a str>,
}

/// Reads the tree of paths at the start of the text, `a::{B, c::D as E}`, and collects its leaves.
fn follow<'a>(tree: &'a str, above: &mut Written<'a>, leaves: &mut Vec<Leaf<'a>>) {
    let tree = tree.trim_start();
    if tree.starts_with('{') {
        for branch in branches(tree) {
            follow(branch, &mut above.clone(), leaves);
        }
        return;
    }
    let (name, rest) = tree.split_at(tree.find(|c| !is_word(c)).unwrap_or(tree.len()));
    if !name.is_empty() {
        above.push(name);
    }
    let rest = rest.trim_start();
    if let Some(below) = rest.strip_prefix("::") {
        return follow(below, above, leaves);
    }
    let alias = rest.strip_prefix("as ").map(str::trim_start);
    leaves.push(Leaf {
        path: above.clone(),
        name: alias.map(|name| &name[..name.find(|c| !is_word(c)).unwrap_or(name.len())]),
    });
}

/// The branches of a group, `{a::B, c}`.
fn branches(group: &str) -> Vec<&str> {
    let end = matching(group, 0).unwrap_or(group.len());
    let inside = &group[1..end.max(2) - 1];
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
    branches.retain(|branch| !branch.is_empty());
    branches
}

#[cfg(test)]
mod tests {
    use super::graphs;
    use crate::Repository;

    /// The parts that the file at this path uses, in a crate with the parts `a` to `e` that
    /// re-exports a type of `e`, and whose part `a` imports a type of `c`.
    fn used(path: &str, text: &str) -> Vec<String> {
        let path = format!("crates/x/src/{path}");
        let root = "mod a;\npub mod b;\npub use e::{Shown, deep::Other as Another};\n";
        let mut files = vec![("crates/x/src/lib.rs", root)];
        for part in ["a", "b", "c", "d", "e"].map(|part| format!("crates/x/src/{part}.rs")) {
            if part != path {
                let own = match part.as_str() {
                    "crates/x/src/a.rs" => "use super::c::Imported;\nuse other::Foreign;\n",
                    _ => "fn f() {}\n",
                };
                files.push((part.leak(), own));
            }
        }
        files.push((&path, text));
        let files = Repository::in_memory(&files).rust_files();
        let graph = graphs(&files, "crates/x/src/")["crates/x/src/"].clone();
        assert_eq!(graph.len(), 5, "the root is no part");
        graph["a"].iter().cloned().collect()
    }

    #[test]
    fn every_way_to_name_a_part_is_seen() {
        for (text, parts) in [
            ("use crate::b::X;", &["b"][..]),
            (
                "pub(crate) use crate::{b::{X, Y}, c, d::e,};",
                &["b", "c", "d"],
            ),
            ("fn f() { crate::b::g(); }", &["b"]),
            ("use super::b::X;", &["b"]),
            ("use super::{b, c::X};", &["b", "c"]),
            ("use crate::Shown;", &["e"]),
            ("fn f(x: crate::Another) {}", &["e"]),
            ("impl crate::b::Io for X {}", &["b"]),
        ] {
            assert_eq!(used("a.rs", text), parts, "{text}");
        }
    }

    #[test]
    fn what_is_no_other_part_is_not_seen() {
        for text in [
            "use crate::a::X;",
            "use crate::Other;",
            "use std::b::X;",
            "fn f() {} // crate::b\n/* super::b */ fn f() { \"crate::b\"; }",
            "pub(crate) struct b;\npub(in crate::b) struct X;",
            "fn f() {}\n#[cfg(test)]\nmod tests {\n    use crate::b::X;\n    use super::*;\n}",
            "use drumfire_net::{crate_b, b};",
            "use self::b::X;",
        ] {
            assert!(used("a.rs", text).is_empty(), "{text}");
        }
    }

    #[test]
    fn supers_count_from_the_file() {
        for (text, parts) in [
            ("use super::b::X;", &["c"][..]),
            ("use super::super::b::X;", &["b", "c"]),
            ("use super::{c::X, super::d::Y};", &["c", "d"]),
            ("use crate::b::X;", &["b", "c"]),
            ("use super::Imported;", &["c"]),
            ("use super::Foreign;", &["c"]),
        ] {
            assert_eq!(used("a/inner.rs", text), parts, "{text}");
        }
    }

    #[test]
    fn siblings_of_a_folder_have_a_graph_of_their_own() {
        let files = [
            ("crates/x/src/lib.rs", "mod a;\n"),
            (
                "crates/x/src/a.rs",
                "mod b;\nmod c;\nuse b::{self as d, B};\n",
            ),
            ("crates/x/src/a/b.rs", "use crate::a::c::C;\n"),
            ("crates/x/src/a/c.rs", "use super::B;\n"),
            ("crates/x/src/a/e.rs", "use super::d::B;\n"),
            ("crates/x/src/a/tests.rs", "use super::b::B;\n"),
            ("crates/x/src/bin/p.rs", "use crate::a::B;\n"),
            ("crates/x/src/main.rs", "use x::a;\n"),
            ("crates/y/src/a.rs", "use crate::a::B;\n"),
        ];
        let files = Repository::in_memory(&files).rust_files();
        let graphs = graphs(&files, "crates/x/src/");
        assert_eq!(graphs.len(), 2);
        let text = format!("{:?}", graphs["crates/x/src/a/"]);
        assert_eq!(text, r#"{"b": {"c"}, "c": {"b"}, "e": {"b"}}"#);
        assert_eq!(format!("{:?}", graphs["crates/x/src/"]), r#"{"a": {}}"#);
    }
}
