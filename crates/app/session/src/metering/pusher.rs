//! The thread that sends a run's snapshots to a receiver, repeatedly if the receiver does not
//! accept them.
//!
//! The observer adds snapshots through a [`Queue`], which never blocks. The thread sends waiting
//! snapshots in batches, with the pauses of its [`PushPace`]. A request's snapshots are copied while
//! the lock is held and sent afterwards, so the observer never waits for a receiver.
//! [`LastPusher::finish`] waits for the last figures, for a limited time.
//!
//! During the run, the thread uses only CPU time that no other thread needs, which on a busy
//! machine is almost nothing. It ends with the run, and a thread of normal priority sends the
//! remaining snapshots.
//!
//! That thread ends when nothing waits and nothing will come: every [`Queue`] was dropped or has
//! its last snapshot. If the thread hangs in a request when the run stops waiting for it, it ends
//! with that request's time limit, or with the process.

use super::LOOK_EVERY;
use super::backlog::{SnapshotBacklog, SnapshotBatch};
use super::pace::PushPace;
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

/// The connection to a receiver during a run.
pub(super) struct Pusher {
    shared: Arc<Shared>,
    /// The thread that sends during the run.
    thread: JoinHandle<()>,
}

/// The state that the thread shares with the observer.
struct Shared {
    receiver: Receiver,
    /// The clock for the thread's pauses.
    clock: Clock,
    state: Mutex<State>,
    changed: Condvar,
}

/// The waiting snapshots, and the counts of lost ones.
#[derive(Default)]
struct State {
    backlog: SnapshotBacklog,
    losses: Losses,
    pace: PushPace,
    /// The time of the last answer, from which the pause before the next request counts.
    answered: Nanos,
    /// The time before which the receiver wants no request.
    not_before: Nanos,
    /// Whether the end of the run has stopped waiting.
    is_given_up: bool,
}

/// The snapshots that a receiver has not accepted.
#[derive(Default)]
struct Losses {
    /// The last failure, unless something was accepted after it.
    failure: Option<String>,
    /// The number of snapshots that the receiver has refused.
    refused: u64,
    /// The reason of the first refusal.
    refusal: Option<String>,
}

/// The connection to a receiver after the run.
pub(super) struct LastPusher {
    shared: Arc<Shared>,
    /// `None` if the thread could not be started.
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
                shared.work(SnapshotBacklog::is_over);
            }
        };
        let thread = thread::Builder::new().name("push".to_owned());
        let thread = thread.spawn(body)?;
        Ok(Self { shared, thread })
    }

    /// The queue for its snapshots.
    pub(super) fn queue(&self) -> Queue {
        Queue(Arc::clone(&self.shared))
    }

    /// Continues after the run. Every queue was dropped or has its last snapshot.
    pub(super) fn finish(self) -> LastPusher {
        let Self { shared, thread } = self;
        let body = {
            let shared = Arc::clone(&shared);
            move || {
                // A thread that panicked has sent what it could.
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
    /// Waits until everything was sent, at most for the time that the end of a run waits, counted
    /// from `since`. Does not wait for a receiver that requested a longer pause. Returns a note if
    /// something was not accepted.
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
    /// The losses as text; `waiting` is the number of snapshots that still wait.
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

    /// Records a failure. Returns a message for the first one, so that an unreachable receiver is
    /// reported once.
    fn fail(&mut self, why: String) -> Option<String> {
        let complaint = match self.failure {
            Some(_) => None,
            None => Some(format!("{why}; retrying")),
        };
        self.failure = Some(why);
        complaint
    }

    /// Records the refusal of `count` snapshots. Returns a message for the first one.
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

/// A handle to a receiver's queue.
pub(super) struct Queue(Arc<Shared>);

impl Queue {
    /// Adds a snapshot.
    pub(super) fn push(&self, snapshot: &Arc<Snapshot>) {
        self.0.lock().backlog.push(snapshot);
    }

    /// Adds the last snapshot.
    pub(super) fn give_last(&self, snapshot: &Arc<Snapshot>) {
        self.0.lock().backlog.give_last(snapshot);
        self.0.changed.notify_all();
    }
}

impl Drop for Queue {
    /// Ends the backlog, because a failed run has no last snapshot.
    fn drop(&mut self) {
        self.0.lock().backlog.finish();
        self.0.changed.notify_all();
    }
}

impl Shared {
    /// Locks the state, even after a panic, because code under the lock cannot panic.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends until `is_end` holds for the backlog.
    fn work(&self, is_end: fn(&SnapshotBacklog) -> bool) {
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

    /// Waits for the pause before the next request, unless `is_end` holds for the backlog. The end
    /// of the run shortens the pause.
    fn rest(&self, is_end: fn(&SnapshotBacklog) -> bool) -> MutexGuard<'_, State> {
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

    /// Removes the settled snapshots from the queue, and shows a message after the lock is
    /// released.
    fn settle(&self, sent: Sent, batch: &SnapshotBatch) {
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
