//! The formats, each a decoder that takes a file entry by entry.

use super::batch::{Batch, StandingHeaders};
use super::step::Step;
use super::{access_log, call_json, json_line, raw, uri};
use crate::feed::JsonValues;
use crate::log_reader::LogReader;
use std::str::FromStr;
use std::sync::Arc;

/// The format of a file of requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AmmoFormat {
    /// A target a line, with a tag perhaps; lines in brackets are header fields.
    #[default]
    Uri,
    /// The same with bodies, whose lengths stand before the targets.
    UriPost,
    /// Whole requests as they go over the wire, with their lengths before them.
    Raw,
    /// JSON objects.
    JsonLine,
    /// An access log of a server or proxy, in text or in JSON lines.
    AccessLog,
    /// An HTTP archive, as browsers write it.
    Har,
    /// gRPC calls as JSON objects.
    GrpcJson,
}

/// The formats by name.
pub const AMMO_FORMATS: [(&str, AmmoFormat); 7] = [
    ("uri", AmmoFormat::Uri),
    ("uripost", AmmoFormat::UriPost),
    ("raw", AmmoFormat::Raw),
    ("jsonline", AmmoFormat::JsonLine),
    ("access-log", AmmoFormat::AccessLog),
    ("har", AmmoFormat::Har),
    ("grpc-json", AmmoFormat::GrpcJson),
];

impl FromStr for AmmoFormat {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = AMMO_FORMATS.iter().find(|(name, _)| *name == text);
        known.map(|(_, format)| *format).ok_or_else(|| {
            let names = AMMO_FORMATS.map(|(name, _)| name).join(", ");
            let shown = text.escape_default();
            format!("unknown ammo format `{shown}`; use one of {names}")
        })
    }
}

/// A decoder, with what it knows of the file before.
#[derive(Clone, Debug)]
pub(super) struct Decoder {
    format: AmmoFormat,
    /// The header fields that stand for the entries that follow.
    standing: StandingHeaders,
    values: JsonValues,
    log: LogReader,
}

impl Decoder {
    pub(super) fn new(format: AmmoFormat) -> Self {
        Self {
            format,
            standing: Arc::from([]),
            values: JsonValues::default(),
            log: LogReader::default(),
        }
    }

    /// The bytes that are kept with it, beyond those that are kept with another.
    pub(super) fn state_bytes_beside(&self, other: Option<&Self>) -> usize {
        if other.is_some_and(|other| Arc::ptr_eq(&other.standing, &self.standing)) {
            return 0;
        }
        let lengths = self.standing.iter();
        lengths
            .map(|(name, value)| 64 + name.len() + value.len())
            .sum()
    }

    /// Reads the next entry of a window, or what stands before it.
    pub(super) fn step(&mut self, window: &[u8], is_last: bool, out: &mut Batch) -> Step {
        match self.format {
            AmmoFormat::Uri => uri::step(&mut self.standing, window, is_last, out),
            AmmoFormat::UriPost => uri::step_post(&mut self.standing, window, is_last, out),
            AmmoFormat::Raw => raw::step(window, is_last, out),
            AmmoFormat::JsonLine => json_line::step(&mut self.values, window, is_last, out),
            AmmoFormat::AccessLog => access_log::step(&mut self.log, window, is_last, out),
            AmmoFormat::GrpcJson => call_json::step(&mut self.values, window, is_last, out),
            AmmoFormat::Har => Step::End,
        }
    }
}
