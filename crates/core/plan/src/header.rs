//! The method and the fields of a request: texts that are safe to send.

use crate::secret;
use std::fmt;

/// An HTTP method: a token, kept as given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Method(String);

impl Method {
    /// GET.
    #[must_use]
    pub fn get() -> Self {
        Self("GET".to_owned())
    }

    /// Whether content has a meaning for the method, so that a request without content has a
    /// Content-Length of 0 (RFC 9110 section 8.6). Some servers refuse a request without it (411).
    #[must_use]
    pub fn expects_content(&self) -> bool {
        matches!(self.0.as_str(), "POST" | "PUT" | "PATCH")
    }

    /// Parses a token (RFC 9110 section 5.6.2); the case is kept.
    ///
    /// # Errors
    /// If the text is empty or contains a character that is not allowed in a token.
    pub fn parse(text: &str) -> Result<Self, HeaderError> {
        if is_token(text) {
            Ok(Self(text.to_owned()))
        } else {
            Err(HeaderError::Method(shorten(&secret::excerpt(text))))
        }
    }

    /// Whether a request with this method announces empty content, because the method usually has
    /// content (RFC 9110 section 8.6).
    #[must_use]
    pub fn announces_content(method: &str) -> bool {
        matches!(method, "PATCH" | "POST" | "PUT")
    }

    /// The method as sent.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// One header field of a request; name and value are safe to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    name: String,
    value: Vec<u8>,
}

/// Fields that frame a message or belong to its connection (RFC 9110 section 7.6.1).
const FRAMING: [&str; 9] = [
    "connection",
    "content-length",
    "expect",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// The fields that determine where a message ends; they follow from its body.
const LENGTHS: [&str; 3] = ["content-length", "trailer", "transfer-encoding"];

impl Header {
    /// Whether a field with this name determines where a message ends, so that it must come from
    /// the message itself; the case is ignored.
    #[must_use]
    pub fn frames(name: &str) -> bool {
        LENGTHS.iter().any(|known| name.eq_ignore_ascii_case(known))
    }

    /// Whether a field with this name frames the message or belongs to the connection, so that a
    /// request's data must not contain it; the case is ignored.
    #[must_use]
    pub fn is_framing(name: &str) -> bool {
        FRAMING.iter().any(|known| name.eq_ignore_ascii_case(known))
    }

    /// Whether the `:authority` of a request over HTTP/2 can have this value: it is not empty, and
    /// printable ASCII without spaces (RFC 9113 section 8.3.1).
    #[must_use]
    pub fn is_authority(value: &[u8]) -> bool {
        !value.is_empty() && value.iter().all(u8::is_ascii_graphic)
    }

    /// A field with this name and value; white space around the value is removed.
    ///
    /// # Errors
    /// If the name is not a token or the value contains CR, LF, NUL or another control character.
    pub fn new(name: &str, value: &[u8]) -> Result<Self, HeaderError> {
        Self::check(name, value)?;
        Ok(Self {
            name: name.to_owned(),
            value: value.trim_ascii().to_vec(),
        })
    }

    /// Checks that a field with this name and value can be sent.
    pub(crate) fn check(name: &str, value: &[u8]) -> Result<(), HeaderError> {
        if !is_token(name) {
            return Err(HeaderError::Name(shorten(&secret::excerpt(name))));
        }
        let value = value.trim_ascii();
        if value.iter().any(|&b| (b < 0x20 && b != b'\t') || b == 0x7f) {
            return Err(HeaderError::Value(name.to_owned()));
        }
        Ok(())
    }

    /// Parses `Name: value`.
    ///
    /// # Errors
    /// If the colon is missing, and as [`Header::new`].
    pub fn parse(line: &str) -> Result<Self, HeaderError> {
        let (name, value) = line
            .split_once(':')
            .ok_or_else(|| HeaderError::NoColon(shorten(&secret::line_without_colon(line))))?;
        Self::new(name.trim(), value.as_bytes())
    }

    /// The field's name as given.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The field's value.
    #[must_use]
    pub fn value(&self) -> &[u8] {
        &self.value
    }

    /// Whether the field has this name; the case is ignored.
    #[must_use]
    pub fn is(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name)
    }
}

/// Whether the text is a token of RFC 9110 section 5.6.2.
fn is_token(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b))
}

/// The first 64 characters with controls escaped, for a message.
fn shorten(text: &str) -> String {
    let shown = text.chars().take(64);
    shown
        .flat_map(|c| match c {
            '…' => c.to_string().chars().collect::<Vec<char>>(),
            c => c.escape_debug().collect(),
        })
        .collect()
}

/// Why a method or header cannot be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HeaderError {
    /// The method is not a token.
    Method(String),
    /// The name is not a token.
    Name(String),
    /// The line has no colon.
    NoColon(String),
    /// The value of the named field contains a control character.
    Value(String),
}

impl fmt::Display for HeaderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Method(text) => write!(
                f,
                "`{text}` is not a method; write a word such as GET or POST"
            ),
            Self::Name(text) => write!(f, "`{text}` is not a header name; write `Name: value`"),
            Self::NoColon(text) => write!(f, "`{text}` has no colon; write `Name: value`"),
            Self::Value(name) => write!(
                f,
                "the value of header `{name}` contains a control character; a header is one line \
                 of text"
            ),
        }
    }
}

impl std::error::Error for HeaderError {}
