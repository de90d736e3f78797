//! The observations of the simulated side, to compare with the engine's results.

use drumfire_units::Nanos;

/// One complete request that a server received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The arrival time of its last byte, from the start of the run.
    pub at: Nanos,
    /// The number of the connection, from 0.
    pub connection: u64,
    /// The head.
    pub head: String,
    /// The length of the body.
    pub body: usize,
}

/// Counts of sends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SendCounts {
    /// Partial sends.
    pub partial: u64,
    /// The maximum on one connection between two waits of the engine, within the run.
    pub most: u64,
}

/// Counts of one worker's world.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Log {
    /// Attempts to connect, with any result.
    pub dials: u64,
    /// Established connections.
    pub connections: u64,
    /// The maximum number of open connections.
    pub connections_most: u64,
    /// Complete requests that arrived.
    pub requests: u64,
    /// Requests that arrived before the answer to the previous one.
    pub pipelined: u64,
    /// Requests on a connection after an answer that announced its end.
    pub after_last: u64,
    /// Bytes that arrived on a connection which the server had closed.
    pub after_close: u64,
    /// Waits of the engine.
    pub waits: u64,
    /// Sends on connections.
    pub sends: SendCounts,
    /// The maximum number of open streams on one HTTP/2 connection.
    pub streams_most: u64,
    /// Streams after the last one that the server announced to serve.
    pub unserved: u64,
    /// Streams opened above the limit that the server had announced and the client had
    /// acknowledged.
    pub over_allowed: u64,
    /// Bytes of DATA above the server's window.
    pub over_granted: u64,
    /// Streams that the client reset.
    pub resets: u64,
    /// Streams that the client reset with CANCEL.
    pub cancelled: u64,
    /// The time of each CANCEL, from the start of the run, if the world keeps requests.
    pub cancelled_at: Vec<Nanos>,
    /// PINGs from the client.
    pub pings: u64,
    /// Complete messages of gRPC calls that arrived.
    pub messages: u64,
    /// The arrival time of each message, from the start of the run, if the world keeps requests.
    pub messages_at: Vec<Nanos>,
    /// Every request, if the world keeps requests.
    pub seen: Vec<Seen>,
    /// The head of every HTTP/2 stream that arrived, served or not, if the world keeps requests.
    pub heads: Vec<String>,
}

impl Log {
    /// Adds the log of another worker's world.
    pub fn merge(&mut self, other: &Self) {
        self.dials += other.dials;
        self.connections += other.connections;
        self.connections_most += other.connections_most;
        self.requests += other.requests;
        self.pipelined += other.pipelined;
        self.after_last += other.after_last;
        self.after_close += other.after_close;
        self.waits += other.waits;
        self.sends.partial += other.sends.partial;
        self.sends.most = self.sends.most.max(other.sends.most);
        self.streams_most = self.streams_most.max(other.streams_most);
        self.unserved += other.unserved;
        self.over_allowed += other.over_allowed;
        self.over_granted += other.over_granted;
        self.resets += other.resets;
        self.cancelled += other.cancelled;
        self.cancelled_at.extend(&other.cancelled_at);
        self.pings += other.pings;
        self.messages += other.messages;
        self.messages_at.extend(&other.messages_at);
        self.seen.extend(other.seen.iter().cloned());
        self.heads.extend(other.heads.iter().cloned());
    }
}
