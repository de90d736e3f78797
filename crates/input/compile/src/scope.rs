//! The state of one compilation: the host, the mistakes so far, and the files read.
//!
//! Every step receives the scope, reads through it and notes mistakes in it. The reading methods
//! return `None` after they noted a mistake, so that a caller can use `?` without its own message;
//! `found.ok(place, result)` does the same for any result.
//!
//! A scope lives for one compilation. Files that the run reads later are opened through
//! [`Scope::open`]. The plan shares the bytes that [`Scope::file`] has read, so these do not change
//! even if the file changes before the run.

use crate::multipart::{Multipart, multipart};
use crate::taken::TakenValues;
use crate::web_form::{self, TagMeaning};
use crate::{Host, ReadAt};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use drumfire_document::Findings;
use drumfire_document::{Count, Part, PartContent, Payload, Place, Switch, Text};
use drumfire_plan::Sequence;
use drumfire_units::Nanos;
use std::collections::HashMap;
use std::sync::Arc;

/// The host, the mistakes so far, and the files read.
///
/// Each compilation has one scope, and each step borrows it exclusively. Of its content, only the
/// bytes of files become part of the plan. The other fields carry facts between steps that do not
/// call each other, such as the names of secret fields from a draft to the options of HTTP.
pub(crate) struct Scope<'a> {
    /// The machine and its servers.
    pub(crate) host: &'a Arc<dyn Host>,
    /// The mistakes so far, each with its place.
    pub(crate) found: Findings,
    /// The files read, by path as written, so that content that many requests send is in memory
    /// once. `None` if a file can't be read, which was noted once.
    files: HashMap<String, Option<Arc<[u8]>>>,
    /// Whether a server has answered a query for a schema. Later queries are then sent in spite of
    /// mistakes: they no longer cost a timeout, and find the mistakes of further calls.
    pub(crate) has_answer: bool,
    /// Names of header fields whose values the document marks as secrets.
    pub(crate) private_headers: Vec<String>,
    /// The record of values that are taken from responses, in a setup or a teardown.
    pub(crate) taken: Option<Arc<TakenValues>>,
    /// The places of values that contain a value which the setup has not taken yet.
    pub(crate) late: Arc<[Place]>,
}

impl<'a> Scope<'a> {
    /// Creates a scope without mistakes, for a document of valid form.
    pub(crate) fn new(host: &'a Arc<dyn Host>) -> Self {
        Self {
            host,
            found: Findings::default(),
            files: HashMap::new(),
            has_answer: false,
            private_headers: Vec::new(),
            taken: None,
            late: Arc::default(),
        }
    }

    /// The content of a file; `None` if it can't be read. Paths are compared as texts: a file under
    /// two names is read twice.
    pub(crate) fn file(&mut self, path: &Text) -> Option<Arc<[u8]>> {
        if let Some(bytes) = self.files.get(&path.value) {
            return bytes.clone();
        }
        let read = match (path.value.as_str(), &path.place) {
            ("", Place::Flag { .. }) => Err(
                "the name of the file is missing; use @FILE, or @- for standard input".to_owned(),
            ),
            (name, _) => {
                let read = self.host.read(name);
                read.map_err(|error| format!("can't read {name}: {error}"))
            }
        };
        let bytes = self.found.ok(&path.place, read).map(Arc::from);
        self.files.insert(path.value.clone(), bytes.clone());
        bytes
    }

    /// The content of a file with a private key; `None` if it can't be read.
    pub(crate) fn secret_file(&mut self, path: &Text) -> Option<Arc<[u8]>> {
        let read = self.host.read_secret(&path.value);
        let read = read.map_err(|error| format!("can't read {}: {error}", path.value));
        self.found.ok(&path.place, read).map(Arc::from)
    }

    /// A file whose parts can be read during the run; `None` if it can't be opened.
    pub(crate) fn open(&mut self, path: &Text) -> Option<Arc<dyn ReadAt>> {
        let opened = self.host.open(&path.value);
        let opened = opened.map_err(|error| format!("can't read {}: {error}", path.value));
        self.found.ok(&path.place, opened)
    }

