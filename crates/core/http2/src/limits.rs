//! The settings of a connection, and the limits on a peer's cost: every limit of this crate, in one
//! place.
//!
//! The limits bound memory and work per connection, not throughput: a peer that stays within them
//! can still send for ever, and only the caller's clock ends that.

/// The settings that a connection announces, and its limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The number of streams that the caller wants at a time, at least 1. The server may allow
    /// fewer.
    pub streams: u32,
    /// Bytes that the server may send on a stream before it must wait for us; from 0 to 2³¹ − 1.
    pub stream_window: u32,
    /// Bytes that the server may send on the whole connection before it must wait for us; from
    /// 65,535 to 2³¹ − 1.
    pub connection_window: u32,
    /// Limits on the server's bytes.
    pub limits: Limits,
    /// The id of the first stream, odd. Only tests have a reason to change it: no ids are left
    /// after 2³⁰ streams.
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

/// Limits on a peer's bytes. Exceeding one fails the stream or the connection with a specific
/// error; nothing is truncated silently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one head or of trailers, decoded: names and values and 32 for each field (RFC 9113
    /// section 6.5.2). If exceeded, the stream fails. The same limit applies to the encoded block;
    /// if that is longer, the stream fails, and the connection after it, because the block is not
    /// decoded. [`LimitKind::Head`].
    pub head_bytes: u32,
    /// Fields in one head, and in one trailer section. If exceeded, the stream fails:
    /// [`LimitKind::HeaderCount`].
    pub header_count: u32,
    /// Interim (1xx) responses before the final one. If exceeded, the stream fails:
    /// [`LimitKind::Interim`].
    pub interim: u32,
    /// Consecutive frames that advance no request: pings, settings, empty DATA, window updates
    /// while nothing is sent, frames of unknown types or on closed streams. If exceeded, the
    /// connection fails: [`LimitKind::Frames`].
    pub idle_frames: u32,
    /// Bytes of replies that the server does not read: acknowledgements, resets, window updates. If
    /// exceeded, the connection fails: [`LimitKind::Output`].
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

/// The limit of [`Limits`] that was exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitKind {
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

impl LimitKind {
    /// The stable name of the class, as it appears in the results.
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
