//! The thread that sends a run's snapshots to a receiver, again and again where it does not take
//! them.
//!
//! The observer gives snapshots by a [`Queue`], which never blocks. The thread sends what waits, in
//! batches, with the pauses of its [`Pace`]; a request's snapshots are copied out of the lock, so
//! that the observer never waits for a receiver. [`LastPusher::finish`] waits for the last figures, for
//! a time.
//!
//! While the run goes on the thread takes no time that others need, which on a busy machine is next to
//! none. It ends with the run, and a thread of usual weight sends what still waits.
//!
//! That thread ends when nothing waits and nothing will come: every [`Queue`] was dropped, or gave
//! its last. A thread that hangs in a request when the run gives up on it ends with that request's
//! own limit, or with the process.

use super::LOOK_EVERY;
use super::backlog::{Backlog, Batch};
use super::pace::Pace;
use super::receiver::{Receiver, Sent};
use drumfire_metrics::Snapshot;
use drumfire_net::{Clock, yield_to_others};
use drumfire_units::Nanos;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// The time for which the end of a run waits for receivers.
const LAST_PATIENCE: Nanos = Nanos(10_000_000_000);

/// The way to a receiver while a run goes on.
pub(super) struct Pusher {
    shared: Arc<Shared>,
    /// Sends while the run goes on.
    thread: JoinHandle<()>,
}

/// The state that the thread shares with the observer.
struct Shared {
    receiver: Receiver,
    /// The time of the thread's pauses.
    clock: Clock,
    state: Mutex<State>,
    changed: Condvar,
}

/// The snapshots that wait, and the account of those that were lost.
#[derive(Default)]
struct State {
    backlog: Backlog,
    losses: Losses,
    pace: Pace,
    /// The time of the last answer, from which the pause before the next request counts.
    answered: Nanos,
    /// The time before which the receiver does not want to be asked again.
    not_before: Nanos,
    /// Whether the end of the run waits no longer.
    is_given_up: bool,
}

/// The snapshots that a receiver has not taken.
#[derive(Default)]
struct Losses {
    /// The last failure, as long as nothing was taken after it.
    failure: Option<String>,
    /// The number that the receiver has refused.
    refused: u64,
    /// The reason for which it refused the first of them.
    refusal: Option<String>,
}

/// The way to a receiver when the run is over.
pub(super) struct LastPusher {
    shared: Arc<Shared>,
    /// `None` where it could not be started.
    thread: Option<JoinHandle<()>>,
}

impl Pusher {
    /// Starts a thread that sends the snapshots of its queue to a receiver.
    pub(super) fn start(receiver: Receiver) -> io::Result<Self> {
        let shared = Arc::new(Shared {
            receiver,
            clock: Clock::start(),
            state: Mutex::default(),
            changed: Condvar::new(),
        });
        let body = {
            let shared = Arc::clone(&shared);
            move || {
                yield_to_others();
                shared.work(Backlog::is_over);
            }
        };
        let thread = thread::Builder::new().name("push".to_owned());
        let thread = thread.spawn(body)?;
        Ok(Self { shared, thread })
    }

    /// The way to give it snapshots.
    pub(super) fn queue(&self) -> Queue {
        Queue(Arc::clone(&self.shared))
    }

    /// Goes on behind the run. Every queue was dropped, or gave its last.
    pub(super) fn end(self) -> LastPusher {
        let Self { shared, thread } = self;
        let body = {
            let shared = Arc::clone(&shared);
            move || {
                // One that panicked has sent what it could.
                let _panicked = thread.join();
                shared.work(|backlog| backlog.is_over() && backlog.len() == 0);
            }
        };
        let started = thread::Builder::new().name("push".to_owned()).spawn(body);
        let thread = started.map_err(|error| {
            let why = format!("can't start a thread: {error}");
            let _said_in_the_note = shared.lock().losses.fail(why);
        });
        let thread = thread.ok();
        LastPusher { shared, thread }
    }
}

impl LastPusher {
    /// Waits until everything was sent, or for as long as the end of a run waits from `since` on,
    /// but for no receiver that wants to be left alone for longer. Gives a note where something was
    /// not taken.
    pub(super) fn finish(self, since: &Clock, is_given_up: &dyn Fn() -> bool) -> Option<String> {
        let clock = &self.shared.clock;
        let is_done = || self.thread.as_ref().is_none_or(JoinHandle::is_finished);
        while !is_done() && !is_given_up() {
            let left = LAST_PATIENCE - since.now();
            if left == Nanos::ZERO || self.shared.lock().not_before > clock.now() + left {
                break;
            }
            thread::sleep(LOOK_EVERY);
        }
        let mut state = self.shared.lock();
        state.is_given_up = true;
        self.shared.changed.notify_all();
        let note = state.losses.note(state.backlog.len());
        note.map(|note| format!("{}: {note}", self.shared.receiver.name))
    }
}

