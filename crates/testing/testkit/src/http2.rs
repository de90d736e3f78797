//! A server that uses HTTP/2, as a script in addition to [`crate::Server`]'s.

pub(crate) mod session;

use crate::{Reply, Request};
use drumfire_units::Nanos;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// A server's reply to a request.
type Replying = dyn Fn(&Request<'_>) -> Reply + Send + Sync;

/// The HTTP/2 behaviour of a server. By default it allows any number of streams, and replies 200
/// with a short body to each complete request.
#[derive(Clone)]
pub struct Http2Behaviour {
    pub(crate) settings: Vec<(u16, u32)>,
    pub(crate) hello: Hello,
    pub(crate) events: Vec<(Nanos, Announcement)>,
    pub(crate) going: Vec<Going>,
    /// The debug data of its GOAWAY frames.
    pub(crate) reason: &'static str,
    /// Whether the server answers PINGs.
    pub(crate) pongs: bool,
    /// Whether a client's GOAWAY ends streams without an answer.
    pub(crate) hasty: bool,
    pub(crate) refuse_share: f64,
    /// Whether the server refuses streams after its first GOAWAY.
    pub(crate) refuses_late: bool,
    pub(crate) replies_at: RepliesAt,
    /// The size of the pieces in which output is sent, and the time between two pieces.
    pub(crate) drip: (usize, Nanos),
    pub(crate) replying: Arc<Replying>,
}

/// Whether a server begins as the protocol requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hello {
    /// With SETTINGS.
    Settings,
    /// Never sends a byte.
    Silent,
}

/// When the server replies to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RepliesAt {
    /// After the head has arrived.
    Head,
    /// After the complete request has arrived.
    End,
}

/// Frames that a server sends on a connection at a given time.
#[derive(Clone, Debug)]
pub(crate) enum Announcement {
    /// SETTINGS.
    Settings(u16, u32),
    /// GOAWAY.
    GoAway(LastId, u32, Farewell),
}

/// A GOAWAY that is sent after this many streams were opened.
#[derive(Clone, Debug)]
pub(crate) struct Going {
    /// The connections that get it, by their numbers from 0.
    pub(crate) on: Range<u64>,
    pub(crate) streams: u64,
    pub(crate) last: LastId,
    pub(crate) code: u32,
    pub(crate) farewell: Farewell,
}

/// The last stream ID in a GOAWAY.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LastId {
    /// This stream ID.
    Of(u32),
    /// The last stream that has arrived.
    Come,
    /// The maximum ID, which excludes no stream yet: a warning.
    Max,
}

/// What a server does with a connection after a GOAWAY.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Farewell {
    /// The server keeps the connection open, and answers the streams that it announced.
    Stays,
    /// The server closes the connection after all streams that it serves have ended.
    WhenDone,
    /// The server closes the connection immediately.
    AtOnce,
}

const MAX_CONCURRENT_STREAMS: u16 = 3;
const INITIAL_WINDOW_SIZE: u16 = 4;
const MAX_HEADER_LIST_SIZE: u16 = 6;

impl fmt::Debug for Http2Behaviour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Http2")
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

impl Default for Http2Behaviour {
    fn default() -> Self {
        Self::new()
    }
}

impl Http2Behaviour {
    /// A server that replies 200 to any number of streams.
    #[must_use]
    pub fn new() -> Self {
        let reply = Reply::ok();
        Self {
            settings: Vec::new(),
            hello: Hello::Settings,
            events: Vec::new(),
            going: Vec::new(),
            reason: "",
            pongs: true,
            hasty: false,
            refuse_share: 0.0,
            refuses_late: false,
            replies_at: RepliesAt::End,
            drip: (usize::MAX, Nanos::ZERO),
            replying: Arc::new(move |_| reply.clone()),
        }
    }

    /// Sends the same reply to every request.
    #[must_use]
    pub fn says(self, reply: Reply) -> Self {
        self.answers(move |_| reply.clone())
    }

