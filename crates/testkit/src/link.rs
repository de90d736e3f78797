//! One slot's connection, both ends of it.

use crate::http2::session::Session;
use crate::queue::{Ending, Wire};
use drumfire_net::IoError;
use drumfire_units::Nanos;
use std::collections::VecDeque;

/// How far the client's end is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// The slot is empty.
    None,
    /// Asked for.
    Dialing,
    /// Could not be opened.
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
    /// Which host it leads to.
    pub(crate) host: usize,
    pub(crate) edge: Edge,

    /// Bytes on their way to the client, and how many of them are there.
    pub(crate) down: VecDeque<u8>,
    pub(crate) arrived: usize,
    /// The segments in which those came that were not taken: their lengths and times.
    pub(crate) segments: VecDeque<(usize, Nanos)>,
    pub(crate) ended: Option<Ending>,
    /// When the last byte arrives: later ones do not overtake it.
    pub(crate) down_last: Nanos,

    /// Sends since the client's last wait before one.
    pub(crate) sends: u64,
    /// The number of that wait.
    pub(crate) sends_wait: u64,
    /// Bytes on their way to the server.
    pub(crate) up: VecDeque<u8>,
    /// Bytes that take room at the server.
    pub(crate) held: usize,
    /// Whether a send has taken less than it was given.
    pub(crate) blocked: bool,
    pub(crate) up_last: Nanos,
    /// When the last request left, by the kernel's stamp, until that is taken.
    pub(crate) left: Option<Nanos>,

    /// The server's end.
    pub(crate) far: Far,
}

/// The server's end of a connection.
#[derive(Debug, Default)]
pub(crate) struct Far {
    /// Its number among all connections.
    pub(crate) number: u64,
    /// Received bytes without an answer.
    pub(crate) received: Vec<u8>,
    /// Requests taken.
    pub(crate) taken: u64,
    /// Answers sent.
    pub(crate) answered: u64,
    /// Whether a request is being served.
    pub(crate) state: FarState,
    /// Whether the head at the front has been answered by 100.
    pub(crate) continued: bool,
    /// Whether an answer announced that it is the last.
    pub(crate) last: bool,
    /// The session of the connection, where it speaks HTTP/2.
    pub(crate) session: Option<Box<Session>>,
}

/// The server's state of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum FarState {
    /// It waits for a request.
    #[default]
    Waiting,
    /// It serves one.
    Serving,
    /// It has closed it.
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

    /// Begins a new connection and keeps the memory of the last.
    pub(crate) fn begin(&mut self, host: usize) {
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

    /// Counts a send after this wait; gives how many there were since.
    pub(crate) fn count_send(&mut self, wait: u64) -> u64 {
        if self.sends_wait != wait {
            (self.sends, self.sends_wait) = (0, wait);
        }
        self.sends += 1;
        self.sends
    }

    /// Notes that bytes have arrived.
    pub(crate) fn arrive(&mut self, count: usize, at: Nanos) {
        self.arrived += count;
        self.segments.push_back((count, at));
    }

    /// The time of the last segment of which the next `length` bytes are.
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

    /// Takes bytes that have arrived, with the time of the last of them; copies them where a buffer is given.
    pub(crate) fn take(&mut self, length: usize, buffer: Option<&mut [u8]>) -> (usize, Nanos) {
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
