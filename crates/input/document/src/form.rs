//! A document's text form: read from YAML, which includes JSON, or from TOML, and printed as YAML.
//!
//! ```text
//!   text ─► tree of placed values ─► settings put in ─► references resolved ─► Document
//!                                                                                │
//!   text ◄──────────────────── tree to print ◄───────────────────────────────────┘
//! ```
//!
//! Both directions use the same tables of keys ([`table!`](crate::keys::fields)), so each key is
//! defined in one place, and everything printed can be read back. Untrusted text is bounded in
//! values, bytes and depth before the tree is built. A syntax error is then the only finding,
//! because nothing after it can be trusted.
//!
//! [`draft`] continues as far as it can: it returns the document without the unreadable values, and
//! whether the rest is worth checking. [`print_without_secrets`] is the form for storage: it
//! contains references instead of possible secrets.

mod ammo;
mod feeds;
mod multipart;
mod payload;
mod pools;
mod reference;
mod request;
mod scenario;
mod secrets;
mod setting;
mod setup_values;
mod socket;
mod toml;

use crate::diagnostic::Findings;
use crate::keys::fields::{self, Fields as _, table};
use crate::keys::node::{self, Node};
use crate::keys::schema;
pub use crate::keys::tree::Tree;
pub use crate::keys::{DocumentKey, KeyTable, KeyValue};
use crate::{Bare, Diagnostic, Environment};
use crate::{
    CallOptions, CommonBody, CommonFields, Connections, Document, EachSettings, EventSettings,
    ExpectSettings, Generator, Http, Kept, LlmSettings, LlmTrace, Load, Monitoring, Outputs,
    Payload, Place, Placed, Pool, ReachSettings, Reflection, SchemaSource, Settings,
    SocketSettings, Stop, Stream, Text, TimeoutSettings, TlsSettings,
};
pub(crate) use ammo::AmmoKeys;
pub(crate) use feeds::Keys as FeedKeys;
use multipart::PartKeys;
pub(crate) use payload::{BODY, CallPayload, DATA, SEND};
use reference::References;
use request::Verbs;
pub(crate) use request::{Coding, Keys as RequestKeys};
use scenario::{ScenarioKeys, StepKeys};
pub use setting::Setting;
pub(crate) use socket::{SendPayload, SocketKeys};

/// The version of the form.
const VERSION: &str = "1";

/// The readable part of a document, and all mistakes of its text.
#[derive(Debug, Default)]
pub struct DocumentDraft {
    /// The document, without the unreadable values.
    pub document: Document,
    /// The mistakes.
    pub found: Vec<Diagnostic>,
    /// The secrets in the document, which no output may show.
    pub secrets: Vec<String>,
    /// The places of values with unresolved references.
    pub unresolved: Vec<Place>,
    /// The places of values that contain a value of the setup.
    pub late: Vec<Place>,
    /// Whether the readable rest can be checked too: the parts that other parts refer to were read.
    pub is_checkable: bool,
}

table! {
    /// A document's mapping: its version, and its keys.
    struct Root [] {
        "drumfire" => version: Option<Text> = "Version of the plan format: `1`; required";
    } [
        document: Document,
    ]
}

/// The parts of a document that other parts refer to by name.
const NAMED_BY_OTHERS: [&str; 1] = ["feeds"];

/// The text of a document, and the inputs that are inserted into it.
#[derive(Debug)]
pub struct Source<'a> {
    /// The text.
    pub text: &'a str,
    /// The name of the file, for places.
    pub name: &'a str,
    /// The syntax of the text.
    pub syntax: Syntax,
    /// Settings that override the text's.
    pub settings: &'a [Setting],
    /// The files and variables for references.
    pub environment: &'a dyn Environment,
}

/// The syntax of a document's text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Syntax {
    /// YAML, which includes JSON.
    #[default]
    Yaml,
    /// TOML.
    Toml,
}

/// Reads a document in YAML with an empty environment; `name` is the file's, for places.
///
/// # Errors
/// If the text is not YAML, the first mistake; otherwise every unknown key, and every value of the
/// wrong kind for its key.
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

/// Reads as much of a document as possible.
#[must_use]
pub fn draft(source: &Source<'_>) -> DocumentDraft {
    let read = match source.syntax {
        Syntax::Yaml => node::read(source.text, source.name),
        Syntax::Toml => toml::read(source.text, source.name),
    };
    let mut root = match read {
        Ok(root) => root,
        Err(diagnostic) => {
            return DocumentDraft {
                found: vec![*diagnostic],
                ..DocumentDraft::default()
            };
        }
    };
    let mut found = Findings::default();
    Pool::keys(&mut found.pool_keys);
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
    DocumentDraft {
        document: read.document,
        found,
        unresolved: references.unresolved().to_vec(),
        late: references.late().to_vec(),
        secrets: references.into_secrets(),
        is_checkable,
    }
}

/// Whether a mistake is in a part of the root's mapping, by its line.
fn lies_in(found: &Diagnostic, part: &str, entries: &[(Placed<String>, Placed<Node>)]) -> bool {
    let Some(at) = entries.iter().position(|(key, _)| key.value == part) else {
        return false;
    };
    let start = entries[at].0.place.line();
    let end = entries.get(at + 1).map(|(key, _)| key.place.line());
    (start..=end.unwrap_or(u64::MAX)).contains(&found.place.line())
}

