//! Reflection: fetches a server's description of its services, as a machine without I/O.
//!
//! ```text
//! Session::new ──► next_request ──bytes──► stream ──bytes──► handle_response ─┐
//!                      ▲                                                      │
//!                      └───────────────── until it is complete ───────────────┘
//!                                            finish ──► Schema
//! ```
//!
//! One stream, with one request at a time. A server without `v1` ends the stream with
//! UNIMPLEMENTED; [`Session::handle_unimplemented`] then begins again with `v1alpha`.

mod message;

use crate::assemble::{assemble, own};
use crate::intake::SchemaFiles;
use crate::{Schema, SchemaError, describe, lookup};
use message::{ErrorResponse, Question, Request, Response};
use prost::Message;
use prost_reflect::prost_types::FileDescriptorProto;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The maximum number of files in a schema.
const FILES_MAX: usize = 5000;
/// The maximum size of all descriptors together, in bytes.
const BYTES_MAX: usize = 32 << 20;
/// The maximum number of services that a server may list.
const SERVICES_MAX: usize = 2000;
/// gRPC's NOT_FOUND, in answers of the reflection service.
const NOT_FOUND: i32 = 5;

/// The versions of the reflection service; their messages are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReflectionVersion {
    /// `grpc.reflection.v1`.
    V1,
    /// `grpc.reflection.v1alpha`, which older servers implement.
    V1Alpha,
}

impl ReflectionVersion {
    /// The path of the service's only method, a bidirectional stream.
    #[must_use]
    pub const fn path(self) -> &'static str {
        match self {
            Self::V1 => "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
            Self::V1Alpha => "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
        }
    }
}

/// The information to fetch from a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// All listed services.
    Everything,
    /// A service, by its full name.
    Service(String),
    /// A service, method, message or enum, by its full name.
    Symbol(String),
}

impl Wanted {
    /// The service of a call, in the form that [`Schema::method`] accepts.
    ///
    /// # Errors
    /// If the text does not have that form.
    pub fn call(call: &str) -> Result<Self, SchemaError> {
        crate::schema::service_of(call).map(Self::Service)
    }
}

/// A reflection session with a server.
#[derive(Debug)]
pub struct Session {
    wanted: Wanted,
    version: ReflectionVersion,
    /// The next requests, and the one whose answer is pending.
    questions: VecDeque<Question>,
    asked: Option<Question>,
    files: BTreeMap<String, FileDescriptorProto>,
    /// Files that were requested by name.
    sought: BTreeSet<String>,
    intake: SchemaFiles,
    bytes: usize,
    /// A symbol that the server does not know. It is compared with the names of the server's list,
    /// or of all files of its services.
    unknown: Option<String>,
}

impl Session {
    /// Creates a session that has not begun.
    #[must_use]
    pub fn new(wanted: Wanted) -> Self {
        let mut session = Self {
            wanted,
            version: ReflectionVersion::V1,
            questions: VecDeque::new(),
            asked: None,
            files: BTreeMap::new(),
            sought: BTreeSet::new(),
            intake: SchemaFiles::default(),
            bytes: 0,
            unknown: None,
        };
        session.start();
        session
    }

    fn start(&mut self) {
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
        self.intake = SchemaFiles::default();
        self.bytes = 0;
    }

    /// The version in use, which determines the path of the call.
    #[must_use]
    pub const fn version(&self) -> ReflectionVersion {
        self.version
    }

    /// The next message for the server, without gRPC's prefix; `None` if an answer is pending, or
    /// if nothing is left to request and the stream may end.
    pub fn next_request(&mut self) -> Option<Vec<u8>> {
        if self.asked.is_some() {
            return None;
        }
        let question = self.questions.pop_front()?;
        self.asked = Some(question.clone());
        Some(Request::new(question).encode_to_vec())
    }

    /// Whether all requests have been sent and answered.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.asked.is_none() && self.questions.is_empty()
    }

    /// Whether no answer is pending, so that the remaining requests may use another stream.
    #[must_use]
    pub const fn is_answered(&self) -> bool {
        self.asked.is_none()
    }

    /// Handles a server without this version of the service. Returns whether there is an older
    /// version to begin again with, on a new stream to [`ReflectionVersion::path`].
    pub fn handle_unimplemented(&mut self) -> bool {
        let older = self.version == ReflectionVersion::V1;
        if older {
            self.version = ReflectionVersion::V1Alpha;
            self.start();
        }
        older
    }

    /// Handles the server's answer, without gRPC's prefix.
    ///
    /// # Errors
    /// If it is malformed, reports an unknown symbol or file, or exceeds the limits.
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

    /// The schema, after all requests have been answered.
    ///
    /// # Errors
    /// If an imported file or the requested symbol is missing, files import each other in a cycle,
    /// or descriptors contradict each other.
    pub fn finish(self) -> Result<Schema, SchemaError> {
        if !self.is_complete() {
            return Err(lie("it ended the stream before it had sent everything"));
        }
        let unknown = self.unknown;
        let pool = assemble(self.files.into_values().collect()).map_err(|error| lie(&error.0))?;
        if let Some(name) = unknown {
            return Err(not_found(&name, describe::symbols(&pool)));
        }
        let schema = Schema::from_pool(pool);
        if let Wanted::Service(name) | Wanted::Symbol(name) = &self.wanted {
            schema
                .describe(name)
                .map_err(|_| lie(&format!("its files for {name:?} do not contain it")))?;
        }
        Ok(schema)
    }

    /// Handles an error from the server.
    fn refused(&mut self, asked: &Question, error: &ErrorResponse) -> Result<(), SchemaError> {
        match asked {
            // A listed but unknown service can't be similar to the symbol.
            Question::FileContainingSymbol(_) if self.unknown.is_some() => Ok(()),
            Question::FileContainingSymbol(name) if error.error_code == NOT_FOUND => {
                // Requesting the list costs a round trip and gives a much better error.
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
            // Servers may repeat files that they have already sent.
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

    /// Requests imported files that the server has not sent.
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

/// The error for a faulty reflection service.
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

/// A server's message, shortened.
fn shown(error: &ErrorResponse) -> String {
    const CHARACTERS: usize = 200;
    let text: String = error.error_message.chars().take(CHARACTERS).collect();
    format!("{text} (code {})", error.error_code)
}
