//! The settings of a connection, and the bounds on a peer's cost: every limit of this crate, in one
//! place.
//!
//! They bound memory and work per connection, not throughput: a peer that stays within them can
//! still send for ever, and it is the caller's clock that ends that.

/// The settings that a connection announces, and its limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Streams that the caller wants at a time, at least 1. The server may allow fewer.
    pub streams: u32,
    /// Bytes that the server may send on a stream before it must wait for us; from 0 to 2³¹ − 1.
    pub stream_window: u32,
    /// The same for the whole connection; from 65,535 to 2³¹ − 1.
    pub connection_window: u32,
    /// Bounds on the server's bytes.
    pub limits: Limits,
    /// The id of the first stream, odd. Only a test has a reason to change it: ids run out after
    /// 2³⁰ streams.
    pub first_stream_id: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            streams: 100,
            stream_window: 1024 * 1024,
            connection_window: 16 * 1024 * 1024,
            limits: Limits::default(),
            first_stream_id: 1,
        }
    }
}

/// Bounds on a peer's bytes. Reaching one fails the stream or the connection with an error of its
/// own; nothing is cut in silence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one head or of trailers, decoded: names and values and 32 for each field
    /// (RFC 9113 section 6.5.2). Beyond it the stream fails. The same bound holds for the encoded
    /// block; beyond that the stream fails, and the connection after it, since the block is not
    /// decoded. [`Limit::Head`].
    pub head_bytes: u32,
    /// Fields in one head, and in one trailer section. Beyond it the stream fails:
    /// [`Limit::HeaderCount`].
    pub header_count: u32,
    /// Interim (1xx) responses before the final one. Beyond it the stream fails:
    /// [`Limit::Interim`].
    pub interim: u32,
    /// Frames in a row that bring no request further: pings, settings, empty DATA, window updates
    /// while nothing is sent, frames of unknown types or on closed streams. Beyond it the
    /// connection fails: [`Limit::Frames`].
    pub idle_frames: u32,
    /// Bytes of replies that the server does not read: acknowledgements, resets, window updates.
    /// Beyond it the connection fails: [`Limit::Output`].
    pub output_bytes: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            head_bytes: 256 * 1024,
            header_count: 1000,
            interim: 1000,
            idle_frames: 10_000,
            output_bytes: 1024 * 1024,
        }
    }
}

/// The bound of [`Limits`] that was passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// [`Limits::idle_frames`].
    Frames,
    /// [`Limits::head_bytes`].
    Head,
    /// [`Limits::header_count`].
    HeaderCount,
    /// [`Limits::interim`].
    Interim,
    /// [`Limits::output_bytes`].
    Output,
}

impl Limit {
    /// The stable name of the class, as the results use it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Frames => "limit:frames",
            Self::Head => "limit:head",
            Self::HeaderCount => "limit:header_count",
            Self::Interim => "limit:interim",
            Self::Output => "limit:output",
        }
    }
}
