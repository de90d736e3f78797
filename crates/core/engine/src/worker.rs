//! One thread's loop over its pools.
//!
//! A worker owns what its pools share: the driver and the recorder. In each turn, every pool reads
//! its orders and starts due requests; then the worker writes, waits, passes each event to the pool
//! of its slot, and continues all pools. Requests that an event starts are written when the event
//! is settled; all other output is written before the next wait, so that one send carries all
//! output of a connection. [`Worker::act`] is the only access to a pool: ended exchanges are
//! settled at once, and an interval that has ended is closed first, with the tally of every pool.
//!
//! Each of these is called once, in this order: `open_connections`, before the run's time; `begin`
//! or `begin_at`, which moves the driver's clock so that the run starts at 0; `run`, to the end of
//! the drain.
//!
//! A turn is bounded, so that neither a late schedule nor a peer that sends fast delays the other:
//! the turn starts a portion of the due arrivals, and reads a portion of each socket. A wait ends
//! at the first of: the next arrival, timer or deadline, the interval's edge, and [`WAIT_MAX`], so
//! that the worker notices a signal.
//!
//! The thread may be descheduled at any point. This appears as a late wake, which is recorded.
//! Bytes that arrived meanwhile are read before any deadline is judged (`catch_up`); otherwise the
//! target would be blamed.

use crate::channel::{Channel, Message};
use crate::exchanges::ExchangeHandler;
use crate::lifecycle::Milestone;
use crate::limits::{CATCH_UPS, DIALS_AT_ONCE, OPENING_LOOK, OPENING_MAX, STOOD_STILL, WAIT_MAX};
use crate::pool_io::{PoolContext, PoolIo, SlotShare};
use crate::pool_run::PoolRun;
use crate::recorder::Recorder;
use crate::transport::{Context, Output, Transport};
use drumfire_net::{Fault, Io, Readiness};
use drumfire_units::Nanos;

/// One worker over one driver.
pub(crate) struct Worker<I> {
    io: I,
    recorder: Recorder<Channel>,
    pools: Vec<PoolRun>,
    /// The number of finished pools.
    finished: usize,
}

impl<I: Io> Worker<I> {
    /// A worker with its pools, whose connections are all closed.
    pub(crate) const fn new(io: I, recorder: Recorder<Channel>, pools: Vec<PoolRun>) -> Self {
        Self {
            io,
            recorder,
            pools,
            finished: 0,
        }
    }

    /// A pool, and the context for its calls.
    #[inline]
    fn pool_context(&mut self, index: usize) -> (&mut PoolRun, PoolContext<'_, I>) {
        let slots = SlotShare {
            index: index as u32,
            of: self.pools.len() as u32,
        };
        let cx = PoolContext {
            io: PoolIo {
                io: &mut self.io,
                slots,
            },
            recorder: &mut self.recorder,
        };
        (&mut self.pools[index], cx)
    }

