//! A document's form as a text: read from YAML, of which JSON is a part, or TOML, and printed as
//! YAML.
//!
//! ```text
//!   text ─► tree of placed values ─► settings put in ─► references resolved ─► Document
//!                                                                                │
//!   text ◄──────────────────── tree to print ◄───────────────────────────────────┘
//! ```
//!
//! Both ways go through the same tables of keys ([`mod@fields`]), so a key stands in one place, and
//! everything that is printed reads back. A text of a stranger is bounded in its values, bytes and
//! depth before the tree is made; a mistake of its syntax is the only finding then, since nothing
//! behind it can be trusted.
//!
//! [`draft`] goes on as far as it can: it gives the document without the values that could not be
//! read, and says whether the rest is worth checking. [`print_without_secrets`] is the form that
//! may be kept: whatever could be a secret is a reference in it.

mod ammo;
mod feeds;
mod fields;
mod multipart;
mod node;
mod payload;
mod pools;
mod reference;
mod request;
mod scenario;
mod schema;
mod secrets;
mod setting;
mod setup_values;
mod tables;
mod toml;
mod tree;
mod unquoted;

use crate::diagnostic::Findings;
use crate::{Bare, Diagnostic, Environment};
use crate::{
    Document, Expect, Generator, Outputs, Place, Placed, Pool, Reflection, Stop, Stream, Text, Tls,
};
pub(crate) use fields::Fields;
use fields::fields;
use node::Node;
use reference::References;
pub use setting::Setting;
pub use tree::Tree;

/// The version of the form.
const VERSION: &str = "1";

/// A document as far as its text could be read, and all mistakes of the text.
#[derive(Debug, Default)]
pub struct Draft {
    /// The document, without the values that could not be read.
    pub document: Document,
    /// The mistakes.
    pub found: Vec<Diagnostic>,
    /// The secrets in it, which no output may show.
    pub secrets: Vec<String>,
    /// The places of values whose references could not be resolved.
    pub unresolved: Vec<Place>,
    /// The places of values that contain one that the setup takes.
    pub late: Vec<Place>,
    /// Whether the readable rest can be checked, too: the parts that others name were read.
    pub is_checkable: bool,
}

/// A document's mapping: its version, and its keys.
#[derive(Default)]
struct Root {
    version: Option<Text>,
    document: Document,
}

fields!(Root [] {
    "drumfire" => version: "Version of the plan format: 1",
} [document]);

/// The parts of a document whose names the others use.
const NAMED_BY_OTHERS: [&str; 1] = ["feeds"];

/// The text of a document, and the parts that are put into it.
#[derive(Debug)]
pub struct Source<'a> {
    /// The text.
    pub text: &'a str,
    /// The file's name, for places.
    pub name: &'a str,
    /// The language that it is written in.
    pub syntax: Syntax,
    /// Settings that stand above its own.
    pub settings: &'a [Setting],
    /// The files and variables that its references name.
    pub environment: &'a dyn Environment,
}

/// The language of a document's text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Syntax {
    /// YAML, and so JSON.
    #[default]
    Yaml,
    /// TOML.
    Toml,
}

/// Reads a document in YAML, on a machine that has nothing; `name` is the file's, for places.
///
/// # Errors
/// Where the text is no YAML, the first thing that is wrong with it; otherwise every key that
/// there is not, and every value of a kind that its key does not take.
pub fn read(text: &str, name: &str) -> Result<Document, Vec<Diagnostic>> {
    let draft = draft(&Source {
        text,
        name,
        syntax: Syntax::Yaml,
        settings: &[],
        environment: &Bare,
    });
    match draft.found.is_empty() {
        true => Ok(draft.document),
        false => Err(draft.found),
    }
}

