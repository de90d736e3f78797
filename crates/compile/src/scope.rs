//! The state of one compilation: the host, the mistakes so far, and the files that were read.
//!
//! Every step is given the scope, reads through it and notes mistakes in it. The reading methods
//! return `None` where they have noted one, so that a caller may use `?` without a message of its
//! own; `found.ok(place, result)` does the same for any result.
//!
//! A scope lives as long as one compilation and never outlasts it. What a run still reads from
//! files it has opened through [`Scope::open`]; the bytes that [`Scope::file`] has read are shared
//! with the plan and stay as they were, even where the file changes before the run.

use crate::multipart::{Multipart, multipart};
use crate::taken::TakenValues;
use crate::web_form::{self, Tags};
use crate::{Host, ReadAt};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use drumfire_document::Findings;
use drumfire_document::{Count, Part, PartContent, Payload, Place, Switch, Text};
use drumfire_plan::Sequence;
use drumfire_units::Nanos;
use std::collections::HashMap;
use std::sync::Arc;

/// The host, the mistakes so far, and the files that were read.
///
/// There is one for each compilation, and each step has it alone while it runs. Nothing in it is a
/// part of the plan but the bytes of files; the other fields carry facts between steps that do not
/// call each other, such as the names of secret fields from a draft to the options of HTTP.
pub(crate) struct Scope<'a> {
    /// The machine and its servers.
    pub(crate) host: &'a Arc<dyn Host>,
    /// The mistakes so far, each with its place.
    pub(crate) found: Findings,
    /// The files that were read, by path as it was written: the content that many requests send is
    /// in memory once. `None` where a file can't be read, which was noted once.
    files: HashMap<String, Option<Arc<[u8]>>>,
    /// Whether a server has answered a question for a schema. Later questions are then asked in
    /// spite of mistakes: they cost no timeout any more, and find the mistakes of further calls.
    pub(crate) has_answer: bool,
    /// Names of header fields whose values the document marks as secrets.
    pub(crate) private_headers: Vec<String>,
    /// The record of values that are taken from responses, in a setup or a teardown.
    pub(crate) taken: Option<Arc<TakenValues>>,
    /// The places of values that contain one which the setup has not taken yet.
    pub(crate) late: Arc<[Place]>,
}

impl<'a> Scope<'a> {
    /// A scope without mistakes, for a document that is sound in its form.
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

    /// The content of a file; `None` where it can't be read. Paths are compared as texts: a
    /// file under two names is read twice.
    pub(crate) fn file(&mut self, path: &Text) -> Option<Arc<[u8]>> {
        if let Some(bytes) = self.files.get(&path.value) {
            return bytes.clone();
        }
        let read = self.host.read(&path.value);
        let read = read.map_err(|error| format!("can't read {}: {error}", path.value));
        let bytes = self.found.ok(&path.place, read).map(Arc::from);
        self.files.insert(path.value.clone(), bytes.clone());
        bytes
    }

    /// The content of a file with a private key; `None` where it can't be read.
    pub(crate) fn secret_file(&mut self, path: &Text) -> Option<Arc<[u8]>> {
        let read = self.host.read_secret(&path.value);
        let read = read.map_err(|error| format!("can't read {}: {error}", path.value));
        self.found.ok(&path.place, read).map(Arc::from)
    }

    /// A file that is read from any place while the run lasts; `None` where it can't be opened.
    pub(crate) fn open(&mut self, path: &Text) -> Option<Arc<dyn ReadAt>> {
        let opened = self.host.open(&path.value);
        let opened = opened.map_err(|error| format!("can't read {}: {error}", path.value));
        self.found.ok(&path.place, opened)
    }

    /// The bytes of a payload, as they are where no templates are looked for. A form is encoded and
    /// parts are joined; a file is read, and read once however many requests name it. `None` where
    /// a mistake was noted.
    pub(crate) fn payload(&mut self, payload: &Payload) -> Option<Arc<[u8]>> {
        match payload {
            Payload::Text(text) | Payload::Json(text) => Some(text.value.as_bytes().into()),
            Payload::Form(fields) => Some(web_form::body(fields, Tags::Text).into_bytes().into()),
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

    /// A law, whose traces are read by `read_trace`; a mistake is marked within the text, at the
    /// piece of the law that has it.
    pub(crate) fn law(
        &mut self,
        text: &Text,
        read_trace: &mut dyn FnMut(&str) -> Result<Vec<Nanos>, String>,
    ) -> Option<Sequence> {
        match Sequence::parse_with(&text.value, read_trace) {
            Ok(law) => Some(law),
            Err(error) => {
                // A comma within YAML's braces ends a text without quotes, and then it looks like
                // this.
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

    /// The value of a word, of several that are possible; `what` is the noun in the message on an
    /// unknown one. `None` where nothing was written, and where a mistake was noted: the default
    /// goes in its place either way.
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
        let shown = text.value.escape_default();
        let message = format!("unknown {what} `{shown}`; use {known}");
        self.found.add(&text.place, message);
        None
    }
}

/// Whether a switch is on; it is off where nothing was written.
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
