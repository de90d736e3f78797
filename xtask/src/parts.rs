//! The parts of a crate use each other in one direction, and so do the files of a folder.
//! ARCHITECTURE.md has the drawing of `engine`; `make drawing` prints the drawings of all other
//! crates.

use crate::imports::{Graph, graphs};
use crate::{Finding, Repository};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// The lines around the drawing.
const BEGIN: &str = "<!-- drawn by `make drawing` -->\n";
const END: &str = "<!-- end of the drawing -->\n";
/// The page with the drawing of `engine`.
pub const PAGE: &str = "ARCHITECTURE.md";
/// The sources of the crate that the page draws.
const ENGINE: &str = "crates/core/engine/src/";

/// The separator of parts that use each other in a circle.
const CIRCLE: &str = " ↔ ";

/// Every circle, and a drawing that differs from the imports.
#[must_use]
pub fn check(repository: &Repository) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (folder, graph) in CrateGraphs::all(repository)
        .iter()
        .flat_map(|own| &own.graphs)
    {
        if let Some(circle) = circle(graph) {
            let message = format!("{circle} is a circle; let the lower part own what both need");
            findings.push(Finding::violation(folder, 0, message));
        }
    }
    if redrawn(repository).is_none_or(|page| page != repository.text(PAGE)) {
        let message = "the drawing differs from the imports; run `make drawing`";
        findings.push(Finding::violation(PAGE, 0, message.to_owned()));
    }
    findings
}

/// The page with a new drawing of `engine`; `None` if the page lacks the lines around a drawing.
#[must_use]
pub fn redrawn(repository: &Repository) -> Option<String> {
    let crates = CrateGraphs::all(repository);
    let engine = crates.iter().find(|own| own.folder == ENGINE);
    let drawing = engine.map_or_else(String::new, CrateGraphs::drawing);
    let (before, rest) = repository.text(PAGE).split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}{drawing}{END}{after}"))
}

/// The drawings of all crates except `engine`, each below the crate's name.
#[must_use]
pub fn print(repository: &Repository) -> String {
    let crates = CrateGraphs::all(repository).into_iter();
    let others = crates.filter(|own| own.folder != ENGINE);
    others
        .map(|own| format!("{}\n{}", own.name(), own.drawing()))
        .collect()
}

/// A crate with the graphs of its folders.
struct CrateGraphs {
    /// The folder of the crate's sources.
    folder: String,
    graphs: BTreeMap<String, Graph>,
}

impl CrateGraphs {
    /// Every crate of the workspace that has more than one file.
    fn all(repository: &Repository) -> Vec<Self> {
        let files = repository.rust_files();
        let roots = ["src/lib.rs", "src/main.rs"];
        let folders: BTreeSet<&str> = roots
            .iter()
            .flat_map(|root| repository.ending(root))
            .filter_map(|(path, _)| Some(path.rsplit_once('/')?.0))
            .collect();
        let all = folders.into_iter().map(|folder| {
            let folder = format!("{folder}/");
            let graphs = graphs(&files, &folder);
            Self { folder, graphs }
        });
        all.filter(|own| !own.graphs.is_empty()).collect()
    }

    /// The drawing of the crate's parts.
    fn drawing(&self) -> String {
        let graph = self.graphs.get(&self.folder);
        graph.map_or_else(String::new, drawing)
    }

    /// The path of the crate's folder, without `crates/` and `/src/`.
    fn name(&self) -> &str {
        let path = self.folder.trim_end_matches("/src/");
        path.strip_prefix("crates/").unwrap_or(path)
    }
}

/// A circle in a graph, `a → b → a`.
fn circle(graph: &Graph) -> Option<String> {
    let circle = rings(graph).into_iter().find(|ring| ring.len() > 1)?;
    // Each of these uses another of them, so a walk among them returns to an earlier part.
    let mut walk = vec![*circle.first()?];
    loop {
        let next = *circle
            .iter()
            .find(|part| uses(graph, walk[walk.len() - 1], part))?;
        let seen = walk.iter().position(|part| *part == next);
        walk.push(next);
        if let Some(start) = seen {
            return Some(walk[start..].join(" → "));
        }
    }
}

fn uses(graph: &Graph, from: &str, to: &str) -> bool {
    graph.get(from).is_some_and(|used| used.contains(to))
}

/// The parts of a graph in rings: parts that reach each other, or a single part outside of any
/// circle.
pub(crate) fn rings(graph: &Graph) -> Vec<Vec<&str>> {
    let reached: BTreeMap<&str, BTreeSet<&str>> = graph
        .keys()
        .map(|part| (part.as_str(), reached(graph, part)))
        .collect();
    let mut rings: Vec<Vec<&str>> = Vec::new();
    for (part, below) in &reached {
        let back =
            |ring: &&mut Vec<&str>| below.contains(ring[0]) && reached[ring[0]].contains(part);
        match rings.iter_mut().find(back) {
            Some(ring) => ring.push(part),
            None => rings.push(vec![part]),
        }
    }
    rings
}

/// The parts that a part uses, directly or indirectly.
fn reached<'a>(graph: &'a Graph, part: &str) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut next: Vec<&str> = graph[part].iter().map(String::as_str).collect();
    while let Some(part) = next.pop() {
        if reached.insert(part) {
            next.extend(graph.get(part).into_iter().flatten().map(String::as_str));
        }
    }
    reached
}

