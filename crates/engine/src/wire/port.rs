//! The driver's side of a wire: the port through which it sends and receives, and the buffers that
//! all wires of a worker receive with.

use crate::limits::{DISCARD_BYTES, RECEIVE_BYTES};
use drumfire_http1 as h1;
use drumfire_net::{Io, IoError, Received, Slot};
use drumfire_units::Nanos;

/// A driver and the slot in it that a wire is on.
pub(crate) struct Port<'a, I> {
    pub(crate) io: &'a mut I,
    pub(crate) slot: Slot,
}

impl<I: Io> Port<'_, I> {
    #[inline]
    pub(crate) fn now(&self) -> Nanos {
        self.io.now()
    }

    #[inline]
    pub(crate) fn send(&mut self, bytes: &[u8]) -> Result<usize, IoError> {
        self.io.send(self.slot, bytes)
    }

    #[inline]
    pub(crate) fn receive(&mut self, buffer: &mut [u8]) -> Result<Received, IoError> {
        self.io.receive(self.slot, buffer)
    }
}

/// The buffers with which all connections of a worker receive; one of each, for they take turns.
#[derive(Debug)]
pub(crate) struct Input {
    /// Received bytes.
    pub(crate) buffer: Vec<u8>,
    /// The number of them that the last receive brought.
    pub(crate) filled: usize,
    /// Room for bytes that are thrown away unread; its memory is never touched where the driver
    /// can discard.
    pub(crate) scratch: Vec<u8>,
    /// The shared state of HTTP/1.1's machines.
    pub(crate) shared: h1::Shared,
}

impl Input {
    pub(crate) fn new() -> Self {
        Self {
            buffer: vec![0; RECEIVE_BYTES],
            filled: 0,
            scratch: vec![0; DISCARD_BYTES],
            shared: h1::Shared::new(h1::Limits::default()),
        }
    }
}
