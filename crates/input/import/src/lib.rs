//! Converts other formats to documents: curl command lines, HAR files, OpenAPI descriptions,
//! Postman collections, access logs.
//!
//! Knows these formats and their equivalents in a plan. Must not know I/O, or the meaning of a
//! document. Information that can't be converted is reported as a note, and nothing is omitted
//! without a note. Start reading at [`import`].
//!
//! Each format is one file and gives the same list of requests, from which one function builds the
//! document.

mod access_log;
mod curl;
mod exchange;
mod har;
mod json;
#[cfg(test)]
mod keyed;
mod library;
mod notes;
mod openapi;
mod postman;
#[cfg(test)]
mod referring;
mod sample;
mod shape;
mod shell;

pub use shell::shell_words;

use drumfire_document::Document;
use std::fmt;
use std::io;

/// The format of an imported text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// curl command lines, as browsers copy them.
    Curl,
    /// A recording of a browser (HTTP Archive 1.2).
    Har,
    /// A service description in OpenAPI 3, in JSON or YAML, with the files to which it refers.
    OpenApi,
    /// A Postman collection, version 2.1.
    Postman,
    /// An access log of a server or proxy.
    AccessLog,
}

/// A text to import.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    /// The text.
    pub text: &'a str,
    /// The name of the file, without its folder; empty without a file.
    pub name: &'a str,
    /// Reads a file to which the text refers, by the path relative to its folder. The path never
    /// leads out of the folder, but links may.
    pub read: &'a dyn Fn(&str) -> io::Result<Vec<u8>>,
}

impl<'a> Source<'a> {
    /// A text without other files.
    #[must_use]
    pub fn alone(text: &'a str) -> Self {
        Self {
            text,
            name: "",
            read: &|_| Err(io::Error::other("the document has no folder")),
        }
    }
}

impl fmt::Debug for Source<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// The options of an import.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wishes {
    /// The target, which replaces the text's own.
    pub target: Option<String>,
    /// Whether the pauses of a recording are kept.
    pub keeps_pauses: bool,
    /// Whether to keep requests of a recording to other hosts, and operations of a description that
    /// change state or are deprecated.
    pub keeps_all: bool,
}

/// A document, and notes on omitted parts of the text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Imported {
    /// The document.
    pub document: Document,
    /// Notes about omissions and changes, one sentence each.
    pub notes: Vec<String>,
}

/// Imports a text in a format.
///
/// # Errors
/// A message on the mistake in the text.
pub fn import(form: Form, source: &Source<'_>, wishes: &Wishes) -> Result<Imported, String> {
    let text = source.text;
    let made = match form {
        Form::Curl => curl::read(text)?,
        Form::Har => har::read(text, wishes)?,
        Form::OpenApi => openapi::read(source, wishes.keeps_all)?,
        Form::Postman => postman::read(text)?,
        Form::AccessLog => access_log::read(text)?,
    };
    made.into_document(wishes)
}