/// One line for each part, from the top down, with the parts that it uses, which are further below.
/// Parts of a block do not use each other; a circle is one line.
fn drawing(graph: &Graph) -> String {
    let rings = rings(graph);
    let mut layers: BTreeMap<usize, Vec<Line>> = BTreeMap::new();
    for ring in &rings {
        let line = Line::new(ring, graph);
        layers
            .entry(height(ring, &rings, graph))
            .or_default()
            .push(line);
    }
    let lines = layers.values().flatten();
    let width = lines
        .filter(|line| !line.below.is_empty() && !line.parts.contains(CIRCLE))
        .map(|line| line.parts.len())
        .max()
        .unwrap_or(0);
    let mut text = "\n".to_owned();
    for lines in layers.values().rev() {
        for Line { parts, below } in lines {
            let _infallible = match below.is_empty() {
                true => writeln!(text, "    {parts}"),
                false => writeln!(text, "    {parts:width$} → {below}"),
            };
        }
        text.push('\n');
    }
    text
}

/// The parts of a ring, and the parts that they use.
struct Line {
    parts: String,
    below: String,
}

impl Line {
    fn new(ring: &[&str], graph: &Graph) -> Self {
        let used: BTreeSet<&str> = below(ring, graph).collect();
        Self {
            parts: ring.join(CIRCLE),
            below: used.into_iter().collect::<Vec<_>>().join(" "),
        }
    }
}

/// The parts outside of a ring that the ring uses.
fn below<'a>(ring: &'a [&str], graph: &'a Graph) -> impl Iterator<Item = &'a str> {
    let used = ring.iter().filter_map(|part| graph.get(*part)).flatten();
    used.map(String::as_str).filter(|part| !ring.contains(part))
}

/// The length of the longest path down from a ring.
fn height(ring: &[&str], rings: &[Vec<&str>], graph: &Graph) -> usize {
    let lower = rings
        .iter()
        .filter(|lower| below(ring, graph).any(|part| lower.contains(&part)));
    lower
        .map(|lower| height(lower, rings, graph) + 1)
        .max()
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{BEGIN, END, PAGE, check, circle, drawing, print, redrawn};
    use crate::Repository;
    use crate::imports::Graph;

    fn graph(edges: &[(&str, &[&str])]) -> Graph {
        let own = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        edges
            .iter()
            .map(|(part, used)| ((*part).to_owned(), own(used)))
            .collect()
    }

    #[test]
    fn circles_of_any_length_are_found() {
        let of = |edges: &[(&str, &[&str])]| circle(&graph(edges)).unwrap_or_default();
        assert_eq!(of(&[("a", &["b", "c"]), ("b", &["c"]), ("c", &[])]), "");
        assert_eq!(of(&[("a", &["b"]), ("b", &["a"])]), "a → b → a");
        let three: &[(&str, &[&str])] = &[("a", &["b"]), ("b", &["c"]), ("c", &["a"])];
        assert_eq!(of(three), "a → b → c → a");
        let above: &[(&str, &[&str])] =
            &[("0", &["a"]), ("a", &["b"]), ("b", &["a", "d"]), ("d", &[])];
        assert_eq!(of(above), "a → b → a");
    }

    #[test]
    fn arrows_point_down() {
        let parts = graph(&[("low", &[]), ("mid", &["low"]), ("top", &["low", "mid"])]);
        let text = "\n    top → low mid\n\n    mid → low\n\n    low\n\n";
        assert_eq!(drawing(&parts), text);
        let bent = graph(&[("a", &["b"]), ("b", &["a", "c"]), ("c", &[]), ("d", &["a"])]);
        let text = "\n    d → a\n\n    a ↔ b → c\n\n    c\n\n";
        assert_eq!(drawing(&bent), text);
    }

    #[test]
    fn the_siblings_of_every_folder_are_looked_at() {
        let of = |used: &str| {
            let files = [
                ("crates/x/src/lib.rs", "mod a;\n"),
                ("crates/x/src/a.rs", "mod b;\nmod c;\n"),
                ("crates/x/src/a/b.rs", "use super::c::C;\n"),
                ("crates/x/src/a/c.rs", used),
            ];
            let map = format!("{BEGIN}{END}");
            let repository = Repository::in_memory(&[&files[..], &[(PAGE, map.as_str())]].concat());
            let findings = check(&repository).into_iter();
            findings.map(|found| found.to_string()).collect::<Vec<_>>()
        };
        let circle =
            "crates/x/src/a/: b → c → b is a circle; let the lower part own what both need";
        assert_eq!(of("use super::b::B;\n"), [circle]);
        assert!(of("pub(super) struct C;\n").is_empty());
    }

    #[test]
    fn the_page_has_the_drawing_or_is_redrawn() {
        let sources = [
            ("crates/core/engine/src/lib.rs", "mod top;\nmod low;\n"),
            ("crates/core/engine/src/top.rs", "use crate::low::X;\n"),
            ("crates/core/engine/src/low.rs", "pub(crate) struct X;\n"),
            ("crates/x/src/main.rs", "mod only;\n"),
            ("crates/x/src/only.rs", "pub(crate) struct X;\n"),
        ];
        let with = |map: &str| Repository::in_memory(&[&sources[..], &[(PAGE, map)]].concat());
        let old = format!("before\n{BEGIN}\n    low\n\n{END}after\n");
        assert_eq!(check(&with(&old)).len(), 1);
        let map = redrawn(&with(&old)).unwrap();
        assert!(map.starts_with("before\n") && map.ends_with("after\n"));
        assert!(map.contains("\n    top → low\n\n    low\n\n"), "{map}");
        assert!(check(&with(&map)).is_empty());
        assert_eq!(check(&with("no drawing\n")).len(), 1);
        assert_eq!(redrawn(&with("no drawing\n")), None);
        assert_eq!(print(&with(&map)), "x\n\n    only\n\n");
    }
}
