//! A document's form as a text: read from YAML, and printed as YAML.
//!
//! A text becomes a tree of values that know their places, the tree becomes a document by the
//! tables of its keys, and a document is printed by the same tables. So a key stands in one place,
//! and everything that is printed reads back.

pub(crate) mod fields;
mod named;
mod node;
mod payload;
mod request;
mod scenario;
mod tables;
mod tree;

use crate::Diagnostic;
use crate::diagnostic::Findings;
use drumfire_plan::document::{
    Document, Expect, Generator, Outputs, Placed, Pool, Reflection, Stop, Stream, Tls,
};
use fields::{Fields as _, Known};
use node::Node;
use tree::Tree;

/// The key that a document begins with.
const VERSION_KEY: &str = "drumfire";
/// The version of the form.
const VERSION: &str = "1";

/// Reads a document; `name` is the file's, for places.
///
/// # Errors
/// Where the text is no YAML, the first thing that is wrong with it; otherwise every key that
/// there is not, and every value of a kind that its key does not take.
pub fn read(text: &str, name: &str) -> Result<Document, Vec<Diagnostic>> {
    let root = node::read(text, name).map_err(|diagnostic| vec![diagnostic])?;
    let mut found = Findings::default();
    let mut document = Document::default();
    let mut version = None;
    for (key, value) in fields::entries(&root, "a plan", &mut found) {
        if key.value == VERSION_KEY {
            version = Some(value);
        } else if document.set(&key.value, value, &mut found) == Known::No {
            let mut known = vec![VERSION_KEY];
            Document::keys(&mut known);
            fields::unknown(key, "a plan", &known, &mut found);
        }
    }
    check_version(version, &root, &mut found);
    if found.is_empty() {
        Ok(document)
    } else {
        Err(found.into_inner())
    }
}

/// The form's version is required, so that a later version of the program knows how to read the
/// text.
fn check_version(version: Option<&Placed<Node>>, root: &Placed<Node>, found: &mut Findings) {
    match version.map(|version| (&version.value, &version.place)) {
        Some((Node::Number(number) | Node::Text(number), _)) if number == VERSION => {}
        Some((_, place)) => found.add(
            place,
            format!("this program reads plans of version {VERSION}; write `drumfire: {VERSION}`"),
        ),
        None => found.add(
            &root.place,
            format!("a plan says its version first; write `drumfire: {VERSION}`"),
        ),
    }
}

/// Every key that a document may have somewhere, sorted.
#[must_use]
pub fn keys() -> Vec<&'static str> {
    let mut keys = vec![VERSION_KEY];
    Document::keys(&mut keys);
    Pool::keys(&mut keys);
    request::Keys::keys(&mut keys);
    scenario::StepKeys::keys(&mut keys);
    named::FeedKeys::keys(&mut keys);
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

/// Prints a document; equal documents have equal texts.
#[must_use]
pub fn print(document: &Document) -> String {
    let mut entries = vec![(VERSION_KEY.to_owned(), Tree::Scalar(VERSION.to_owned()))];
    document.show(&mut entries);
    Tree::Map(entries).print()
}
