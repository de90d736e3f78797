//! The observations of the simulated side, to compare with the engine's results.

use drumfire_units::Nanos;

/// One request that a server saw whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// When its last byte came, from the run's start.
    pub at: Nanos,
    /// Its connection's number, from 0.
    pub connection: u64,
    /// Its head.
    pub head: String,
    /// Its body's length.
    pub body: usize,
}

/// Counts of sends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sends {
    /// Those that took less than they were given.
    pub partial: u64,
    /// The most on one connection between two waits of the engine, within the run.
    pub most: u64,
}

/// Counts of one worker's world.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Log {
    /// Attempts to connect, in any way they ended.
    pub dials: u64,
    /// Connections that came about.
    pub connections: u64,
    /// The most that were open at a time.
    pub connections_most: u64,
    /// Whole requests that arrived.
    pub requests: u64,
    /// Requests that came before the answer to the one before.
    pub pipelined: u64,
    /// Requests on a connection after an answer that announced its end.
    pub after_last: u64,
    /// Bytes that came to a connection which the server had closed.
    pub after_close: u64,
    /// How often the engine waited.
    pub waits: u64,
    /// Sends on connections.
    pub sends: Sends,
    /// The most streams that were open at a time on one connection of HTTP/2.
    pub streams_most: u64,
    /// Streams beyond those that the server announced to serve.
    pub unserved: u64,
    /// Streams opened beyond the limit that the server had announced and the client acknowledged.
    pub over_allowed: u64,
    /// Bytes of DATA beyond the server's window.
    pub over_granted: u64,
    /// Streams that the client reset.
    pub resets: u64,
    /// Streams that the client reset with CANCEL.
    pub cancelled: u64,
    /// When each CANCEL came, from the run's start, where the world keeps requests.
    pub cancelled_at: Vec<Nanos>,
    /// PINGs of the client.
    pub pings: u64,
    /// Whole messages of gRPC calls that arrived.
    pub messages: u64,
    /// When each came, from the run's start, where the world keeps requests.
    pub messages_at: Vec<Nanos>,
    /// Every request, where the world keeps them.
    pub seen: Vec<Seen>,
    /// The head of every stream of HTTP/2 that came, served or not, where the world keeps requests.
    pub heads: Vec<String>,
}

impl Log {
    /// Adds another worker's world.
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
