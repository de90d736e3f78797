//! A driver as one pool of several sees it.
//!
//! All pools of a worker share its driver, and each numbers its slots from 0. The driver's slots
//! are dealt to the pools in turn: slot `n` of pool `index` of `of` is the driver's slot `n · of +
//! index`. So a pool may add slots at any time.
//!
//! A worker makes a [`PoolContext`] for each call of a pool, which passes it on to its parts. No
//! part keeps it, and no part knows another pool's slots.
//!
//! The numbering costs a multiplication per call, and a division per ready socket, which
//! [`SlotShare::split`] saves for a worker with one pool. Clock, waits and TLS settings are the
//! driver's: an index of TLS settings is the same in every pool, and only the worker waits.

use crate::channel::Channel;
use crate::recorder::Recorder;
use drumfire_net::{
    Endpoint, Fault, Io, IoError, Progress, Readiness, Received, Slot, ThreadTimes, TlsConfig,
    Waker,
};
use drumfire_units::Nanos;

/// The parts that a worker lends to one of its pools for one call.
pub(crate) struct PoolContext<'a, I> {
    pub(crate) io: PoolIo<'a, I>,
    pub(crate) recorder: &'a mut Recorder<Channel>,
}

/// One pool's share of its worker's driver slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SlotShare {
    /// The pool's index among the worker's pools.
    pub(crate) index: u32,
    /// The number of the worker's pools.
    pub(crate) of: u32,
}

/// One pool's view of a driver.
pub(crate) struct PoolIo<'a, I> {
    pub(crate) io: &'a mut I,
    pub(crate) slots: SlotShare,
}

impl SlotShare {
    /// The driver's slot for a pool's slot.
    #[inline(always)]
    const fn slot(self, slot: Slot) -> Slot {
        Slot(slot.0 * self.of + self.index)
    }

    /// The index of the pool, of `of`, that owns a driver's slot, and the pool's own slot.
    #[inline]
    pub(crate) const fn split(slot: Slot, of: u32) -> (usize, Slot) {
        if of == 1 {
            (0, slot)
        } else {
            ((slot.0 % of) as usize, Slot(slot.0 / of))
        }
    }
}

// The methods that pass bytes are on the path of every request, and their results are large:
// inlined, they are written in place.
impl<I: Io> Io for PoolIo<'_, I> {
    #[inline(always)]
    fn now(&self) -> Nanos {
        self.io.now()
    }

    fn unix_time(&self) -> u64 {
        self.io.unix_time()
    }

    fn set_epoch(&mut self, at: Nanos) {
        self.io.set_epoch(at);
    }

    fn dial(&mut self, slot: Slot, address: &Endpoint) -> Result<Progress, IoError> {
        self.io.dial(self.slots.slot(slot), address)
    }

    fn finish_dial(&mut self, slot: Slot) -> Result<Progress, IoError> {
        self.io.finish_dial(self.slots.slot(slot))
    }

    fn start_tls(&mut self, slot: Slot, config: usize) -> Result<Progress, IoError> {
        self.io.start_tls(self.slots.slot(slot), config)
    }

    fn add_tls(&mut self, config: TlsConfig) -> usize {
        self.io.add_tls(config)
    }

    fn handshake(&mut self, slot: Slot) -> Result<Progress, IoError> {
        self.io.handshake(self.slots.slot(slot))
    }

    fn agreed(&self, slot: Slot, protocol: &[u8]) -> bool {
        self.io.agreed(self.slots.slot(slot), protocol)
    }

    fn is_resumed(&self, slot: Slot) -> bool {
        self.io.is_resumed(self.slots.slot(slot))
    }

    fn lacks_certificate(&self, slot: Slot) -> bool {
        self.io.lacks_certificate(self.slots.slot(slot))
    }

    #[inline(always)]
    fn send(&mut self, slot: Slot, bytes: &[u8]) -> Result<usize, IoError> {
        self.io.send(self.slots.slot(slot), bytes)
    }

    #[inline(always)]
    fn send_request(&mut self, slot: Slot, bytes: &[u8]) -> Result<usize, IoError> {
        self.io.send_request(self.slots.slot(slot), bytes)
    }

    #[inline]
    fn departure(&mut self, slot: Slot) -> Option<Nanos> {
        self.io.departure(self.slots.slot(slot))
    }

    #[inline(always)]
    fn receive(&mut self, slot: Slot, buffer: &mut [u8]) -> Result<Received, IoError> {
        self.io.receive(self.slots.slot(slot), buffer)
    }

    #[inline(always)]
    fn discard(&mut self, slot: Slot, limit: u64, scratch: &mut [u8]) -> Result<Received, IoError> {
        self.io.discard(self.slots.slot(slot), limit, scratch)
    }

    fn close(&mut self, slot: Slot) {
        self.io.close(self.slots.slot(slot));
    }

    /// Waits like the driver: the list receives the driver's slots of all pools.
    fn wait(&mut self, until: Nanos, ready: &mut Vec<Readiness>) -> Result<(), Fault> {
        self.io.wait(until, ready)
    }

    fn waker(&mut self) -> Result<Waker, Fault> {
        self.io.waker()
    }

    fn thread_times(&mut self) -> ThreadTimes {
        self.io.thread_times()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_belongs_to_one_pool() {
        for of in 1..4 {
            for index in 0..of {
                for n in [0, 1, 7, 1000] {
                    let slot = SlotShare { index, of }.slot(Slot(n));
                    assert_eq!(SlotShare::split(slot, of), (index as usize, Slot(n)));
                }
            }
        }
    }
}
