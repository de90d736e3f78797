//! A pool's connections before the run: those that are kept are opened in advance, so that no
//! exchange waits for its own.
//!
//! The worker calls `open_more` and, after each wait, `go_on_opening`, until all connections are
//! open or have failed; then `opened`, and `begin` at the run's start.

use super::PoolRun;
use crate::exchanges::ExchangeHandler;
use crate::pool_io::Site;
use crate::transport::{Context, Output};
use drumfire_net::Io;

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

    /// Writes what opened connections have to say, and looks after those that take too long.
    pub(crate) fn go_on_opening<I: Io>(&mut self, site: &mut Site<'_, I>) {
        let transport = &mut self.transport;
        transport.flush(context!(self, site), Output::All);
        let now = site.io.now();
        if now >= self.transport.connections.next_deadline() {
            self.transport.handle_timeout(context!(self, site), now);
        }
    }

    /// Connections are waited for no more.
    pub(crate) fn opened(&mut self) {
        self.timers.clear();
        self.transport.connections.list_seats();
    }

    /// The run begins.
    pub(crate) fn begin(&mut self) {
        self.transport.connections.begin_run(&mut self.timers);
    }
}
