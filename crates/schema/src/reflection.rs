//! Reflection: a server's own description of its services, as a machine without I/O.
//!
//! ```text
//! Session::new ──► next_request ──bytes──► stream ──bytes──► handle_response ─┐
//!                      ▲                                                      │
//!                      └────────────────── until there is none ───────────────┘
//!                                            finish ──► Schema
//! ```
//!
//! One stream, one request at a time. A server without `v1` ends the stream with UNIMPLEMENTED;
//! [`Session::handle_unimplemented`] then begins again with `v1alpha`.

mod message;

use crate::assemble::{assemble, own};
use crate::intake::Intake;
use crate::{Schema, SchemaError, describe, lookup};
use message::{ErrorResponse, Question, Request, Response};
use prost::Message;
use prost_reflect::prost_types::FileDescriptorProto;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Files that one schema may have.
const FILES_MAX: usize = 5000;
/// Bytes that all descriptors together may have.
const BYTES_MAX: usize = 32 << 20;
/// Services that a server may list.
const SERVICES_MAX: usize = 2000;
/// gRPC's NOT_FOUND, in the answers of the service.
const NOT_FOUND: i32 = 5;

/// The versions of the service; their messages are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// `grpc.reflection.v1`.
    V1,
    /// `grpc.reflection.v1alpha`, which older servers have.
    V1Alpha,
}

impl Version {
    /// The path of the service's one method, a stream both ways.
    #[must_use]
    pub const fn path(self) -> &'static str {
        match self {
            Self::V1 => "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
            Self::V1Alpha => "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
        }
    }
}

/// The request to a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// All services that it lists.
    Everything,
    /// A service, by its full name.
    Service(String),
    /// A service, method, message or enum, by its full name.
    Symbol(String),
}

impl Wanted {
    /// The service of a call, as [`Schema::method`] takes it.
    ///
    /// # Errors
    /// When the text is not of that form.
    pub fn call(call: &str) -> Result<Self, SchemaError> {
        crate::schema::service_of(call).map(Self::Service)
    }
}

/// A conversation with a server about its schema.
#[derive(Debug)]
pub struct Session {
    wanted: Wanted,
    version: Version,
    /// The next questions, and the one whose answer is awaited.
    questions: VecDeque<Question>,
    asked: Option<Question>,
    files: BTreeMap<String, FileDescriptorProto>,
    /// Files that have been asked for by name.
    sought: BTreeSet<String>,
    intake: Intake,
    bytes: usize,
    /// The symbol that the server does not know, to be compared with the names of its list, or of
    /// all that its services lead to.
    unknown: Option<String>,
}

impl Session {
    /// A conversation that has not begun.
    #[must_use]
    pub fn new(wanted: Wanted) -> Self {
        let mut session = Self {
            wanted,
            version: Version::V1,
            questions: VecDeque::new(),
            asked: None,
            files: BTreeMap::new(),
            sought: BTreeSet::new(),
            intake: Intake::default(),
            bytes: 0,
            unknown: None,
        };
        session.begin();
        session
    }

    fn begin(&mut self) {
        self.questions = VecDeque::from([match &self.wanted {
            Wanted::Everything => Question::ListServices(String::from("*")),
            Wanted::Service(name) | Wanted::Symbol(name) => {
                Question::FileContainingSymbol(name.clone())
            }
        }]);
        self.asked = None;
        self.unknown = None;
        self.files.clear();
        self.sought.clear();
        self.intake = Intake::default();
        self.bytes = 0;
    }

    /// The version in use, which determines the path of the call.
    #[must_use]
    pub const fn version(&self) -> Version {
        self.version
    }

    /// The next message for the server, without gRPC's prefix; `None` when an answer is awaited or
    /// nothing is left to ask, and the stream may be ended.
    pub fn next_request(&mut self) -> Option<Vec<u8>> {
        if self.asked.is_some() {
            return None;
        }
        let question = self.questions.pop_front()?;
        self.asked = Some(question.clone());
        Some(Request::of(question).encode_to_vec())
    }

