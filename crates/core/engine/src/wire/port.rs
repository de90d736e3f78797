//! The driver's side of a wire: the port through which the wire sends and receives, and the receive
//! buffers that all wires of a worker share.

use crate::blame::Failure;
use crate::limits::{DISCARD_BYTES, RECEIVE_BYTES, RECEIVES_PER_TURN};
use drumfire_http1 as h1;
use drumfire_measure::Outcome;
use drumfire_net::{Io, IoError, Received, Slot};
use drumfire_units::{Nanos, Random};
use drumfire_websocket as ws;

/// A driver, and a wire's slot in it.
pub(crate) struct Port<'a, I> {
    io: &'a mut I,
    slot: Slot,
}

impl<'a, I: Io> Port<'a, I> {
    /// The port of a slot.
    #[inline]
    pub(crate) const fn new(io: &'a mut I, slot: Slot) -> Self {
        Self { io, slot }
    }

    #[inline]
    pub(crate) fn now(&self) -> Nanos {
        self.io.now()
    }

    /// The time of received bytes: their arrival if the kernel has reported it, else now.
    #[inline(always)]
    pub(crate) fn time_of(&self, arrived: Option<Nanos>) -> Nanos {
        match arrived {
            None => self.io.now(),
            Some(at) => at,
        }
    }

    #[inline]
    pub(crate) fn send(&mut self, bytes: &[u8]) -> Result<usize, IoError> {
        self.io.send(self.slot, bytes)
    }

    /// Sends the beginning of one or several requests.
    #[inline]
    pub(crate) fn send_request(&mut self, bytes: &[u8]) -> Result<usize, IoError> {
        self.io.send_request(self.slot, bytes)
    }

    /// The kernel's time stamp of the departure of the last [`Self::send_request`]; returned once.
    #[inline]
    pub(crate) fn departure(&mut self) -> Option<Nanos> {
        self.io.departure(self.slot)
    }

    /// Adds to the failure of a connection without an answer that the server had requested a
    /// certificate and received none: many servers check this after the handshake, and some without
    /// an alert.
    #[cold]
    pub(crate) fn explain(&self, failure: Failure) -> Failure {
        let is_cut_off = failure.outcome == Outcome::TlsProtocol;
        match self.io.lacks_certificate(self.slot) {
            true if failure.detail.is_none() || is_cut_off => failure.without_certificate(),
            _ => failure,
        }
    }

    #[inline(always)]
    fn receive(&mut self, buffer: &mut [u8]) -> Result<Received, IoError> {
        self.io.receive(self.slot, buffer)
    }
}

/// The receive buffers of a worker's connections, which use them in turn.
#[derive(Debug)]
pub(crate) struct Input {
    /// Received bytes.
    buffer: Vec<u8>,
    /// The number of bytes that the last receive brought.
    filled: usize,
    /// Room for bytes that are discarded unread; its memory is never touched if the driver can
    /// discard.
    scratch: Vec<u8>,
    /// The shared state of HTTP/1.1's machines.
    shared: h1::Shared,
    /// The tools of WebSockets.
    socket: SocketTools,
}

/// What the WebSockets of a worker share.
#[derive(Debug)]
pub(crate) struct SocketTools {
    /// The scratch space of the protocol's machines.
    pub(crate) shared: ws::Shared,
    /// A frame that is sent.
    pub(crate) out: Vec<u8>,
    /// The source of masks and nonces.
    pub(crate) random: Random,
}

impl SocketTools {
    /// The random bytes of a handshake (RFC 6455 section 4.1).
    pub(crate) fn nonce(&mut self) -> [u8; 16] {
        let parts = [self.random.bits(), self.random.bits()];
        let mut nonce = [0; 16];
        for (bytes, part) in nonce.chunks_exact_mut(8).zip(parts) {
            bytes.copy_from_slice(&part.to_le_bytes());
        }
        nonce
    }

    /// Frees the memory of a large frame.
    pub(crate) fn shrink(&mut self) {
        if self.out.capacity() > RECEIVE_BYTES {
            self.out = Vec::new();
        }
    }
}

impl Input {
    /// Buffers without content. Masks and nonces of WebSockets follow from `random`: they have to
    /// differ, and need not be secret.
    pub(crate) fn new(random: Random) -> Self {
        Self {
            socket: SocketTools {
                shared: ws::Shared::default(),
                out: Vec::new(),
                random,
            },
            buffer: vec![0; RECEIVE_BYTES],
            filled: 0,
            scratch: vec![0; DISCARD_BYTES],
            shared: h1::Shared::new(h1::Limits::default()),
        }
    }

    /// Receives as much as there is room for. Replaces the previously received bytes.
    #[inline(always)]
    pub(crate) fn receive<I: Io>(&mut self, port: &mut Port<'_, I>) -> Result<Received, IoError> {
        let received = port.receive(&mut self.buffer);
        if let Ok(Received::Bytes { length, .. }) = received {
            self.filled = length;
        }
        received
    }

    /// Receives one byte, because the following bytes may belong to another reader.
    pub(crate) fn receive_byte<I: Io>(
        &mut self,
        port: &mut Port<'_, I>,
    ) -> Result<Received, IoError> {
        let received = port.receive(&mut self.buffer[..1]);
        if let Ok(Received::Bytes { length, .. }) = received {
            self.filled = length;
        }
        received
    }

    /// The bytes of the last receive, and the shared state of the machines that read them.
    #[inline(always)]
    pub(crate) fn received(&mut self) -> (&[u8], &mut h1::Shared) {
        (&self.buffer[..self.filled], &mut self.shared)
    }

    /// The bytes of the last receive, with the state and the tools that WebSockets use.
    pub(crate) fn received_of_socket(&mut self) -> (&[u8], &mut h1::Shared, &mut SocketTools) {
        let bytes = &self.buffer[..self.filled];
        (bytes, &mut self.shared, &mut self.socket)
    }

    /// The tools of WebSockets.
    pub(crate) const fn socket(&mut self) -> &mut SocketTools {
        &mut self.socket
    }

    /// Discards up to `limit` received bytes unread.
    #[inline]
    pub(crate) fn discard<I: Io>(
        &mut self,
        port: &mut Port<'_, I>,
        limit: u64,
    ) -> Result<Received, IoError> {
        port.io.discard(port.slot, limit, &mut self.scratch)
    }

    /// Discards the input of a connection that will be closed, at most one turn's portion.
    pub(crate) fn discard_all<I: Io>(&mut self, port: &mut Port<'_, I>) {
        for _ in 0..RECEIVES_PER_TURN {
            match self.discard(port, self.scratch.len() as u64) {
                Ok(Received::Bytes { .. }) => {}
                // An error of a connection that is given up has no effect.
                Ok(Received::Nothing | Received::End) | Err(_) => return,
            }
        }
    }
}
