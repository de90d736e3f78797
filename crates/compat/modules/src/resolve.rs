//! Which variable an imported name means (ECMA-262 section 16.2.1.7, ResolveExport).

use std::collections::{BTreeMap, BTreeSet};

use crate::error::LinkError;
use crate::graph::{ModuleGraph, Node};
use crate::module::{Export, Kind, Wanted};

/// What a name means in the end.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum NameMeaning {
    /// A variable of a module.
    Variable { module: usize, binding: usize },
    /// The namespace object of a module.
    Namespace(usize),
    /// An export of a host module.
    Host { host: usize, name: String },
    /// A host module as a whole.
    HostModule(usize),
    /// A property of what a CommonJS module exports.
    Property { module: usize, name: String },
    /// What a CommonJS module exports.
    Exports(usize),
    /// What a CommonJS module exports, or the `default` that a compiler has put there.
    Default(usize),
}

/// The result of a search for an export.
enum ExportSearch {
    Found(NameMeaning),
    Missing,
    /// Two stars export different variables of this name.
    Ambiguous,
}

/// The meanings of all imports of a program.
pub(crate) struct Uses {
    /// For each module and binding: the meaning, if the binding is imported.
    pub(crate) imports: Vec<Vec<Option<NameMeaning>>>,
    /// The exports of the entry.
    pub(crate) exports: Vec<(String, NameMeaning)>,
    /// The exports of each module whose namespace object is used.
    pub(crate) namespaces: BTreeMap<usize, Vec<(String, NameMeaning)>>,
}

impl Uses {
    pub(crate) fn of(graph: &ModuleGraph) -> Result<Self, LinkError> {
        let mut imports = Vec::new();
        for (at, module) in graph.modules.iter().enumerate() {
            let mut meanings = Vec::new();
            for binding in &module.bindings {
                meanings.push(match &binding.import {
                    None => None,
                    Some(import) => {
                        let node = graph.targets[at][import.request];
                        Some(required(graph, at, node, &import.wanted, import.offset)?)
                    }
                });
            }
            for export in &module.exports {
                if let Export::From {
                    request,
                    wanted,
                    offset,
                    ..
                } = export
                {
                    required(graph, at, graph.targets[at][*request], wanted, *offset)?;
                }
            }
            imports.push(meanings);
        }
        let exports = exports(graph, 0);
        let mut uses = Self {
            imports,
            exports,
            namespaces: BTreeMap::new(),
        };
        uses.add_namespaces(graph);
        Ok(uses)
    }

    /// Namespaces can contain namespaces.
    fn add_namespaces(&mut self, graph: &ModuleGraph) {
        let imported = self.imports.iter().flatten().flatten();
        let mut found: Vec<NameMeaning> = imported
            .chain(self.exports.iter().map(|(_, meaning)| meaning))
            .cloned()
            .collect();
        while let Some(meaning) = found.pop() {
            if let NameMeaning::Namespace(module) = meaning
                && !self.namespaces.contains_key(&module)
            {
                let exports = exports(graph, module);
                found.extend(exports.iter().map(|(_, meaning)| meaning.clone()));
                self.namespaces.insert(module, exports);
            }
        }
    }
}

/// The meaning of an import that must exist.
fn required(
    graph: &ModuleGraph,
    importer: usize,
    node: Node,
    wanted: &Wanted,
    offset: usize,
) -> Result<NameMeaning, LinkError> {
    let error = |message| {
        Err(LinkError::new(
            Some(graph.modules[importer].place(offset)),
            message,
        ))
    };
    let (search, name) = match wanted {
        Wanted::Namespace => return Ok(namespace(graph, node)),
        Wanted::Name(name) => (export_of(graph, node, name, &mut Vec::new()), name),
    };
    let (of, others) = match node {
        Node::Module(module) => {
            let others = exported_names(graph, module).into_iter().collect();
            (&graph.modules[module].written.name, others)
        }
        Node::Host(host) => (&graph.hosts[host].name, graph.hosts[host].exports.clone()),
    };
    match search {
        ExportSearch::Found(meaning) => Ok(meaning),
        ExportSearch::Ambiguous => error(format!(
            "`{name}` is exported twice by the modules that {of} exports"
        )),
        ExportSearch::Missing if others.is_empty() => {
            error(format!("{of} exports nothing, so `{name}` is missing"))
        }
        ExportSearch::Missing => error(format!(
            "{of} has no export `{name}`; it has {}",
            others.join(", ")
        )),
    }
}

fn namespace(graph: &ModuleGraph, node: Node) -> NameMeaning {
    match node {
        Node::Host(host) => NameMeaning::HostModule(host),
        Node::Module(module) if graph.modules[module].kind == Kind::Common => {
            NameMeaning::Exports(module)
        }
        Node::Module(module) => NameMeaning::Namespace(module),
    }
}

