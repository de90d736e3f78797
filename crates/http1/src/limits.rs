//! The bounds on one response: every limit of this crate, in one place.

/// Bounds on a peer's bytes. Reaching one ends the exchange with an error of its own and the
/// connection with it; nothing is cut in silence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one head, its status line and final empty line included; the same bound holds for
    /// the trailer section. Beyond it: [`crate::Error::LimitHead`].
    pub head_bytes: u32,
    /// Field lines in one head, and in one trailer section. Beyond it:
    /// [`crate::Error::LimitHeaderCount`].
    pub header_count: u32,
    /// Interim (1xx) responses before the final one. Beyond it: [`crate::Error::LimitInterim`].
    pub interim: u32,
    /// Bytes of chunk extensions, and of white space around them, in one message. Beyond it:
    /// [`crate::Error::LimitChunkExtension`].
    pub chunk_extension_bytes: u32,
    /// Bytes of one body after transfer decoding; no bound when `None`. Beyond it:
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
