//! All modules that an entry needs, and the order in which they run.

use std::collections::HashMap;

use crate::error::LinkError;
use crate::module::{Kind, Module};
use crate::places::Place;

/// What a module's name for another one means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A module with this name, which is the same for all that import it.
    Module(String),
    /// An object of the host.
    Host {
        /// The name of the module.
        name: String,
        /// The names of its exports.
        exports: Vec<String>,
    },
}

/// Finds modules.
pub trait Loader {
    /// What `specifier` means in the module `from`.
    ///
    /// # Errors
    ///
    /// The mistake, and what would be right.
    fn resolve(&mut self, specifier: &str, from: &str) -> Result<Target, String>;

    /// The text of the module `name`. Names that end with `.ts` are TypeScript.
    ///
    /// # Errors
    ///
    /// Why it cannot be read.
    fn read(&mut self, name: &str) -> Result<String, String>;
}

/// A module of the host.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct HostModule {
    pub(crate) name: String,
    pub(crate) exports: Vec<String>,
}

/// What a request leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Node {
    Module(usize),
    Host(usize),
}

/// The modules of a program. The entry is module 0.
pub(crate) struct ModuleGraph {
    pub(crate) modules: Vec<Module>,
    pub(crate) hosts: Vec<HostModule>,
    /// For each module and each of its requests.
    pub(crate) targets: Vec<Vec<Node>>,
    /// The modules that run, each after those that it imports. CommonJS modules run when they are first
    /// required, or in their turn if they are imported.
    pub(crate) order: Vec<usize>,
}

impl ModuleGraph {
    pub(crate) fn load(entry: &str, loader: &mut dyn Loader) -> Result<Self, LinkError> {
        let mut graph = Self {
            modules: Vec::new(),
            hosts: Vec::new(),
            targets: Vec::new(),
            order: Vec::new(),
        };
        let mut known = HashMap::new();
        graph.add(entry, loader, &mut known, None)?;
        let mut at = 0;
        while at < graph.modules.len() {
            let targets = graph.targets_of(at, loader, &mut known)?;
            graph.targets.push(targets);
            at += 1;
        }
        graph.order = graph.sorted();
        Ok(graph)
    }

    fn add(
        &mut self,
        name: &str,
        loader: &mut dyn Loader,
        known: &mut HashMap<String, usize>,
        place: Option<Place>,
    ) -> Result<usize, LinkError> {
        if let Some(&module) = known.get(name) {
            return Ok(module);
        }
        let text = loader
            .read(name)
            .map_err(|message| LinkError::new(place, message))?;
        self.modules.push(Module::parse(name, text)?);
        let module = self.modules.len() - 1;
        known.insert(name.to_owned(), module);
        Ok(module)
    }

    fn targets_of(
        &mut self,
        of: usize,
        loader: &mut dyn Loader,
        known: &mut HashMap<String, usize>,
    ) -> Result<Vec<Node>, LinkError> {
        let mut targets = Vec::new();
        for request in 0..self.modules[of].requests.len() {
            let module = &self.modules[of];
            let (from, kind) = (&module.written.name, module.kind);
            let request = &module.requests[request];
            let place = module.place(request.offset);
            let target = loader
                .resolve(&request.specifier, from)
                .map_err(|message| LinkError::new(Some(place.clone()), message))?;
            let node = match target {
                Target::Host { name, exports } => {
                    Node::Host(self.host(HostModule { name, exports }))
                }
                Target::Module(name) => {
                    Node::Module(self.add(&name, loader, known, Some(place.clone()))?)
                }
            };
            if let (Kind::Common, Node::Module(required)) = (kind, node)
                && self.modules[required].kind == Kind::Ecma
            {
                let message =
                    "require() cannot load a module with `export`; use `import` in a module";
                return Err(LinkError::new(Some(place), message));
            }
            targets.push(node);
        }
        Ok(targets)
    }

    fn host(&mut self, host: HostModule) -> usize {
        if let Some(at) = self.hosts.iter().position(|known| known.name == host.name) {
            return at;
        }
        self.hosts.push(host);
        self.hosts.len() - 1
    }

    /// The order of evaluation: a module after those that it requests, each once (ECMA-262 section 16.2.1.6).
    fn sorted(&self) -> Vec<usize> {
        let mut order = Vec::new();
        let mut seen = vec![false; self.modules.len()];
        let mut path = vec![(0, 0)];
        seen[0] = true;
        while let Some((module, request)) = path.pop() {
            let node = match self.modules[module].kind {
                Kind::Ecma => self.targets[module].get(request),
                Kind::Common => None,
            };
            let Some(node) = node else {
                order.push(module);
                continue;
            };
            path.push((module, request + 1));
            if let Node::Module(next) = *node
                && !seen[next]
            {
                seen[next] = true;
                path.push((next, 0));
            }
        }
        order
    }
}
