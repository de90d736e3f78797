//! The bytes of bodies and of calls' data, by the way in which they were written.
//!
//! The form is kept, rather than the bytes that it comes to, since a document is printed again:
//! JSON as a tree, a form as its fields. The compiler makes the bytes, and with some forms the
//! media type.

use crate::{Field, Text};

/// The source of bytes.
#[derive(Clone, Debug, PartialEq)]
pub enum Payload {
    /// The text itself.
    Text(Text),
    /// A file.
    File(Text),
    /// The text is base64 of them.
    Base64(Text),
    /// JSON, written as a tree.
    Json(Text),
    /// The fields of a web form.
    Form(Vec<Field>),
    /// Parts, as web forms with files have them.
    Multipart(Vec<Part>),
}

/// A part of a body of several parts.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// The name of its field.
    pub name: Text,
    /// Its content.
    pub content: PartContent,
    /// The name of the file that the server is given; that of the file itself where it is absent.
    pub file_name: Option<Text>,
    /// Its media type.
    pub media_type: Option<Text>,
}

/// The content of a part of a body.
#[derive(Clone, Debug, PartialEq)]
pub enum PartContent {
    /// The text itself.
    Text(Text),
    /// A file.
    File(Text),
}

impl Part {
    /// A part that is a text.
    #[must_use]
    pub const fn text(name: Text, text: Text) -> Self {
        Self {
            name,
            content: PartContent::Text(text),
            file_name: None,
            media_type: None,
        }
    }
}