fn export_of(
    graph: &ModuleGraph,
    node: Node,
    name: &str,
    path: &mut Vec<(usize, String)>,
) -> ExportSearch {
    let module = match node {
        Node::Module(module) => module,
        Node::Host(host) if graph.hosts[host].exports.iter().any(|known| known == name) => {
            return ExportSearch::Found(NameMeaning::Host {
                host,
                name: name.to_owned(),
            });
        }
        Node::Host(_) => return ExportSearch::Missing,
    };
    if graph.modules[module].kind == Kind::Common {
        return ExportSearch::Found(match name {
            "default" => NameMeaning::Default(module),
            name => NameMeaning::Property {
                module,
                name: name.to_owned(),
            },
        });
    }
    if path
        .iter()
        .any(|(of, known)| *of == module && known == name)
    {
        return ExportSearch::Missing;
    }
    path.push((module, name.to_owned()));
    named_export(graph, module, name, path)
        .unwrap_or_else(|| star_export(graph, module, name, path))
}

/// An export that the module itself names.
fn named_export(
    graph: &ModuleGraph,
    module: usize,
    name: &str,
    path: &mut Vec<(usize, String)>,
) -> Option<ExportSearch> {
    let mut follow = |request: usize, wanted: &Wanted| {
        let node = graph.targets[module][request];
        match wanted {
            Wanted::Namespace => ExportSearch::Found(namespace(graph, node)),
            Wanted::Name(name) => export_of(graph, node, name, path),
        }
    };
    graph.modules[module]
        .exports
        .iter()
        .find_map(|export| match export {
            Export::Local {
                name: known,
                binding,
            } if known == name => match &graph.modules[module].bindings[*binding].import {
                None => Some(ExportSearch::Found(NameMeaning::Variable {
                    module,
                    binding: *binding,
                })),
                Some(import) => Some(follow(import.request, &import.wanted)),
            },
            Export::From {
                name: known,
                request,
                wanted,
                ..
            } if known == name => Some(follow(*request, wanted)),
            _ => None,
        })
}

/// An export that one of the module's `export *` has. Names of CommonJS modules are known too late for it.
fn star_export(
    graph: &ModuleGraph,
    module: usize,
    name: &str,
    path: &mut Vec<(usize, String)>,
) -> ExportSearch {
    if name == "default" {
        return ExportSearch::Missing;
    }
    let mut found = None;
    for export in &graph.modules[module].exports {
        let Export::Star { request } = export else {
            continue;
        };
        let node = graph.targets[module][*request];
        if is_common(graph, node) {
            continue;
        }
        match export_of(graph, node, name, path) {
            ExportSearch::Ambiguous => return ExportSearch::Ambiguous,
            ExportSearch::Missing => {}
            ExportSearch::Found(meaning) if found.is_none() => found = Some(meaning),
            ExportSearch::Found(meaning) if found.as_ref() == Some(&meaning) => {}
            ExportSearch::Found(_) => return ExportSearch::Ambiguous,
        }
    }
    found.map_or(ExportSearch::Missing, ExportSearch::Found)
}

fn is_common(graph: &ModuleGraph, node: Node) -> bool {
    matches!(node, Node::Module(module) if graph.modules[module].kind == Kind::Common)
}

/// The exports of a module, without ambiguous ones, in the order of their names.
fn exports(graph: &ModuleGraph, module: usize) -> Vec<(String, NameMeaning)> {
    let names = exported_names(graph, module).into_iter();
    names
        .filter_map(
            |name| match export_of(graph, Node::Module(module), &name, &mut Vec::new()) {
                ExportSearch::Found(meaning) => Some((name, meaning)),
                ExportSearch::Missing | ExportSearch::Ambiguous => None,
            },
        )
        .collect()
}

/// The names that a module exports (ECMA-262, GetExportedNames), in the order of UTF-16 as far as it differs
/// only beyond the names that scripts use.
fn exported_names(graph: &ModuleGraph, module: usize) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut seen = BTreeSet::new();
    let mut open = vec![(module, true)];
    while let Some((module, is_first)) = open.pop() {
        if !seen.insert(module) {
            continue;
        }
        for export in &graph.modules[module].exports {
            match export {
                Export::Local { name, .. } | Export::From { name, .. } => {
                    if is_first || name != "default" {
                        names.insert(name.clone());
                    }
                }
                Export::Star { request } => match graph.targets[module][*request] {
                    Node::Module(next) => open.push((next, false)),
                    Node::Host(host) => {
                        let exports = graph.hosts[host].exports.iter();
                        names.extend(exports.filter(|name| *name != "default").cloned());
                    }
                },
            }
        }
    }
    names
}
