//! One slot's connection, with both of its ends.

use crate::http2::session::Session;
use crate::queue::{Ending, Wire};
use drumfire_net::IoError;
use drumfire_units::Nanos;
use std::collections::VecDeque;

/// The state of the client's end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// The slot is empty.
    None,
    /// The connection is being opened.
    Dialing,
    /// The connection could not be opened.
    Failed(IoError),
    /// Open.
    Open,
}

/// News that the engine has not received yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Edge {
    pub(crate) readable: bool,
    pub(crate) writable: bool,
    pub(crate) closed: bool,
}

/// A slot.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) generation: u32,
    pub(crate) phase: Phase,
    /// The host of the connection.
    pub(crate) host: usize,
    pub(crate) edge: Edge,

    /// Bytes for the client, and the number of those that have arrived.
    pub(crate) down: VecDeque<u8>,
    pub(crate) arrived: usize,
    /// The lengths and times of the segments with arrived bytes that were not taken.
    pub(crate) segments: VecDeque<(usize, Nanos)>,
    pub(crate) ended: Option<Ending>,
    /// The arrival time of the last byte: later bytes do not overtake it.
    pub(crate) down_last: Nanos,

    /// The number of sends since a wait of the client.
    pub(crate) sends: u64,
    /// The number of that wait.
    pub(crate) sends_wait: u64,
    /// Bytes in transit to the server.
    pub(crate) up: VecDeque<u8>,
    /// The number of bytes that occupy the server's window.
    pub(crate) held: usize,
    /// Whether the last send was partial.
    pub(crate) blocked: bool,
    pub(crate) up_last: Nanos,
    /// The time at which the last request left, by the kernel's timestamp, until it is taken.
    pub(crate) left: Option<Nanos>,

    /// The server's end.
    pub(crate) far: Far,
}

/// The server's end of a connection.
#[derive(Debug, Default)]
pub(crate) struct Far {
    /// The number of the connection among all connections.
    pub(crate) number: u64,
    /// Received bytes that are not answered.
    pub(crate) received: Vec<u8>,
    /// The number of requests taken.
    pub(crate) taken: u64,
    /// The number of answers sent.
    pub(crate) answered: u64,
    /// Whether the server is serving a request.
    pub(crate) state: FarState,
    /// Whether the first head has been answered with 100.
    pub(crate) continued: bool,
    /// Whether the connection is a WebSocket: the server takes frames.
    pub(crate) is_socket: bool,
    /// Whether an answer announced the end of the connection.
    pub(crate) last: bool,
    /// The HTTP/2 session, if the connection uses HTTP/2.
    pub(crate) session: Option<Box<Session>>,
}

/// The state of a connection at the server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum FarState {
    /// The server waits for a request.
    #[default]
    Waiting,
    /// The server is serving a request.
    Serving,
    /// The server has closed the connection.
    Gone,
}

impl Link {
    pub(crate) fn new() -> Self {
        Self {
            generation: 0,
            phase: Phase::None,
            host: 0,
            edge: Edge::default(),
            down: VecDeque::new(),
            arrived: 0,
            segments: VecDeque::new(),
            ended: None,
            down_last: Nanos::ZERO,
            sends: 0,
            sends_wait: 0,
            up: VecDeque::new(),
            held: 0,
            blocked: false,
            up_last: Nanos::ZERO,
            left: None,
            far: Far::default(),
        }
    }

    /// Begins a new connection, and reuses the memory of the last one.
    pub(crate) fn start_connection(&mut self, host: usize) {
        self.generation = self.generation.wrapping_add(1);
        self.phase = Phase::Dialing;
        self.host = host;
        self.edge = Edge::default();
        self.down.clear();
        self.arrived = 0;
        self.segments.clear();
        self.ended = None;
        self.down_last = Nanos::ZERO;
        self.sends = 0;
        self.up.clear();
        self.held = 0;
        self.blocked = false;
        self.up_last = Nanos::ZERO;
        self.left = None;
        let mut received = std::mem::take(&mut self.far.received);
        received.clear();
        self.far = Far {
            received,
            ..Far::default()
        };
    }

    pub(crate) fn wire(&self, slot: u32) -> Wire {
        Wire {
            slot,
            generation: self.generation,
        }
    }

    /// Counts a send after this wait; returns the number of sends since the wait.
    pub(crate) fn count_send(&mut self, wait: u64) -> u64 {
        if self.sends_wait != wait {
            (self.sends, self.sends_wait) = (0, wait);
        }
        self.sends += 1;
        self.sends
    }

    /// Records the arrival of bytes.
    pub(crate) fn arrive(&mut self, count: usize, at: Nanos) {
        self.arrived += count;
        self.segments.push_back((count, at));
    }

    /// The time of the last segment of the next `length` bytes.
    fn pass_segments(&mut self, mut length: usize) -> Nanos {
        let mut last = Nanos::ZERO;
        while length > 0
            && let Some((count, at)) = self.segments.front_mut()
        {
            last = *at;
            let part = length.min(*count);
            length -= part;
            *count -= part;
            if *count == 0 {
                self.segments.pop_front();
            }
        }
        last
    }

    /// Takes arrived bytes, and returns the time of the last one; copies them if a buffer is given.
    pub(crate) fn receive(&mut self, length: usize, buffer: Option<&mut [u8]>) -> (usize, Nanos) {
        let length = length.min(self.arrived);
        if let Some(buffer) = buffer {
            let (front, back) = self.down.as_slices();
            let first = front.len().min(length);
            buffer[..first].copy_from_slice(&front[..first]);
            buffer[first..length].copy_from_slice(&back[..length - first]);
        }
        self.down.drain(..length);
        self.arrived -= length;
        (length, self.pass_segments(length))
    }
}
