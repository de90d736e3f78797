//! JSON documents. [`drumfire_compare::contract`] has their types and rules; a renamed field in
//! `measure` changes no output.
//!
//! Texts that may contain a URL or a header are masked by the rules of [`crate::secret`], because
//! these documents are kept, sent and attached to issues.

mod parts;
mod record;
mod run_list;
mod summary;

use crate::secret;
use crate::untrusted::is_dangerous;
use drumfire_compare::contract::summary::Document;
use drumfire_compare::contract::{CLUSTER_SCHEMA, cluster};
use drumfire_measure::{IntervalRow, RunInfo, Summary};
use serde::Serialize;
use std::fmt::Write as _;

pub use record::{event, facts};
pub use run_list::runs;

pub use drumfire_compare::contract::cluster::{Agent as ClusterAgent, Run as ClusterRun};
pub use drumfire_compare::contract::{INTERVAL_SCHEMA, SUMMARY_SCHEMA as SCHEMA};

/// The summary of a run as one JSON object, indented, with a line feed at its end.
///
/// Times are integers in nanoseconds, sizes in bytes, rates in 1/s. Characters that could act on a
/// terminal are written as `\u` escapes, so the text is safe to look at.
#[must_use]
pub fn summary(summary: &Summary) -> Vec<u8> {
    bytes(&document(summary))
}

/// The active runs of a cluster as one JSON object, indented, with a line feed at its end.
#[must_use]
pub fn cluster(runs: Vec<ClusterRun>) -> Vec<u8> {
    let schema = CLUSTER_SCHEMA.to_owned();
    bytes(&cluster::Document { schema, runs })
}

/// A document as one JSON object, indented, with a line feed at its end, and safe to look at.
#[expect(
    clippy::expect_used,
    reason = "contracts have string keys only, and their own types never fail to serialize"
)]
pub(crate) fn bytes(document: &impl Serialize) -> Vec<u8> {
    let text = serde_json::to_string_pretty(document).expect("string keys only");
    escaped(&text).into_bytes()
}

/// The document of a summary.
pub(crate) fn document(summary: &Summary) -> Document {
    summary::document(summary)
}

/// A foreign text, without what looks like a secret in a URL or a header.
fn prose(text: impl AsRef<str>) -> String {
    secret::setting("", text.as_ref())
}

/// A JSON text with a line feed at its end, in which every character that could act on a terminal
/// is a `\u` escape.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 1);
    for c in text.chars() {
        // The serializer escapes what JSON demands. Other dangerous characters occur only in
        // strings.
        if c != '\n' && is_dangerous(c) {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                let written = write!(out, "\\u{unit:04x}");
                debug_assert!(written.is_ok(), "a String takes any text");
            }
        } else {
            out.push(c);
        }
    }
    out.push('\n');
    out
}

/// An interval of a run as one JSON object on one line, with a line feed.
#[must_use]
#[expect(
    clippy::expect_used,
    reason = "the contract has string keys only, and its own types never fail to serialize"
)]
pub fn interval(row: &IntervalRow, info: &RunInfo) -> Vec<u8> {
    let line = parts::line(row, info);
    let mut json = serde_json::to_vec(&line).expect("string keys only");
    json.push(b'\n');
    json
}