    /// The bytes of a payload, unchanged if templates are off. A form is encoded and parts are
    /// joined. A file is read once for all requests that send it. Returns `None` after a mistake
    /// was noted.
    pub(crate) fn payload(&mut self, payload: &Payload) -> Option<Arc<[u8]>> {
        match payload {
            Payload::Text(text) | Payload::Json(text) => Some(text.value.as_bytes().into()),
            Payload::Form(fields) => {
                Some(web_form::body(fields, TagMeaning::Text).into_bytes().into())
            }
            Payload::Multipart(parts) => {
                let made = self.multipart(parts, false)?;
                Some(made.bytes.into())
            }
            Payload::File(path) => self.file(path),
            Payload::Base64(text) => {
                let decoded = STANDARD.decode(text.value.trim());
                let decoded = decoded.map_err(|error| format!("invalid base64: {error}"));
                self.found.ok(&text.place, decoded).map(Arc::from)
            }
        }
    }

    /// A body of several parts, whose texts may be templates.
    pub(crate) fn multipart(&mut self, parts: &[Part], are_templates: bool) -> Option<Multipart> {
        let mut contents = Vec::with_capacity(parts.len());
        for part in parts {
            contents.push(match &part.content {
                PartContent::Text(text) => text.value.as_bytes().into(),
                PartContent::File(path) => self.file(path)?,
            });
        }
        match multipart(parts, &contents, are_templates) {
            Ok(made) => Some(made),
            Err(diagnostic) => {
                self.found.push(*diagnostic);
                None
            }
        }
    }

    /// A count that fits into 32 bits.
    pub(crate) fn count(&mut self, count: Option<&Count>) -> Option<u32> {
        let count = count?;
        let small = u32::try_from(count.value);
        let most = u32::MAX;
        let small =
            small.map_err(|_| format!("{} is too large; write at most {most}", count.value));
        self.found.ok(&count.place, small)
    }

    /// Parses a law; `read_trace` reads its traces. A mistake is marked within the text, at the
    /// invalid piece of the law.
    pub(crate) fn law(
        &mut self,
        text: &Text,
        read_trace: &mut dyn FnMut(&str) -> Result<Vec<Nanos>, String>,
    ) -> Option<Sequence> {
        match Sequence::parse_with(&text.value, read_trace) {
            Ok(law) => Some(law),
            Err(error) => {
                // In YAML braces, a comma ends an unquoted text, which then looks like this.
                let advice = match text.place {
                    Place::File { .. } if error.is_unclosed() => {
                        ", and within `{ }`, quote the law"
                    }
                    _ => "",
                };
                let message = format!("{}{advice}", error.message);
                self.found.mark(text, error.at, &message);
                None
            }
        }
    }

    /// The value of a word from a list of valid words; `what` is the noun for the message on an
    /// unknown word. Returns `None` if nothing was written, or after a mistake was noted: the
    /// caller uses the default in both cases.
    pub(crate) fn word<T: Copy>(
        &mut self,
        text: Option<&Text>,
        words: &[(&str, T)],
        what: &str,
    ) -> Option<T> {
        let text = text?;
        if let Some((_, value)) = words.iter().find(|(word, _)| *word == text.value) {
            return Some(*value);
        }
        let known: Vec<String> = words.iter().map(|(word, _)| format!("`{word}`")).collect();
        let known = match known.split_last() {
            Some((last, [])) => last.clone(),
            Some((last, others)) => format!("{} or {last}", others.join(", ")),
            None => String::new(),
        };
        let shown = text.value.escape_debug();
        let message = format!("unknown {what} `{shown}`; use {known}");
        self.found.add(&text.place, message);
        None
    }
}

/// Whether a switch is on; the default is off.
pub(crate) fn is_on(switch: &Option<Switch>) -> bool {
    switch.as_ref().is_some_and(|switch| switch.value)
}

/// The place of a payload, for mistakes in its content.
pub(crate) fn place_of(payload: &Payload) -> &Place {
    match payload {
        Payload::Text(text) | Payload::File(text) | Payload::Base64(text) | Payload::Json(text) => {
            &text.place
        }
        Payload::Multipart(parts) => parts
            .first()
            .map_or(&Place::Nowhere, |part| &part.name.place),
        Payload::Form(fields) => fields
            .first()
            .map_or(&Place::Nowhere, |field| &field.value.place),
    }
}
