//! The limits on one response: every limit of this crate, in one place.

/// Limits on a peer's bytes. Exceeding one ends the exchange with a specific error, and ends the
/// connection; nothing is truncated silently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one head, including its status line and final empty line; the same limit applies to
    /// the trailer section. If exceeded: [`crate::Error::LimitHead`].
    pub head_bytes: u32,
    /// Field lines in one head, and in one trailer section. If exceeded:
    /// [`crate::Error::LimitHeaderCount`].
    pub header_count: u32,
    /// Interim (1xx) responses before the final one. If exceeded: [`crate::Error::LimitInterim`].
    pub interim: u32,
    /// Bytes of chunk extensions, and of white space around them, in one message. If exceeded:
    /// [`crate::Error::LimitChunkExtension`].
    pub chunk_extension_bytes: u32,
    /// Bytes of one body after transfer decoding; `None` means no limit. If exceeded:
    /// [`crate::Error::LimitBody`].
    pub body_bytes: Option<u64>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            head_bytes: 256 * 1024,
            header_count: 1000,
            interim: 1000,
            chunk_extension_bytes: 16 * 1024,
            body_bytes: None,
        }
    }
}