    /// Whether all has been asked and answered.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.asked.is_none() && self.questions.is_empty()
    }

    /// Whether no answer is outstanding, so that what is left to ask may go on another stream.
    #[must_use]
    pub const fn is_answered(&self) -> bool {
        self.asked.is_none()
    }

    /// The server has no such service. Whether there is an older version to begin again with, on
    /// a new stream to [`Version::path`].
    pub fn handle_unimplemented(&mut self) -> bool {
        let older = self.version == Version::V1;
        if older {
            self.version = Version::V1Alpha;
            self.begin();
        }
        older
    }

    /// Takes the server's answer, without gRPC's prefix.
    ///
    /// # Errors
    /// When it is none, reports that there is no such symbol or file, or goes beyond the limits.
    pub fn handle_response(&mut self, message: &[u8]) -> Result<(), SchemaError> {
        let Some(asked) = self.asked.take() else {
            return Err(lie("it sent an unexpected answer"));
        };
        let response = Response::decode(message)
            .map_err(|error| lie(&format!("its answer can't be read: {error}")))?;
        match (response.error, response.files, response.services) {
            (Some(error), ..) => self.refused(&asked, &error),
            (None, Some(files), _) => self.take_files(&asked, files.file_descriptor_proto),
            (None, None, Some(services)) => {
                self.take_services(services.service.into_iter().map(|service| service.name))
            }
            (None, None, None) => Err(lie("its answer is empty")),
        }
    }

    /// The schema, when all has been asked and answered.
    ///
    /// # Errors
    /// When something is missing: a file that is imported, or the symbol that was asked for; when
    /// files import each other in a circle; or when descriptors contradict each other.
    pub fn finish(self) -> Result<Schema, SchemaError> {
        if !self.is_complete() {
            return Err(lie("it ended the stream before it had sent everything"));
        }
        let unknown = self.unknown;
        let pool = assemble(self.files.into_values().collect()).map_err(|error| lie(&error.0))?;
        if let Some(name) = unknown {
            return Err(not_found(&name, describe::symbols(&pool)));
        }
        let schema = Schema::of(pool);
        if let Wanted::Service(name) | Wanted::Symbol(name) = &self.wanted {
            schema
                .describe(name)
                .map_err(|_| lie(&format!("its files for {name:?} do not contain it")))?;
        }
        Ok(schema)
    }

    /// The server knows no answer.
    fn refused(&mut self, asked: &Question, error: &ErrorResponse) -> Result<(), SchemaError> {
        match asked {
            // A service that is listed and not known is none that could be near.
            Question::FileContainingSymbol(_) if self.unknown.is_some() => Ok(()),
            Question::FileContainingSymbol(name) if error.error_code == NOT_FOUND => {
                // Asking for the list costs a round trip and gives a far better error.
                self.unknown = Some(name.clone());
                self.questions = VecDeque::from([Question::ListServices(String::from("*"))]);
                Ok(())
            }
            Question::ListServices(_) => match self.unknown.take() {
                Some(name) => Err(not_found(&name, Vec::new())),
                None => Err(lie(&format!(
                    "it does not list its services: {}",
                    shown(error)
                ))),
            },
            Question::FileContainingSymbol(name) => Err(lie(&format!(
                "it has no file for {name:?}: {}",
                shown(error)
            ))),
            Question::FileByFilename(name) => Err(lie(&format!(
                "the imported file {name:?} is missing: {}",
                shown(error)
            ))),
        }
    }

    fn take_services(&mut self, names: impl Iterator<Item = String>) -> Result<(), SchemaError> {
        let names: Vec<String> = names.take(SERVICES_MAX + 1).collect();
        if names.len() > SERVICES_MAX {
            return Err(lie(&format!("it lists more than {SERVICES_MAX} services")));
        }
        if !matches!(self.wanted, Wanted::Symbol(_))
            && let Some(unknown) = self.unknown.take()
        {
            return Err(not_found(&unknown, names));
        }
        let names: BTreeSet<String> = names.into_iter().collect();
        self.questions
            .extend(names.into_iter().map(Question::FileContainingSymbol));
        Ok(())
    }

    fn take_files(&mut self, asked: &Question, files: Vec<Vec<u8>>) -> Result<(), SchemaError> {
        let mut imports = Vec::new();
        for bytes in files {
            self.bytes += bytes.len();
            if self.bytes > BYTES_MAX {
                return Err(lie(&format!(
                    "its descriptors have more than {BYTES_MAX} bytes"
                )));
            }
            let file = self.intake.file(&bytes).map_err(|error| lie(&error))?;
            // Servers repeat files that they have sent before.
            if let Entry::Vacant(place) = self.files.entry(file.name().to_owned()) {
                imports.extend_from_slice(&file.dependency);
                place.insert(file);
            }
        }
        if self.files.len() > FILES_MAX {
            return Err(lie(&format!("it has more than {FILES_MAX} files")));
        }
        match asked {
            Question::FileByFilename(name) if !self.files.contains_key(name) => {
                Err(lie(&format!("it sent other files instead of {name:?}")))
            }
            _ => self.seek(imports),
        }
    }

    /// Requests imported files that the server did not send along.
    fn seek(&mut self, imports: Vec<String>) -> Result<(), SchemaError> {
        for name in imports {
            if self.files.contains_key(&name) || !self.sought.insert(name.clone()) {
                continue;
            }
            if self.sought.len() > FILES_MAX {
                return Err(lie(&format!(
                    "its files import more than {FILES_MAX} others"
                )));
            }
            if own(&name).is_none() {
                self.questions.push_back(Question::FileByFilename(name));
            }
        }
        Ok(())
    }
}

/// The server's reflection is at fault.
fn lie(what: &str) -> SchemaError {
    SchemaError(format!("the server's reflection: {what}"))
}

fn not_found(name: &str, services: Vec<String>) -> SchemaError {
    let known: Vec<&str> = services.iter().map(String::as_str).collect();
    let near = lookup::near_symbol(name, &known);
    if near.is_empty() {
        return SchemaError(format!(
            "Symbol not found: {name}{}",
            lookup::listed("the server has", &known)
        ));
    }
    SchemaError(format!("Symbol not found: {name}{near}"))
}

/// A server's words, shortened.
fn shown(error: &ErrorResponse) -> String {
    const CHARACTERS: usize = 200;
    let text: String = error.error_message.chars().take(CHARACTERS).collect();
    format!("{text} (code {})", error.error_code)
}
