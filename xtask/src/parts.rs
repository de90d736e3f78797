//! The parts of `engine` use each other in one direction, and ARCHITECTURE.md has the drawing.

use crate::imports::{Graph, graph};
use crate::{Finding, Repository};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// The crate whose parts are drawn.
const FOLDER: &str = "crates/engine/src/";
/// The page with the drawing, and the lines between which it stands.
const PAGE: &str = "ARCHITECTURE.md";
const BEGIN: &str = "<!-- parts of engine: `make drawing` -->\n";
const END: &str = "<!-- end of the drawing -->\n";

/// Arrows that close circles, to be turned round or cut: from, to. None may be added; one that
/// closes no circle any more must be taken out.
const EXCEPTIONS: &[(&str, &str)] = &[];

/// Every circle, every exception that is none, and a drawing that differs from the imports.
#[must_use]
pub fn check(repository: &Repository) -> Vec<Finding> {
    findings(repository, EXCEPTIONS)
}

fn findings(repository: &Repository, exceptions: &[(&str, &str)]) -> Vec<Finding> {
    let graph = graph(repository, FOLDER);
    let mut findings = circles(&graph, exceptions);
    if drawn(repository) != Some(&drawing(&graph, exceptions)) {
        let message = "the drawing of engine's parts is not what they import; run `make drawing`";
        findings.push(Finding::violation(PAGE, 0, message.to_owned()));
    }
    findings
}

/// The page with a new drawing in it; `None` where it has no place for one.
#[must_use]
pub fn redrawn(repository: &Repository) -> Option<(&'static str, String)> {
    let drawing = drawing(&graph(repository, FOLDER), EXCEPTIONS);
    let (before, rest) = repository.text(PAGE).split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some((PAGE, format!("{before}{BEGIN}{drawing}{END}{after}")))
}

/// The text of the page between the two lines.
fn drawn(repository: &Repository) -> Option<&str> {
    let (_, rest) = repository.text(PAGE).split_once(BEGIN)?;
    Some(rest.split_once(END)?.0)
}

fn circles(graph: &Graph, exceptions: &[(&str, &str)]) -> Vec<Finding> {
    let (layers, rest) = layers(graph, exceptions);
    let mut findings = Vec::new();
    if let Some(circle) = circle(graph, exceptions, &rest) {
        let message = format!("{circle} is a circle; let the lower part own what both need");
        findings.push(Finding::violation(FOLDER, 0, message));
        return findings;
    }
    for (from, to) in exceptions {
        let exists = graph.get(*from).is_some_and(|used| used.contains(*to));
        let is_upward = layers.get(to) >= layers.get(from);
        if !exists || !is_upward {
            let message = format!("`{from}` → `{to}` closes no circle; xtask/src/parts.rs");
            findings.push(Finding::violation(FOLDER, 0, message));
        }
    }
    findings
}

/// One circle among the parts that have no layer, `a → b → a`. Each of these uses another of them,
/// so a walk among them comes back to where it was.
fn circle(graph: &Graph, exceptions: &[(&str, &str)], rest: &BTreeSet<&str>) -> Option<String> {
    let mut walk = vec![*rest.first()?];
    loop {
        let next =
            down(graph, exceptions, walk[walk.len() - 1]).find(|name| rest.contains(name))?;
        let seen = walk.iter().position(|name| *name == next);
        walk.push(next);
        if let Some(start) = seen {
            return Some(walk[start..].join(" → "));
        }
    }
}

/// For each part the longest way down from it, without the exceptions; and the parts for which
/// there is none, since they are in a circle or above one.
fn layers<'a>(
    graph: &'a Graph,
    exceptions: &[(&str, &str)],
) -> (BTreeMap<&'a str, usize>, BTreeSet<&'a str>) {
    let mut layers: BTreeMap<&str, usize> = BTreeMap::new();
    let mut rest: BTreeSet<&str> = graph.keys().map(String::as_str).collect();
    loop {
        let found: Vec<(&str, usize)> = rest
            .iter()
            .filter_map(|part| {
                let used = down(graph, exceptions, part);
                let below: Option<Vec<usize>> =
                    used.map(|name| layers.get(name).copied()).collect();
                Some((*part, below?.into_iter().max().map_or(0, |layer| layer + 1)))
            })
            .collect();
        if found.is_empty() {
            return (layers, rest);
        }
        for (part, layer) in found {
            rest.remove(part);
            layers.insert(part, layer);
        }
    }
}

/// The parts that a part uses, without the exceptions.
fn down<'a>(
    graph: &'a Graph,
    exceptions: &[(&str, &str)],
    part: &str,
) -> impl Iterator<Item = &'a str> {
    let used = graph.get(part).into_iter().flatten().map(String::as_str);
    used.filter(move |name| !exceptions.contains(&(part, name)))
}

