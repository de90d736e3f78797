//! One name for each variable of the linked function.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::graph::ModuleGraph;
use crate::module::Kind;
use crate::resolve::{NameMeaning, Uses};

/// The names in the linked function.
pub(crate) struct LinkedNames {
    /// For each module and binding that is not imported.
    variables: HashMap<(usize, usize), String>,
    /// Of what is made at the start of the function: namespaces, exports of host modules, and what CommonJS
    /// modules export.
    made: BTreeMap<NameMeaning, String>,
    /// Of `import.meta`, for each module that uses it.
    pub(crate) metas: BTreeMap<usize, String>,
    /// The argument of the function.
    pub(crate) host: String,
    /// An object that refuses assignments.
    pub(crate) constant: String,
    /// Functions that name functions and freeze namespaces, the table of CommonJS modules, and what makes
    /// their loader.
    pub(crate) name: String,
    pub(crate) namespace: String,
    pub(crate) common: String,
    pub(crate) loader: String,
    /// The function of a user that loads CommonJS modules.
    pub(crate) load: String,
}

/// Names while they are chosen.
struct NameChooser {
    /// Every name that occurs anywhere.
    all: HashSet<String>,
    /// Names of globals that a module uses.
    globals: HashSet<String>,
    /// Names of the linked function.
    taken: HashSet<String>,
    /// The modules that import a meaning, and under which name.
    importers: HashMap<NameMeaning, Vec<(usize, String)>>,
}

impl NameChooser {
    fn new(graph: &ModuleGraph, uses: &Uses) -> Self {
        let mut all = HashSet::new();
        let mut globals = HashSet::new();
        let mut importers: HashMap<_, Vec<_>> = HashMap::new();
        for (at, module) in graph.modules.iter().enumerate() {
            all.extend(module.nested.iter().chain(&module.globals).cloned());
            all.extend(module.bindings.iter().map(|binding| binding.name.clone()));
            if module.kind == Kind::Ecma {
                globals.extend(module.globals.iter().cloned());
            }
            for (binding, meaning) in module.bindings.iter().zip(&uses.imports[at]) {
                if let Some(meaning) = meaning {
                    importers
                        .entry(meaning.clone())
                        .or_default()
                        .push((at, binding.name.clone()));
                }
            }
        }
        Self {
            all,
            globals,
            taken: HashSet::new(),
            importers,
        }
    }

    /// `name` itself, unless it would mean something else somewhere.
    fn choose(&mut self, graph: &ModuleGraph, meaning: &NameMeaning, name: &str) -> String {
        let hidden = self
            .importers
            .get(meaning)
            .into_iter()
            .flatten()
            .any(|(module, alias)| alias != name && graph.modules[*module].nested.contains(name));
        if hidden || name == "default" || self.globals.contains(name) || self.taken.contains(name) {
            return self.unique(name);
        }
        self.taken.insert(name.to_owned());
        name.to_owned()
    }

    /// A name that occurs nowhere.
    fn unique(&mut self, name: &str) -> String {
        let mut number = 1;
        loop {
            let name = format!("{name}${number}");
            if self.all.insert(name.clone()) {
                return name;
            }
            number += 1;
        }
    }
}

impl LinkedNames {
    pub(crate) fn choose(graph: &ModuleGraph, uses: &Uses) -> Self {
        let mut chooser = NameChooser::new(graph, uses);
        let mut variables = HashMap::new();
        for &at in &graph.order {
            let module = &graph.modules[at];
            if module.kind == Kind::Common {
                continue;
            }
            for (binding, is) in module.bindings.iter().enumerate() {
                if is.import.is_none() {
                    let meaning = NameMeaning::Variable {
                        module: at,
                        binding,
                    };
                    variables.insert((at, binding), chooser.choose(graph, &meaning, &is.name));
                }
            }
        }
        let mut made = BTreeMap::new();
        for meaning in meanings(graph, uses) {
            let first = chooser
                .importers
                .get(&meaning)
                .and_then(|importers| importers.first());
            let name = first.map_or_else(|| "module".to_owned(), |(_, name)| name.clone());
            let name = chooser.choose(graph, &meaning, &name);
            made.insert(meaning, name);
        }
        let metas = graph
            .order
            .iter()
            .filter(|&&at| !graph.modules[at].metas.is_empty());
        let metas = metas.map(|&at| (at, chooser.unique("meta"))).collect();
        Self {
            variables,
            made,
            metas,
            host: chooser.unique("host"),
            constant: chooser.unique("constant"),
            name: chooser.unique("name"),
            namespace: chooser.unique("namespace"),
            common: chooser.unique("common"),
            loader: chooser.unique("loader"),
            load: chooser.unique("load"),
        }
    }

    /// What is made at the start of the function, with its names.
    pub(crate) fn made(&self) -> impl Iterator<Item = (&NameMeaning, &str)> {
        self.made
            .iter()
            .map(|(meaning, name)| (meaning, name.as_str()))
    }

    pub(crate) fn variable(&self, module: usize, binding: usize) -> &str {
        self.variables
            .get(&(module, binding))
            .map_or("", String::as_str)
    }

    /// An expression that reads a value.
    pub(crate) fn value(&self, meaning: &NameMeaning) -> String {
        match meaning {
            NameMeaning::Variable { module, binding } => {
                self.variable(*module, *binding).to_owned()
            }
            NameMeaning::Property { module, name } => {
                format!(
                    "(0,{}[{}])",
                    self.value(&NameMeaning::Exports(*module)),
                    quoted(name)
                )
            }
            NameMeaning::Default(module) => {
                let exports = self.value(&NameMeaning::Exports(*module));
                format!("({exports}?.__esModule?{exports}.default:{exports})")
            }
            made => self.made.get(made).cloned().unwrap_or_default(),
        }
    }
}

/// The meanings that need a variable of their own.
fn meanings(graph: &ModuleGraph, uses: &Uses) -> Vec<NameMeaning> {
    let mut found: Vec<NameMeaning> = uses.imports.iter().flatten().flatten().cloned().collect();
    found.extend(uses.exports.iter().map(|(_, meaning)| meaning.clone()));
    found.extend(
        uses.namespaces
            .values()
            .flatten()
            .map(|(_, meaning)| meaning.clone()),
    );
    found.retain(|meaning| {
        matches!(
            meaning,
            NameMeaning::Namespace(_) | NameMeaning::Host { .. } | NameMeaning::HostModule(_)
        )
    });
    let common = graph
        .order
        .iter()
        .filter(|&&at| graph.modules[at].kind == Kind::Common);
    found.extend(common.map(|&at| NameMeaning::Exports(at)));
    found
}

/// A text as a literal of JavaScript.
pub(crate) fn quoted(text: &str) -> String {
    let mut result = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => result.extend(['\\', letter]),
            letter if (letter as u32) < 32 || matches!(letter, '\u{2028}' | '\u{2029}') => {
                result.push_str(&format!("\\u{:04x}", letter as u32));
            }
            letter => result.push(letter),
        }
    }
    result + "\""
}
