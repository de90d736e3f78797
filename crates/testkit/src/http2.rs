//! A server that speaks HTTP/2, as a script beside [`crate::Server`]'s own.

pub(crate) mod session;

use crate::{Reply, Request};
use drumfire_units::Nanos;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// A server's reply to a request.
type Replying = dyn Fn(&Request<'_>) -> Reply + Send + Sync;

/// How a server speaks HTTP/2. By default it allows any number of streams, and replies 200 with a
/// short body to each when it has come whole.
#[derive(Clone)]
pub struct Http2 {
    pub(crate) settings: Vec<(u16, u32)>,
    pub(crate) hello: Hello,
    pub(crate) events: Vec<(Nanos, Announcement)>,
    pub(crate) going: Vec<Going>,
    /// The debug data of its GOAWAYs.
    pub(crate) reason: &'static str,
    /// Whether it answers PINGs.
    pub(crate) pongs: bool,
    /// Whether a client's GOAWAY ends streams without an answer.
    pub(crate) hasty: bool,
    pub(crate) refuse_share: f64,
    /// Whether it refuses streams after its first GOAWAY.
    pub(crate) refuses_late: bool,
    pub(crate) replies_at: RepliesAt,
    /// Its output comes in pieces of this size, this long apart.
    pub(crate) drip: (usize, Nanos),
    pub(crate) replying: Arc<Replying>,
}

/// Whether a server begins as it has to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hello {
    /// With SETTINGS.
    Settings,
    /// It never sends a byte.
    Silent,
}

/// When a request is replied to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RepliesAt {
    /// When its head has come.
    Head,
    /// When it has come whole.
    End,
}

/// Frames that a server sends on a connection, at a time.
#[derive(Clone, Debug)]
pub(crate) enum Announcement {
    /// SETTINGS.
    Settings(u16, u32),
    /// GOAWAY.
    GoAway(LastId, u32, Farewell),
}

/// A GOAWAY that comes when this many streams were opened.
#[derive(Clone, Debug)]
pub(crate) struct Going {
    /// On which connections, by their numbers from 0.
    pub(crate) on: Range<u64>,
    pub(crate) streams: u64,
    pub(crate) last: LastId,
    pub(crate) code: u32,
    pub(crate) farewell: Farewell,
}

/// Which stream a GOAWAY names as the last that is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LastId {
    /// This one.
    Of(u32),
    /// The last that has come.
    Come,
    /// None is excluded yet: a warning.
    Max,
}

/// A server's treatment of a connection after a GOAWAY.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Farewell {
    /// It keeps it open, and answers the streams that it announced.
    Stays,
    /// It closes it when all streams have ended that it serves.
    WhenDone,
    /// It closes it at once.
    AtOnce,
}

const MAX_CONCURRENT_STREAMS: u16 = 3;
const INITIAL_WINDOW_SIZE: u16 = 4;
const MAX_HEADER_LIST_SIZE: u16 = 6;

impl fmt::Debug for Http2 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Http2")
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

impl Default for Http2 {
    fn default() -> Self {
        Self::new()
    }
}

impl Http2 {
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

    /// Replies to every request in the same way.
    #[must_use]
    pub fn says(self, reply: Reply) -> Self {
        self.answers(move |_| reply.clone())
    }

    /// Replies by the request.
    #[must_use]
    pub fn answers(
        mut self,
        replying: impl Fn(&Request<'_>) -> Reply + Send + Sync + 'static,
    ) -> Self {
        self.replying = Arc::new(replying);
        self
    }

    /// When requests are replied to: when they are complete, by default.
    #[must_use]
    pub fn replies_at(mut self, at: RepliesAt) -> Self {
        self.replies_at = at;
        self
    }

    /// Its output comes in pieces of this size, `apart` from each other, wherever that cuts a
    /// frame.
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

    /// Allows another number, `after` a connection's preface.
    #[must_use]
    pub fn then_allows(self, after: Nanos, streams: u32) -> Self {
        self.event(
            after,
            Announcement::Settings(MAX_CONCURRENT_STREAMS, streams),
        )
    }

    /// Announces to accept this size of a request's head (SETTINGS_MAX_HEADER_LIST_SIZE).
    #[must_use]
    pub fn accepts_heads(mut self, bytes: u32) -> Self {
        self.settings.push((MAX_HEADER_LIST_SIZE, bytes));
        self
    }

    /// Takes `bytes` of a body before it has given back their room (SETTINGS_INITIAL_WINDOW_SIZE).
    #[must_use]
    pub fn stream_window(mut self, bytes: u32) -> Self {
        self.settings.push((INITIAL_WINDOW_SIZE, bytes));
        self
    }

    /// Takes another number, `after` a connection's preface.
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

    /// Goes away when this many streams of a connection have come; with 0, at once.
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

    /// The last [`Self::goes_away`] holds for these connections alone, by their numbers from 0.
    #[must_use]
    pub fn on(mut self, connections: Range<u64>) -> Self {
        if let Some(going) = self.going.last_mut() {
            going.on = connections;
        }
        self
    }

    /// Goes away `after` a connection's preface.
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

    /// Adds a text to its GOAWAYs.
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

    /// Takes a client's GOAWAY for the end of the connection, and streams without an answer for not
    /// processed, as Apache httpd does.
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

    /// Refuses streams that come after a GOAWAY, whatever its last id was, as gRPC's C core does.
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
