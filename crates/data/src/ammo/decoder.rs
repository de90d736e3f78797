//! The formats, each a decoder that takes a file entry by entry.

use super::batch::{Batch, Standing};
use super::{access_log, call_json, json_line, raw, uri};
use crate::feed::JsonValues;
use drumfire_plan::URL_LENGTH_MAX;
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
    /// An access log, as nginx and Apache write it or in JSON lines.
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
            format!("`{shown}` is no format of ammo; there are {names}")
        })
    }
}

/// What was read of the beginning of a window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// This many bytes, which made this many entries: one or none.
    Took { bytes: usize, rows: usize },
    /// The window ends within an entry.
    More,
    /// There is no further entry.
    End,
    /// A mistake.
    Broken { at: usize, message: String },
}

impl Step {
    /// A mistake at the beginning of the window.
    pub(super) fn broken(message: impl Into<String>) -> Self {
        Self::Broken {
            at: 0,
            message: message.into(),
        }
    }
}

/// A decoder, with what it knows of the file before.
#[derive(Clone, Debug)]
pub(super) struct Decoder {
    format: AmmoFormat,
    /// The header fields that stand for the entries that follow.
    standing: Standing,
    values: JsonValues,
}

impl Decoder {
    pub(super) fn new(format: AmmoFormat) -> Self {
        Self {
            format,
            standing: Arc::from([]),
            values: JsonValues::default(),
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
            AmmoFormat::AccessLog => access_log::step(window, is_last, out),
            AmmoFormat::GrpcJson => call_json::step(&mut self.values, window, is_last, out),
            AmmoFormat::Har => Step::End,
        }
    }
}

/// The first line of a window and how many bytes it takes with its end, or what to do without one.
pub(super) fn line(window: &[u8], is_last: bool) -> Result<(&[u8], usize), Step> {
    match window.iter().position(|byte| *byte == b'\n') {
        Some(end) => Ok((window[..end].trim_ascii(), end + 1)),
        None if !is_last => Err(Step::More),
        None if window.is_empty() => Err(Step::End),
        None => Ok((window.trim_ascii(), window.len())),
    }
}

/// A line as text.
pub(super) fn text(line: &[u8]) -> Result<&str, Step> {
    std::str::from_utf8(line).map_err(|_| Step::broken("the line is not UTF-8"))
}

/// Puts an entry with this target: an absolute one names a host, and the rest is path and query.
///
/// # Errors
/// In words, where it can't be one.
pub(super) fn begin(method: &str, target: &str, out: &mut Batch) -> Result<(), String> {
    let shown = || {
        target
            .chars()
            .take(60)
            .collect::<String>()
            .escape_default()
            .to_string()
    };
    let (host, path) = match target.find("://") {
        Some(at) if !target.starts_with('/') && !target[..at].contains(['?', '#']) => {
            let rest = &target[at + 3..];
            rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()))
        }
        _ => ("", target),
    };
    let path = path.split('#').next().unwrap_or_default();
    let bad = |byte: u8| byte <= b' ' || byte == 0x7f;
    if path.bytes().any(bad) || host.bytes().any(bad) {
        return Err(format!(
            "`{}` is no path: it has a space or a control character",
            shown()
        ));
    }
    if host.is_empty() && !path.starts_with('/') {
        return Err(format!(
            "`{}` is no path; write one that begins with `/`, or a URL",
            shown()
        ));
    }
    if path.len() > URL_LENGTH_MAX {
        return Err(format!(
            "the path and query have {} bytes; at most {URL_LENGTH_MAX} are accepted",
            path.len()
        ));
    }
    match path.starts_with('/') {
        true => out.begin(method, path),
        false => out.begin(method, &format!("/{path}")),
    }
    // A name and a password before it are no part of the host.
    let host = host.rsplit('@').next().unwrap_or_default();
    if !host.is_empty() {
        out.host(host);
    }
    Ok(())
}