    /// Runs an action of a pool, and settles the result: exchanges that ended, and exchanges that
    /// start in their place. Intervals that ended before are closed first.
    #[inline]
    fn act<T>(
        &mut self,
        index: usize,
        act: impl FnOnce(&mut PoolRun, &mut PoolContext<'_, I>) -> T,
    ) -> T {
        let (pool, mut cx) = self.pool_context(index);
        let made = act(pool, &mut cx);
        if let Err(at) = pool.settle(&mut cx) {
            self.settle_from(index, at);
        }
        made
    }

    /// Runs an action of a pool's connections, settles the result, and writes the requests that it
    /// has started.
    #[inline]
    fn transmit(
        &mut self,
        index: usize,
        act: impl FnOnce(&mut Transport, &mut Context<'_, PoolIo<'_, I>, ExchangeHandler<'_>>),
    ) {
        self.act(index, |pool, cx| pool.transmit(cx, act));
        self.flush(index, Output::Requests);
    }

    /// Writes a pool's output, and settles its effects. After most HTTP/1.1 events there is no
    /// output.
    #[inline(always)]
    fn flush(&mut self, index: usize, output: Output) {
        if self.has_output(index, output) {
            self.write_output(index, output);
        }
    }

    /// Whether a pool's transport has output of this kind.
    #[inline(always)]
    fn has_output(&self, index: usize, output: Output) -> bool {
        self.pools[index].transport.pending.has_output(output)
    }

    /// Writes until nothing is left: ended exchanges may start further requests, which are written
    /// too.
    #[inline(never)]
    fn write_output(&mut self, index: usize, output: Output) {
        while self.has_output(index, output) {
            self.act(index, |pool, cx| {
                pool.transmit(cx, |it, parts| it.flush(parts, output));
            });
        }
    }

    /// Settles a pool whose next exchange ended beyond the edge of an interval. The interval is
    /// closed first, so that each sample is in the interval in which it ended.
    #[cold]
    fn settle_from(&mut self, index: usize, mut at: Nanos) {
        loop {
            self.roll(at);
            let (pool, mut cx) = self.pool_context(index);
            match pool.settle(&mut cx) {
                Ok(()) => return,
                Err(next) => at = next,
            }
        }
    }

    /// Opens every share's connection, of all pools in parallel and a bounded number at a time, so
    /// that no exchange waits for its connection. A connection that fails is dialed again when an
    /// exchange needs it; the wait ends without connections that take too long.
    ///
    /// # Errors
    /// If the driver cannot wait.
    pub(crate) fn open_connections(&mut self) -> Result<(), Fault> {
        let until = self.io.now() + OPENING_MAX;
        let mut ready: Vec<Readiness> = Vec::with_capacity(256);
        // For each pool, the number of its slots that have been dialed.
        let mut dialed = vec![0; self.pools.len()];
        let mut opening: Vec<usize> = (0..self.pools.len()).collect();
        loop {
            // A pool with a silent target does not use up the others' part.
            let at_once = (DIALS_AT_ONCE / opening.len().max(1)).max(1);
            opening.retain(|index| {
                let (pool, mut cx) = self.pool_context(*index);
                !pool.open_more(&mut cx, &mut dialed[*index], at_once)
            });
            (0..self.pools.len()).for_each(|index| self.flush(index, Output::All));
            let now = self.io.now();
            if opening.is_empty() || now > until {
                break;
            }
            let wakes = self.pools.iter().map(PoolRun::next_exchange_wake);
            let wake = wakes.fold(now + OPENING_LOOK, Nanos::min);
            self.io.wait(wake, &mut ready)?;
            self.turn(wake, &mut ready)?;
        }
        for pool in &mut self.pools {
            pool.opened();
        }
        Ok(())
    }

    /// The pool to which an event belongs, and the event with that pool's slot.
    #[inline]
    fn of_slot(&self, readiness: Readiness) -> (usize, Readiness) {
        if self.pools.len() == 1 {
            return (0, readiness);
        }
        let (index, slot) = SlotShare::split(readiness.slot, self.pools.len() as u32);
        (index, Readiness { slot, ..readiness })
    }

    /// Makes a point in time the run's start, from which all times count. The load begins at `from`
    /// of the run.
    pub(crate) fn begin_at(&mut self, start: Nanos, from: Nanos) {
        self.io.set_epoch(start);
        if from > Nanos::ZERO {
            self.recorder.begin_from(from);
            self.pools.iter_mut().for_each(|pool| pool.begin_from(from));
        }
        for pool in &mut self.pools {
            pool.pass(Milestone::Start);
        }
    }

    /// Makes the present moment the run's start. The load begins at `from` of the run.
    pub(crate) fn start_load(&mut self, from: Nanos) {
        let now = self.io.now();
        self.begin_at(now, from);
    }

    /// Runs from the start to the end of the drain. The driver's epoch is the run's start.
    ///
    /// # Errors
    /// If the driver cannot wait; such a run has no summary.
    pub(crate) fn run(mut self) -> Result<(), Fault> {
        let times = self.io.thread_times();
        self.recorder.begin_run(times);
        let mut ready: Vec<Readiness> = Vec::with_capacity(256);
        loop {
            let now = self.io.now();
            self.start_turn(now);
            if self.finished == self.pools.len() {
                break;
            }
            (0..self.pools.len()).for_each(|index| self.flush(index, Output::All));
            let before = self.io.now();
            let until = self.rest(before);
            let health = self.recorder.health();
            health.loop_turn.record(before - now);
            self.io.wait(until, &mut ready)?;
            self.resume();
            self.note_lateness(until, before);
            self.turn(until.max(before), &mut ready)?;
        }
        self.finish();
        Ok(())
    }

    /// Records how late a wait ended, if it began before its planned end. A late end counts even if
    /// something became ready meanwhile.
    #[inline]
    fn note_lateness(&mut self, until: Nanos, before: Nanos) {
        let now = self.io.now();
        if until > before && now > until {
            let health = self.recorder.health();
            health.wake_lateness.record(now - until);
        }
    }

    /// Applies orders, starts due requests, and finishes the pools that are done.
    fn start_turn(&mut self, now: Nanos) {
        for pool in &mut self.pools {
            pool.carry_out(now);
        }
        self.roll(now);
        for index in 0..self.pools.len() {
            if self.pools[index].lifecycle.finished.is_some() {
                continue;
            }
            if self.pools[index].has_to_stop(now) {
                self.stop(index, now);
            }
            self.start_due(index, now);
            if self.pools[index].is_done(now) {
                self.finish_pool(index);
            }
        }
    }

    /// Starts due requests of a pool, up to a turn's portion.
    #[inline]
    fn start_due(&mut self, index: usize, now: Nanos) {
        let (pool, mut cx) = self.pool_context(index);
        for _ in 0..pool.portion {
            if !pool.start_next(&mut cx, now) {
                break;
            }
        }
        if let Err(at) = pool.settle(&mut cx) {
            self.settle_from(index, at);
        }
    }

    /// One turn after a wait that should have ended by `until`: ready sockets, then for each pool
    /// the input that was left, overdue exchanges and timers. Each step is settled, and the
    /// requests that it starts are written, before the next.
    fn turn(&mut self, until: Nanos, ready: &mut Vec<Readiness>) -> Result<(), Fault> {
        let now = self.io.now();
        for pool in &mut self.pools {
            pool.transport.pending.begin_turn();
        }
        self.handle_ready(ready);
        for index in 0..self.pools.len() {
            let pool = &self.pools[index];
            if pool.has_more(now) && pool.lifecycle.finished.is_none() {
                if now > until + STOOD_STILL {
                    self.catch_up(ready)?;
                }
                self.go_on(index, now);
            }
        }
        Ok(())
    }

    /// Passes each event to its pool, and settles it before the next: an exchange that one event
    /// ends may start another on a slot whose event is still to come.
    #[inline]
    fn handle_ready(&mut self, ready: &[Readiness]) {
        for readiness in ready {
            let (index, readiness) = self.of_slot(*readiness);
            self.transmit(index, |it, parts| it.handle_ready(parts, readiness));
        }
    }

    /// Reads everything that arrived while the thread was stopped, before deadlines are checked: an
    /// answer in the socket is not late. The wait during which the thread was stopped may have
    /// returned nothing.
    #[cold]
    fn catch_up(&mut self, ready: &mut Vec<Readiness>) -> Result<(), Fault> {
        for _ in 0..CATCH_UPS {
            self.io.wait(Nanos::ZERO, ready)?;
            if ready.is_empty() {
                break;
            }
            self.handle_ready(ready);
        }
        Ok(())
    }

    /// Continues with the input that a pool has left unread, then with its overdue exchanges, then
    /// with its timers.
    #[cold]
    fn go_on(&mut self, index: usize, now: Nanos) {
        while self.pools[index].transport.pending.has_input() {
            self.transmit(index, |it, parts| it.read_rest(parts));
        }
        for id in self.pools[index].overdue(now) {
            self.act(index, |pool, cx| pool.time_out(cx, id, now));
        }
        while let Some(wake) = self.pools[index].timers.due(now) {
            self.act(index, |pool, cx| pool.wake(cx, wake, now));
        }
    }

    /// Leaves the demands of all pools to others. Returns the latest time of the next turn, for
    /// this worker or for the workers that it helps.
    fn rest(&mut self, now: Nanos) -> Nanos {
        let until = self.next_wake(now);
        let pools = self
            .pools
            .iter_mut()
            .filter(|pool| pool.lifecycle.finished.is_none());
        pools.fold(until, |until, pool| until.min(pool.rest(now)))
    }

    /// Takes the demands of all pools back, with the ends of requests that others have carried out
    /// meanwhile. Must be the first call after a wait: until then other workers may take from the
    /// demands.
    #[inline]
    fn resume(&mut self) {
        for index in 0..self.pools.len() {
            let returned = self.pools[index].resume();
            if !returned.is_empty() || !self.pools[index].demand.left_steps.is_empty() {
                let now = self.io.now();
                self.act(index, |pool, cx| pool.take_back(cx, returned, now));
            }
        }
    }

    /// The latest time of the loop's next turn.
    fn next_wake(&self, now: Nanos) -> Nanos {
        let wake = now + WAIT_MAX;
        let wake = wake.min(self.recorder.edge());
        let pools = self
            .pools
            .iter()
            .filter(|pool| pool.lifecycle.finished.is_none());
        pools.fold(wake, |wake, pool| wake.min(pool.next_wake(now)))
    }

    /// Closes the intervals that have ended.
    #[inline]
    fn roll(&mut self, now: Nanos) {
        while now >= self.recorder.edge() {
            let edge = self.recorder.edge();
            if self.recorder.end_warmup() {
                for pool in &mut self.pools {
                    pool.pass(Milestone::WarmupEnd);
                }
                continue;
            }
            for pool in &mut self.pools {
                pool.tally(&mut self.recorder, edge);
            }
            let times = self.io.thread_times();
            self.recorder.close(edge, times);
        }
    }

    /// Starts no further requests of a pool, except those that were due before the end and have a
    /// free seat: the loop may wake a little after the end.
    fn stop(&mut self, index: usize, now: Nanos) {
        if !self.pools[index].is_cut_off(now) {
            while self.act(index, |pool, cx| pool.start_next(cx, now)) {}
        }
        self.flush(index, Output::All);
        let (pool, mut cx) = self.pool_context(index);
        pool.stop(&mut cx, now);
        self.account(index);
    }

    /// Makes the samples of a pool's ended exchanges, without starting others.
    fn account(&mut self, index: usize) {
        loop {
            let (pool, mut cx) = self.pool_context(index);
            match pool.account_all(&mut cx) {
                Ok(()) => return,
                Err(at) => self.roll(at),
            }
        }
    }

    /// Makes a pool's final account, once.
    fn finish_pool(&mut self, index: usize) {
        let (pool, mut cx) = self.pool_context(index);
        pool.transmit(&mut cx, |it, parts| it.drain_input(parts));
        self.account(index);
        let now = self.io.now();
        self.roll(now);
        let (pool, mut cx) = self.pool_context(index);
        pool.finish(&mut cx, now);
        self.finished += 1;
    }

    /// Passes on the last interval.
    fn finish(mut self) {
        let times = self.io.thread_times();
        let pools = &self.pools;
        let finished = || pools.iter().filter_map(|pool| pool.lifecycle.finished);
        let at = finished().map(|finish| finish.at).max();
        let end = finished()
            .map(|finish| finish.end)
            .max()
            .unwrap_or_default();
        let channel = self.recorder.finish(at.unwrap_or_default(), times);
        let load_end = finished().filter_map(|finish| finish.load_end).max();
        channel.reporter.send(Message::Done { end, load_end });
    }
}