impl Losses {
    /// The losses in words, where this many still wait.
    fn note(&self, waiting: usize) -> Option<String> {
        let mut losses = Vec::new();
        if self.refused > 0 {
            let why = self.refusal.as_deref().unwrap_or_default();
            losses.push(format!("refused {} metric snapshots ({why})", self.refused));
        }
        if waiting > 0 {
            let why = self.failure.as_deref().unwrap_or("no response in time");
            losses.push(format!(
                "did not accept the last {waiting} metric snapshots ({why})"
            ));
        }
        (!losses.is_empty()).then(|| losses.join(", and "))
    }

    /// Notes a failure; gives a message if it is the first, so that a receiver that is down is
    /// mentioned once.
    fn fail(&mut self, why: String) -> Option<String> {
        let complaint = match self.failure {
            Some(_) => None,
            None => Some(format!("{why}; retrying")),
        };
        self.failure = Some(why);
        complaint
    }

    /// Notes the refusal of this many; gives a message if it is the first.
    fn refuse(&mut self, why: String, count: usize) -> Option<String> {
        self.failure = None;
        let is_first = self.refused == 0;
        self.refused += count as u64;
        if is_first {
            self.refusal = Some(why.clone());
        }
        is_first.then_some(why)
    }
}

/// The way into a receiver's queue.
pub(super) struct Queue(Arc<Shared>);

impl Queue {
    /// Gives a snapshot.
    pub(super) fn give(&self, snapshot: &Arc<Snapshot>) {
        self.0.lock().backlog.give(snapshot);
    }

    /// Gives the last snapshot.
    pub(super) fn give_last(&self, snapshot: &Arc<Snapshot>) {
        self.0.lock().backlog.give_last(snapshot);
        self.0.changed.notify_all();
    }
}

impl Drop for Queue {
    /// Ends the backlog: a run that fails has no last snapshot.
    fn drop(&mut self) {
        self.0.lock().backlog.end();
        self.0.changed.notify_all();
    }
}

impl Shared {
    /// Locks the state, also after a panic: nothing that could panic is done under the lock.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends until the backlog is one that ends this.
    fn work(&self, is_end: fn(&Backlog) -> bool) {
        loop {
            let batch = {
                let state = self.rest(is_end);
                if state.is_given_up || is_end(&state.backlog) {
                    return;
                }
                state.backlog.batch()
            };
            match batch {
                Some(batch) => {
                    let sent = self.receiver.send(&batch.snapshots, batch.series);
                    self.settle(sent, &batch);
                }
                None => self.lock().pace.settle(false),
            }
            self.lock().answered = self.clock.now();
        }
    }

    /// Waits for the pause before the next request, unless the backlog ends the sending; the end of
    /// the run shortens it.
    fn rest(&self, is_end: fn(&Backlog) -> bool) -> MutexGuard<'_, State> {
        let mut state = self.lock();
        loop {
            let pause = Nanos::from(state.pace.pause(state.backlog.is_over()));
            let left = state.answered + pause - self.clock.now();
            if left == Nanos::ZERO || state.is_given_up || is_end(&state.backlog) {
                return state;
            }
            let waited = self
                .changed
                .wait_timeout(state, Duration::from_nanos(left.0));
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Takes the settled snapshots from the queue, and shows a complaint after the lock is
    /// released.
    fn settle(&self, sent: Sent, batch: &Batch) {
        let mut state = self.lock();
        let State {
            backlog,
            losses,
            pace,
            ..
        } = &mut *state;
        let complaint = match sent {
            Sent::Failed { why, retry_after } => {
                pace.fail(backlog.is_over(), retry_after);
                let pause = pace.retry_after().map(Nanos::from);
                state.not_before = pause.map_or(Nanos::ZERO, |pause| self.clock.now() + pause);
                state.losses.fail(why)
            }
            Sent::TooLarge(_) if backlog.halve(batch) => {
                pace.settle(true);
                None
            }
            Sent::Taken => {
                losses.failure = None;
                backlog.settle(batch);
                pace.settle(backlog.is_more_than_a_batch());
                None
            }
            Sent::TooLarge(why) | Sent::Refused(why) => {
                backlog.settle(batch);
                pace.settle(backlog.is_more_than_a_batch());
                losses.refuse(why, batch.snapshots.len())
            }
        };
        drop(state);
        if let Some(complaint) = complaint {
            self.receiver.note(&complaint);
        }
    }
}
