//! A graph of JavaScript modules linked to one function, which is called once for each user.
//!
//! An engine evaluates a module once per realm, so users who share a realm would share the variables at the
//! top of their modules. A function has new variables with each call. [`link`] therefore writes all modules
//! into the body of one function, in the order in which an engine would evaluate them. A name that two modules
//! declare is renamed in one of them, and an imported name becomes the name of the exporter's variable. Live
//! bindings, cycles, hoisting and uses before initialisation then behave as in modules, because they are
//! variables of one scope. Modules without `import` and `export` that use `module`, `exports` or `require` are
//! CommonJS: functions that run at their first use.
//!
//! Each line of a module stays a line of its own, so that the places in stack traces can be translated
//! ([`Linked::translate`]). This crate reads no files and runs nothing, and must
//! not know what a host module does. Start reading at [`link`].

mod emit;
mod error;
mod graph;
mod mistake;
mod module;
mod names;
mod places;
mod resolve;
mod scan;
mod typescript;

pub use error::LinkError;
pub use graph::{Loader, Target};
pub use places::Place;

/// A linked program.
#[derive(Debug)]
pub struct Linked {
    /// JavaScript whose value is a function. It takes an array of the objects of [`hosts`](Self::hosts), runs
    /// the modules, and returns an object with the exports of the entry, or a promise of it.
    pub code: String,
    /// The modules of the host, in the order of the function's argument. The object of a module has its
    /// exports as properties.
    pub hosts: Vec<String>,
    /// The exports of the entry.
    pub exports: Vec<String>,
    /// Whether a module awaits at its top level, so that the function returns a promise.
    pub is_async: bool,
    /// The places that assign to objects that users of a realm share, such as `Array.prototype.last`.
    pub shared: Vec<(Place, String)>,
    places: places::Places,
}

impl Linked {
    /// The name of the code in stack traces, to be given to the engine.
    pub const NAME: &str = "<linked>";

    /// The place in a module of a line and a column of [`code`](Self::code). Both count from 1, and columns
    /// count bytes, as QuickJS does. `None` means: not from a module.
    #[must_use]
    pub fn place(&self, line: usize, column: usize) -> Option<Place> {
        self.places.find(line, column)
    }

    /// The text of a stack trace with the places of modules.
    #[must_use]
    pub fn translate(&self, text: &str) -> String {
        self.places.translate(text, Self::NAME)
    }
}

/// Link the module `entry` with all that it imports.
///
/// # Errors
///
/// The first mistake, with its place: a syntax error, a module or an export that does not exist, `import()`.
pub fn link(entry: &str, loader: &mut dyn Loader) -> Result<Linked, LinkError> {
    let graph = graph::ModuleGraph::load(entry, loader)?;
    let uses = resolve::Uses::of(&graph)?;
    let names = names::LinkedNames::choose(&graph, &uses);
    emit::emit(graph, &uses, &names)
}