/// Requires the version of the form, so that a later version of the program knows how to read the
/// text.
fn check_version(version: Option<&Text>, root: &Placed<Node>, found: &mut Findings) {
    match version {
        Some(version) if version.value == VERSION => {}
        Some(version) => found.add(
            &version.place,
            format!("this program reads plans of version {VERSION}; write `drumfire: {VERSION}`"),
        ),
        // A root that is not a mapping was already noted.
        None if !matches!(root.value, Node::Null | Node::Map(_)) => {}
        None => found.add(
            &root.place,
            format!("the plan's version is missing; write `drumfire: {VERSION}`"),
        ),
    }
}

/// All possible keys of a document, in tables for the manual.
#[must_use]
pub fn key_tables() -> Vec<KeyTable> {
    let tables: [(&str, &[&[DocumentKey]]); 31] = [
        ("plan", &[Root::KEYS, Document::KEYS]),
        ("stop", &[Stop::KEYS]),
        ("outputs", &[Outputs::KEYS]),
        ("monitoring", &[Monitoring::KEYS]),
        ("generator", &[Generator::KEYS]),
        ("pools", &[Pool::KEYS]),
        ("load", &[Load::KEYS]),
        ("llm", &[LlmSettings::KEYS]),
        ("trace", &[LlmTrace::KEYS]),
        ("scenarios", &[ScenarioKeys::KEYS]),
        ("steps", &[StepKeys::KEYS]),
        ("requests", &[Verbs::KEYS, RequestKeys::KEYS, Coding::KEYS]),
        ("messages", &[CallPayload::KEYS]),
        ("stream", &[Stream::KEYS]),
        (
            "websockets",
            &[SocketKeys::KEYS, SendPayload::KEYS, SocketSettings::KEYS],
        ),
        ("files of requests", &[AmmoKeys::KEYS]),
        ("expect", &[ExpectSettings::KEYS]),
        ("each", &[EachSettings::KEYS]),
        (
            "defaults",
            &[Settings::KEYS, CommonFields::KEYS, Kept::KEYS],
        ),
        ("bodies", &[Option::<Payload>::KEYS, CommonBody::KEYS]),
        ("parts", &[PartKeys::KEYS]),
        ("targets", &[ReachSettings::KEYS]),
        ("http", &[Http::KEYS]),
        ("events", &[EventSettings::KEYS]),
        ("connections", &[Connections::KEYS]),
        ("timeouts", &[TimeoutSettings::KEYS]),
        ("tls", &[TlsSettings::KEYS]),
        ("grpc", &[CallOptions::KEYS]),
        ("schemas", &[SchemaSource::KEYS]),
        ("reflection", &[Reflection::KEYS]),
        ("feeds", &[FeedKeys::KEYS]),
    ];
    let tables = tables.into_iter().map(|(name, parts)| KeyTable {
        name,
        keys: parts.concat(),
    });
    tables.collect()
}

/// The form of a document as a JSON Schema.
#[must_use]
pub fn json_schema() -> String {
    let mut definitions = schema::Definitions::new();
    let root = fields::fields_schema::<Root>(&mut definitions);
    schema::document(root, definitions)
}

/// The tree of a pool, as it is printed.
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

/// Prints a document for storage. Each possible secret is replaced by a reference to an environment
/// variable, `DRUMFIRE_SECRET_1` and so on.
#[must_use]
pub fn print_without_secrets(document: &Document) -> String {
    secrets::without(tree(document)).print()
}

/// The possible secrets among all values of a document. They are masked in all outputs.
#[must_use]
pub fn secret_values(document: &Document) -> Vec<String> {
    secrets::values(tree(document))
}

fn tree(document: &Document) -> Tree {
    let mut entries = vec![("drumfire".to_owned(), Tree::Scalar(VERSION.to_owned()))];
    document.show(&mut entries);
    Tree::Map(entries)
}

#[cfg(test)]
mod tests {
    use super::{
        EachSettings, ExpectSettings, FeedKeys, Generator, KeyValue, LlmSettings, LlmTrace,
        Outputs, PartKeys, Pool, Reflection, Root, ScenarioKeys, StepKeys, Stop, Stream,
        TlsSettings, key_tables,
    };
    use crate::keys::fields::Fields as _;
    use std::collections::BTreeSet;

    /// The keys of a struct without a table would be missing in the manual.
    #[test]
    fn every_key_is_in_a_table() {
        let mut keys = Vec::new();
        for all in [
            Root::keys,
            Stop::keys,
            Outputs::keys,
            Generator::keys,
            Pool::keys,
            LlmSettings::keys,
            LlmTrace::keys,
            ScenarioKeys::keys,
            StepKeys::keys,
            Stream::keys,
            ExpectSettings::keys,
            EachSettings::keys,
            PartKeys::keys,
            TlsSettings::keys,
            Reflection::keys,
            FeedKeys::keys,
        ] {
            all(&mut keys);
        }
        let rows = key_tables().into_iter().flat_map(|table| table.keys);
        let rows: BTreeSet<&str> = rows.map(|key| key.name).collect();
        assert_eq!(keys.into_iter().collect::<BTreeSet<_>>(), rows);
    }

    #[test]
    fn every_table_that_a_value_needs_is_there() {
        let tables = key_tables();
        let names: BTreeSet<&str> = tables.iter().map(|table| table.name).collect();
        assert_eq!(names.len(), tables.len());
        for key in tables.iter().flat_map(|table| &table.keys) {
            let table = key.value.table();
            assert!(table.is_none_or(|name| names.contains(name)), "{key:?}");
        }
        assert_eq!(KeyValue::Scalar.table(), None);
    }
}
