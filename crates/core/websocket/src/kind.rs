//! The two kinds of messages.

/// What the bytes of a message are (RFC 6455 section 5.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A text in UTF-8.
    Text,
    /// Any bytes.
    Binary,
}
