//! What others wrote or recorded, as a document: command lines of curl, HAR files, descriptions in
//! OpenAPI, collections of Postman, access logs.
//!
//! Knows those forms and how a plan says the same. Must not know I/O, or what a document means:
//! what can't be carried over is a note to the reader, and nothing is left out without one. Start
//! reading at [`import`].
//!
//! Each form is one file and gives the same list of requests, from which one function makes the
//! document.

mod access_log;
mod curl;
mod exchange;
mod har;
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

/// The form of a text that is imported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Command lines of curl, as browsers copy them.
    Curl,
    /// A recording of a browser (HTTP Archive 1.2).
    Har,
    /// A description of a service, OpenAPI 3, in JSON or YAML, with the files to which it refers.
    OpenApi,
    /// A collection of Postman, version 2.1.
    Postman,
    /// An access log of a server or proxy.
    AccessLog,
}

/// A text that is imported.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    /// The text itself.
    pub text: &'a str,
    /// The name of its file, without its folder; empty if it is in none.
    pub name: &'a str,
    /// Reads a file to which it refers, by the path from its folder. The path never leads out of
    /// the folder; links may.
    pub read: &'a dyn Fn(&str) -> io::Result<Vec<u8>>,
}

impl<'a> Source<'a> {
    /// A text without files beside it.
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

/// What the reader of a text is told beside it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wishes {
    /// The target, where the text has none, or in place of its own.
    pub target: Option<String>,
    /// Whether the pauses of a recording are kept.
    pub keeps_pauses: bool,
    /// Whether requests of a recording to other hosts are kept, and operations of a description
    /// that change something or are deprecated.
    pub keeps_all: bool,
}

/// A document, and what of the text is not in it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Imported {
    /// The document.
    pub document: Document,
    /// What was left out or changed, a sentence each.
    pub notes: Vec<String>,
}

/// Reads a text of a form.
///
/// # Errors
/// What is wrong with the text, in words.
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
