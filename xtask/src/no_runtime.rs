//! The data plane has its own loop: no async runtime is linked into `engine` or the crates below
//! it, not even indirectly.

use crate::{Finding, Repository, metadata};
use serde_json::Value;
use std::collections::BTreeMap;

/// The start of the search.
const DATA_PLANE: &str = "drumfire-engine";
/// Runtimes; each has companion packages whose names begin with its name and `-`.
const RUNTIMES: &[&str] = &["tokio", "async-std", "smol", "glommio", "monoio"];
/// The list of registry crates with their dependencies.
const LOCK: &str = "Cargo.lock";

/// The dependencies of each package, by name. Versions of a package are merged, and so are all
/// systems: a package that is linked on one system counts for all.
type DependencyGraph = BTreeMap<String, Vec<String>>;

/// Every path of linked dependencies from `engine` to a runtime.
#[must_use]
pub fn check(repository: &Repository) -> Vec<Finding> {
    match metadata::packages(repository) {
        Ok(packages) => findings(&packages, repository.text(LOCK)),
        Err(message) => vec![Finding::violation("Cargo.toml", 0, message)],
    }
}

fn findings(packages: &[Value], lock: &str) -> Vec<Finding> {
    let mut graph = locked(lock);
    // The lock file does not separate the packages that only a member's tests use; cargo does.
    graph.extend(packages.iter().map(member));
    if !graph.contains_key(DATA_PLANE) {
        let message = format!("no package is called {DATA_PLANE}; say it in no_runtime.rs");
        return vec![Finding::violation("Cargo.toml", 0, message)];
    }
    ways_to_runtimes(&graph)
        .into_iter()
        .map(|way| {
            let message = format!("{way}: the data plane must not depend on a runtime");
            Finding::violation(LOCK, 0, message)
        })
        .collect()
}

/// The packages of a lock file.
fn locked(lock: &str) -> DependencyGraph {
    let mut graph = DependencyGraph::new();
    for package in lock.split("[[package]]").skip(1) {
        let mut quoted = package.split('"').skip(1).step_by(2);
        let Some(name) = quoted.next() else {
            continue;
        };
        let list = package
            .split_once("dependencies = [")
            .map_or("", |(_, list)| list);
        let list = list.split_once(']').map_or("", |(list, _)| list);
        let names = list.split('"').skip(1).step_by(2);
        // A version follows the name if there are several versions.
        let names = names.map(|name| name.split(' ').next().unwrap_or(name).to_owned());
        graph.entry(name.to_owned()).or_default().extend(names);
    }
    graph
}

/// A package of the workspace and its linked packages.
fn member(package: &Value) -> (String, Vec<String>) {
    let text = |value: &Value| value.as_str().unwrap_or("").to_owned();
    let dependencies = package["dependencies"].as_array().into_iter().flatten();
    let linked = dependencies.filter(|dependency| dependency["kind"].is_null());
    let names = linked.map(|dependency| text(&dependency["name"])).collect();
    (text(&package["name"]), names)
}

/// A shortest path to each reachable runtime.
fn ways_to_runtimes(graph: &DependencyGraph) -> Vec<String> {
    let mut before: BTreeMap<&str, &str> = BTreeMap::from([(DATA_PLANE, "")]);
    let mut queue = vec![DATA_PLANE];
    let mut at = 0;
    let mut ways = Vec::new();
    while let Some(&name) = queue.get(at) {
        at += 1;
        if is_runtime(name) {
            ways.push(way(&before, name));
            continue;
        }
        for next in graph.get(name).into_iter().flatten() {
            if !before.contains_key(next.as_str()) {
                before.insert(next, name);
                queue.push(next);
            }
        }
    }
    ways
}

fn is_runtime(name: &str) -> bool {
    RUNTIMES.iter().any(|runtime| {
        let rest = name.strip_prefix(runtime);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    })
}

/// `a → b → c` from the start to `to`.
fn way(before: &BTreeMap<&str, &str>, to: &str) -> String {
    let mut names = vec![to];
    while let Some(&name) = before.get(names[names.len() - 1]) {
        names.push(name);
    }
    names.pop();
    names.reverse();
    names.join(" → ")
}

#[cfg(test)]
mod tests {
    use super::findings;
    use serde_json::{Value, json};

    const LOCK: &str = "version = 4\n\n[[package]]\nname = \"rustls\"\nversion = \"0.23.1\"\n\
        dependencies = [\n \"log\",\n \"webpki 0.2.0\",\n]\n\n[[package]]\nname = \"log\"\n\
        version = \"0.4.0\"\n\n[[package]]\nname = \"webpki\"\nversion = \"0.2.0\"\n\
        dependencies = [\n \"tokio-util\",\n]\n";

    fn package(name: &str, dependencies: &[(&str, Value)]) -> Value {
        let dependencies: Vec<Value> = dependencies
            .iter()
            .map(|(name, kind)| json!({ "name": name, "kind": kind }))
            .collect();
        json!({ "name": name, "dependencies": dependencies })
    }

    /// The findings if `net`, which `engine` uses, depends on this package.
    fn with_net(name: &str, kind: Value) -> Vec<String> {
        let packages = [
            package("drumfire-engine", &[("drumfire-net", Value::Null)]),
            package("drumfire-net", &[(name, kind)]),
        ];
        let found = findings(&packages, LOCK).into_iter();
        found.map(|finding| finding.message).collect()
    }

    #[test]
    fn a_runtime_is_found_at_any_depth_and_its_way_is_named() {
        let found = with_net("tokio", Value::Null);
        assert_eq!(found.len(), 1, "{found:?}");
        let found = with_net("rustls", Value::Null);
        let way = "drumfire-engine → drumfire-net → rustls → webpki → tokio-util: ";
        assert!(found.len() == 1 && found[0].starts_with(way), "{found:?}");
    }

    #[test]
    fn what_is_not_linked_is_free() {
        assert!(with_net("log", Value::Null).is_empty());
        assert!(with_net("tokio", json!("dev")).is_empty());
        assert!(with_net("tokio", json!("build")).is_empty());
        assert!(with_net("tokiota", Value::Null).is_empty());
    }

    #[test]
    fn a_walk_from_nowhere_is_an_error() {
        assert_eq!(findings(&[], LOCK).len(), 1);
    }
}