/// Reads a document as far as it can be read.
#[must_use]
pub fn draft(source: &Source<'_>) -> Draft {
    let read = match source.syntax {
        Syntax::Yaml => node::read(source.text, source.name),
        Syntax::Toml => toml::read(source.text, source.name),
    };
    let mut root = match read {
        Ok(root) => root,
        Err(diagnostic) => {
            return Draft {
                found: vec![*diagnostic],
                ..Draft::default()
            };
        }
    };
    let mut found = Findings::default();
    setting::apply_all(source.settings, &mut root, &mut found);
    root.value.note_repeated(&mut found);
    let mut references = References::new(&root, source.environment);
    references.resolve_root(&mut root, &mut found);
    let first = found.len();
    let read: Root = fields::read_fields(&root, "a plan", &mut found);
    check_version(read.version.as_ref(), &root, &mut found);
    found.drop_from(first, references.unresolved());
    let found = found.into_inner();
    let is_checkable = match &root.value {
        Node::Map(entries) => NAMED_BY_OTHERS
            .iter()
            .all(|part| !found.iter().any(|found| lies_in(found, part, entries))),
        _ => false,
    };
    Draft {
        document: read.document,
        found,
        unresolved: references.unresolved().to_vec(),
        late: references.late().to_vec(),
        secrets: references.into_secrets(),
        is_checkable,
    }
}

/// Whether a mistake lies in a part of the root's mapping, by its line.
fn lies_in(found: &Diagnostic, part: &str, entries: &[(Placed<String>, Placed<Node>)]) -> bool {
    let Some(at) = entries.iter().position(|(key, _)| key.value == part) else {
        return false;
    };
    let start = entries[at].0.place.line();
    let end = entries.get(at + 1).map(|(key, _)| key.place.line());
    (start..=end.unwrap_or(u64::MAX)).contains(&found.place.line())
}

/// The form's version is required, so that a later version of the program knows how to read the
/// text.
fn check_version(version: Option<&Text>, root: &Placed<Node>, found: &mut Findings) {
    match version {
        Some(version) if version.value == VERSION => {}
        Some(version) => found.add(
            &version.place,
            format!("this program reads plans of version {VERSION}; write `drumfire: {VERSION}`"),
        ),
        // That it is no mapping is said already.
        None if !matches!(root.value, Node::Null | Node::Map(_)) => {}
        None => found.add(
            &root.place,
            format!("the plan's version is missing; write `drumfire: {VERSION}`"),
        ),
    }
}

/// Every key that a document may have somewhere, sorted.
#[must_use]
pub fn keys() -> Vec<&'static str> {
    let mut keys = Vec::new();
    Root::keys(&mut keys);
    Pool::keys(&mut keys);
    request::Keys::keys(&mut keys);
    scenario::StepKeys::keys(&mut keys);
    feeds::Keys::keys(&mut keys);
    Stop::keys(&mut keys);
    Outputs::keys(&mut keys);
    Generator::keys(&mut keys);
    Expect::keys(&mut keys);
    Tls::keys(&mut keys);
    Reflection::keys(&mut keys);
    Stream::keys(&mut keys);
    keys.sort_unstable();
    keys.dedup();
    keys
}

/// The form of a document as a JSON Schema.
#[must_use]
pub fn json_schema() -> String {
    let mut definitions = schema::Definitions::new();
    let root = fields::fields_schema::<Root>(&mut definitions);
    schema::document(root, definitions)
}

/// The part of a pool that is printed.
#[must_use]
pub fn tree_of(pool: &Pool) -> Tree {
    let mut entries = Vec::new();
    pool.show(&mut entries);
    Tree::Map(entries)
}

/// Prints a document; equal documents have equal texts.
#[must_use]
pub fn print(document: &Document) -> String {
    tree(document).print()
}

/// Prints a document to be kept: references to variables of the environment stand in the place of
/// whatever could be a secret, `DRUMFIRE_SECRET_1` and so on.
#[must_use]
pub fn print_without_secrets(document: &Document) -> String {
    secrets::without(tree(document)).print()
}

/// The values of all parts of a document that could be a secret: they are masked wherever they come
/// back.
#[must_use]
pub fn secret_values(document: &Document) -> Vec<String> {
    secrets::values(tree(document))
}

fn tree(document: &Document) -> Tree {
    let mut entries = vec![("drumfire".to_owned(), Tree::Scalar(VERSION.to_owned()))];
    document.show(&mut entries);
    Tree::Map(entries)
}