/// One line for each part, from the top down, with the parts that it uses, which stand below. Parts
/// of one block do not use each other.
fn drawing(graph: &Graph, exceptions: &[(&str, &str)]) -> String {
    let (layers, rest) = layers(graph, exceptions);
    let highest = layers.values().max().copied().unwrap_or(0);
    let width = graph.keys().map(String::len).max().unwrap_or(0);
    let mut text = "\n".to_owned();
    let mut block = |parts: &mut dyn Iterator<Item = &str>| {
        for part in parts {
            let names = |wanted: bool| {
                let used = graph.get(part).into_iter().flatten().map(String::as_str);
                let used = used.filter(|name| exceptions.contains(&(part, name)) == wanted);
                used.collect::<Vec<_>>().join(" ")
            };
            let (below, above) = (names(false), names(true));
            let line = match (below.is_empty(), above.is_empty()) {
                (true, true) => format!("    {part}"),
                (_, true) => format!("    {part:width$} → {below}"),
                (true, _) => format!("    {part:width$}   against the order: {above}"),
                _ => format!("    {part:width$} → {below} · against the order: {above}"),
            };
            let _infallible = writeln!(text, "{line}");
        }
        text.push('\n');
    };
    if !rest.is_empty() {
        block(&mut rest.iter().copied());
    }
    for layer in (0..=highest).rev() {
        block(
            &mut layers
                .iter()
                .filter(|(_, at)| **at == layer)
                .map(|(part, _)| *part),
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{BEGIN, END, circles, drawing, findings, redrawn};
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
    fn circles_of_any_length_are_found_and_exceptions_open_them() {
        let straight = graph(&[("a", &["b", "c"]), ("b", &["c"]), ("c", &[])]);
        assert!(circles(&straight, &[]).is_empty());
        let two = graph(&[("a", &["b"]), ("b", &["a"])]);
        assert_eq!(circles(&two, &[]).len(), 1);
        let three = graph(&[("a", &["b"]), ("b", &["c"]), ("c", &["a"])]);
        let found = circles(&graph(&[("0", &["a"]), ("a", &["b"]), ("b", &["a"])]), &[]);
        assert!(found[0].message.starts_with("a → b → a is"), "{found:?}");
        assert_eq!(circles(&three, &[]).len(), 1);
        assert!(circles(&three, &[("c", "a")]).is_empty());
    }

    #[test]
    fn an_exception_is_needed_or_wrong() {
        let straight = graph(&[("a", &["b"]), ("b", &[])]);
        assert_eq!(circles(&straight, &[("b", "a")]).len(), 1, "no such arrow");
        let bypass = graph(&[("a", &["b", "c"]), ("b", &["c"]), ("c", &[])]);
        assert_eq!(circles(&bypass, &[("a", "c")]).len(), 1, "closes no circle");
    }

    #[test]
    fn arrows_point_down() {
        let parts = graph(&[("low", &[]), ("mid", &["low"]), ("top", &["low", "mid"])]);
        let text = "\n    top → low mid\n\n    mid → low\n\n    low\n\n";
        assert_eq!(drawing(&parts, &[]), text);
        let bent = graph(&[("a", &["b"]), ("b", &["a"])]);
        let text = "\n    a → b\n\n    b   against the order: a\n\n";
        assert_eq!(drawing(&bent, &[("b", "a")]), text);
    }

    #[test]
    fn the_page_has_the_drawing_or_is_redrawn() {
        let sources = [
            ("crates/engine/src/lib.rs", "mod top;\nmod low;\n"),
            ("crates/engine/src/top.rs", "use crate::low::X;\n"),
            ("crates/engine/src/low.rs", "pub(crate) struct X;\n"),
        ];
        let with = |page: &str| {
            let mut files = sources.to_vec();
            files.push(("ARCHITECTURE.md", page));
            Repository::of(&files)
        };
        for drawing in ["\n    low\n\n", ""] {
            let old = with(&format!("before\n{BEGIN}{drawing}{END}after\n"));
            assert_eq!(findings(&old, &[]).len(), 1);
        }
        let old = with(&format!("before\n{BEGIN}{END}after\n"));
        let (_, page) = redrawn(&old).unwrap();
        assert!(page.starts_with("before\n") && page.ends_with("after\n"));
        assert!(page.contains("\n    top → low\n\n    low\n\n"), "{page}");
        assert!(findings(&with(&page), &[]).is_empty());
        assert_eq!(findings(&with("no drawing\n"), &[]).len(), 1);
        assert!(redrawn(&with("no drawing\n")).is_none());
    }
}
