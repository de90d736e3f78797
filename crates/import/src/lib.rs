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
mod json_value;
mod openapi;
mod postman;
mod shell;

pub use shell::shell_words;

use drumfire_document::Document;

/// The form of a text that is imported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Command lines of curl, as browsers copy them.
    Curl,
    /// A recording of a browser (HTTP Archive 1.2).
    Har,
    /// A description of a service, OpenAPI 3, in JSON or YAML.
    OpenApi,
    /// A collection of Postman, version 2.1.
    Postman,
    /// An access log of nginx or Apache: common or combined.
    AccessLog,
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
pub fn import(form: Form, text: &str, wishes: &Wishes) -> Result<Imported, String> {
    let made = match form {
        Form::Curl => curl::read(text)?,
        Form::Har => har::read(text, wishes)?,
        Form::OpenApi => openapi::read(text, wishes.keeps_all)?,
        Form::Postman => postman::read(text)?,
        Form::AccessLog => access_log::read(text)?,
    };
    made.into_document(wishes)
}
