//! The bytes of bodies and of calls' data, and where they come from.

use super::{Field, Text};

/// Where bytes come from.
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
    /// What it holds.
    pub content: PartContent,
    /// The name of the file that the server is given; that of the file itself where it is absent.
    pub file_name: Option<Text>,
    /// Its media type.
    pub media_type: Option<Text>,
}

/// What a part of a body holds.
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
