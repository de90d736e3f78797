//! A pool's connections before the run: those that are kept are opened in advance, so that no
//! exchange waits for its own.
//!
//! The worker calls `open_more` in each turn, until all connections are
//! open or have failed; then `opened`, and `begin` at the run's start.

use super::PoolRun;
use crate::exchanges::ExchangeHandler;
use crate::pool_io::Site;
use crate::transport::Context;
use drumfire_net::Io;
use drumfire_units::Nanos;

impl PoolRun {
    /// Dials shares from `next` on, `at_once` at a time; `true` when all are open or have failed.
    pub(crate) fn open_more<I: Io>(
        &mut self,
        site: &mut Site<'_, I>,
        next: &mut usize,
        at_once: usize,
    ) -> bool {
        let transport = &mut self.transport;
        transport.open_more(context!(self, site), next, at_once) || self.orders.is_stopping()
    }

    /// When the worker must turn again by itself while connections are being opened.
    pub(crate) fn next_opening_wake(&self) -> Nanos {
        match self.transport.is_pressing() {
            true => Nanos::ZERO,
            false => self.timers.next(),
        }
    }

    /// Connections are waited for no more.
    pub(crate) fn opened(&mut self) {
        self.timers.clear();
        self.transport.list_seats();
    }

    /// The run begins.
    pub(crate) fn begin(&mut self) {
        self.transport.begin_run(&mut self.timers);
    }
}