    /// Sends a reply that depends on the request.
    #[must_use]
    pub fn answers(
        mut self,
        replying: impl Fn(&Request<'_>) -> Reply + Send + Sync + 'static,
    ) -> Self {
        self.replying = Arc::new(replying);
        self
    }

    /// Sets when the server replies; the default is after the complete request.
    #[must_use]
    pub fn replies_at(mut self, at: RepliesAt) -> Self {
        self.replies_at = at;
        self
    }

    /// Sends the output in pieces of this size, `apart` from each other, which may split frames.
    #[must_use]
    pub fn dripping(mut self, size: usize, apart: Nanos) -> Self {
        self.drip = (size, apart);
        self
    }

    /// Allows `streams` at a time (SETTINGS_MAX_CONCURRENT_STREAMS).
    #[must_use]
    pub fn allows(mut self, streams: u32) -> Self {
        self.settings.push((MAX_CONCURRENT_STREAMS, streams));
        self
    }

    /// Changes this number, `after` a connection's preface.
    #[must_use]
    pub fn then_allows(self, after: Nanos, streams: u32) -> Self {
        self.event(
            after,
            Announcement::Settings(MAX_CONCURRENT_STREAMS, streams),
        )
    }

    /// Announces this maximum size of a request's head (SETTINGS_MAX_HEADER_LIST_SIZE).
    #[must_use]
    pub fn accepts_heads(mut self, bytes: u32) -> Self {
        self.settings.push((MAX_HEADER_LIST_SIZE, bytes));
        self
    }

    /// Accepts `bytes` of a body before it grants more (SETTINGS_INITIAL_WINDOW_SIZE).
    #[must_use]
    pub fn stream_window(mut self, bytes: u32) -> Self {
        self.settings.push((INITIAL_WINDOW_SIZE, bytes));
        self
    }

    /// Changes this number, `after` a connection's preface.
    #[must_use]
    pub fn then_stream_window(self, after: Nanos, bytes: u32) -> Self {
        self.event(after, Announcement::Settings(INITIAL_WINDOW_SIZE, bytes))
    }

    /// Accepts connections and never sends a byte.
    #[must_use]
    pub fn silent(mut self) -> Self {
        self.hello = Hello::Silent;
        self
    }

    /// Sends GOAWAY after this many streams of a connection; with 0, immediately.
    #[must_use]
    pub fn goes_away(mut self, streams: u64, last: LastId, code: u32, farewell: Farewell) -> Self {
        self.going.push(Going {
            on: 0..u64::MAX,
            streams,
            last,
            code,
            farewell,
        });
        self
    }

    /// Limits the last [`Self::goes_away`] to these connections, by their numbers from 0.
    #[must_use]
    pub fn on(mut self, connections: Range<u64>) -> Self {
        if let Some(going) = self.going.last_mut() {
            going.on = connections;
        }
        self
    }

    /// Sends GOAWAY `after` a connection's preface.
    #[must_use]
    pub fn goes_away_after(
        self,
        after: Nanos,
        last: LastId,
        code: u32,
        farewell: Farewell,
    ) -> Self {
        self.event(after, Announcement::GoAway(last, code, farewell))
    }

    /// Adds a text to the GOAWAY frames.
    #[must_use]
    pub fn says_why(mut self, reason: &'static str) -> Self {
        self.reason = reason;
        self
    }

    /// Does not answer PINGs.
    #[must_use]
    pub fn ignores_pings(mut self) -> Self {
        self.pongs = false;
        self
    }

    /// Treats a client's GOAWAY as the end of the connection, and unanswered streams as not
    /// processed, like Apache httpd.
    #[must_use]
    pub fn leaves_when_told(mut self) -> Self {
        self.hasty = true;
        self
    }

    /// Refuses streams with this probability (REFUSED_STREAM).
    #[must_use]
    pub fn refuses(mut self, share: f64) -> Self {
        self.refuse_share = share;
        self
    }

    /// Refuses streams that arrive after a GOAWAY, regardless of its last stream ID, like gRPC's C
    /// core.
    #[must_use]
    pub fn refuses_when_going(mut self) -> Self {
        self.refuses_late = true;
        self
    }

    fn event(mut self, after: Nanos, announcement: Announcement) -> Self {
        self.events.push((after, announcement));
        self
    }
}
