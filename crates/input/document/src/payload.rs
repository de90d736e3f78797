//! The bytes of bodies and of calls' data, in their written form.
//!
//! The written form is kept instead of the resulting bytes, because a document is printed again:
//! JSON as a tree, a form as its fields. The compiler makes the bytes, and for some forms the media
//! type.

use crate::{Field, Text};

/// JSON in a plan: written as a tree, or as a text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JsonText(pub Option<Text>);

/// The source of bytes.
#[derive(Clone, Debug, PartialEq)]
pub enum Payload {
    /// Literal text.
    Text(Text),
    /// A file.
    File(Text),
    /// Base64.
    Base64(Text),
    /// JSON, written as a tree.
    Json(Text),
    /// The fields of a web form.
    Form(Vec<Field>),
    /// Parts, as in web forms with files.
    Multipart(Vec<Part>),
}

/// A part of a multipart body.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// The name of the field.
    pub name: Text,
    /// The content.
    pub content: PartContent,
    /// The file name for the server; the default is the name of the file.
    pub file_name: Option<Text>,
    /// The media type.
    pub media_type: Option<Text>,
}

/// The content of a part of a multipart body.
#[derive(Clone, Debug, PartialEq)]
pub enum PartContent {
    /// Literal text.
    Text(Text),
    /// A file.
    File(Text),
}

impl Part {
    /// A text part.
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
