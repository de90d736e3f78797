//! Observers of a run: each has its own queue, and none can hold up the run.
//!
//! [`Hub::publish`] is called by the collector's thread alone and never waits: it takes a queue's
//! lock for the time of a push. [`Hub::subscribe`] may be called from any thread at any time. An
//! observer that is dropped is forgotten with the next event.
//!
//! An observer that is slow loses detail, not counts: when [`OBSERVER_INTERVALS`] wait for it, each
//! further interval is merged into the last, so that it sees longer intervals with everything in
//! them. Kept samples are bounded by [`KEPT_SAMPLES_MAX`], exchanges in full by
//! [`WAITING_TRANSCRIPTS_BYTES`]; those beyond are lost for this observer. Other events are few. An interval is shared by
//! all observers; the merge copies it first where another still has it.

use crate::limits::{
    KEPT_SAMPLES_MAX, OBSERVER_INTERVALS, TRANSCRIPT_BYTES, WAITING_TRANSCRIPTS_BYTES,
};
use drumfire_measure::{Kept, RunEvent, RunInfo, Transcript};
use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};

/// The events of a run, as one observer takes them. Ends with the run.
#[derive(Default)]
pub struct Events {
    queue: Arc<Queue>,
}

/// One observer's queue, held by the observer and, weakly, by the hub: the hub forgets it when the
/// observer is dropped.
#[derive(Default)]
struct Queue {
    state: Mutex<State>,
    /// Signalled when an event was added or the queue was closed.
    changed: Condvar,
}

/// The events that wait for one observer.
#[derive(Default)]
struct State {
    events: VecDeque<RunEvent>,
    /// The number of intervals among them.
    intervals: usize,
    /// The number of samples among them.
    kept: usize,
    /// The bytes of the exchanges in full among them.
    transcribed: usize,
    /// Whether no event follows those that wait.
    is_closed: bool,
}

/// Hands the events of a run to its observers.
pub(crate) struct Hub {
    observers: Mutex<Observers>,
}

/// The observers that there are, and the run's stage, for those to come.
struct Observers {
    /// The first observer's, from the start: its holder may come for it a little later than the
    /// first event.
    first: Option<Events>,
    queues: Vec<Weak<Queue>>,
    /// The facts of the run, once [`RunEvent::Started`] was published.
    info: Option<Arc<RunInfo>>,
    is_closed: bool,
}

/// Ends all queues when it is dropped.
struct Closes<'a>(&'a Hub);

impl Hub {
    /// A hub with the queue of the first observer, which gets all events from the start.
    pub(crate) fn new() -> Self {
        let first = Events::default();
        let queues = vec![Arc::downgrade(&first.queue)];
        Self {
            observers: Mutex::new(Observers {
                first: Some(first),
                queues,
                info: None,
                is_closed: false,
            }),
        }
    }

    /// One observer more. Each begins with [`RunEvent::Started`], once, and all but the first go on
    /// with the events that come next.
    pub(crate) fn subscribe(&self) -> Events {
        let mut observers = lock(&self.observers);
        if let Some(first) = observers.first.take() {
            return first;
        }
        let events = Events::default();
        if observers.is_closed {
            events.queue.close();
        } else {
            if let Some(info) = &observers.info {
                let started = RunEvent::Started(Arc::clone(info));
                lock(&events.queue.state).add(started);
            }
            observers.queues.push(Arc::downgrade(&events.queue));
        }
        events
    }

    /// Hands an event to all observers. Never waits for one.
    pub(crate) fn publish(&self, event: RunEvent) {
        let mut observers = lock(&self.observers);
        if let RunEvent::Started(info) = &event {
            observers.info = Some(Arc::clone(info));
        }
        observers.queues.retain(|queue| match queue.upgrade() {
            Some(queue) => {
                queue.add(event.clone());
                true
            }
            None => false,
        });
    }

    /// Calls `does`, after which no event follows: observers are woken at its end, also by a panic.
    pub(crate) fn until_end<T>(&self, does: impl FnOnce(&Self) -> T) -> T {
        let _closes = Closes(self);
        does(self)
    }
}

impl fmt::Debug for Hub {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let observers = lock(&self.observers).queues.len();
        f.debug_struct("Hub")
            .field("observers", &observers)
            .finish()
    }
}

impl Drop for Closes<'_> {
    fn drop(&mut self) {
        let mut observers = lock(&self.0.observers);
        observers.is_closed = true;
        for queue in observers.queues.drain(..) {
            if let Some(queue) = queue.upgrade() {
                queue.close();
            }
        }
    }
}

impl fmt::Debug for Events {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let waiting = lock(&self.queue.state).events.len();
        f.debug_struct("Events").field("waiting", &waiting).finish()
    }
}

impl Iterator for Events {
    type Item = RunEvent;

    /// The next event; waits for it. `None` when the run is over.
    fn next(&mut self) -> Option<RunEvent> {
        self.waited().take()
    }
}

impl Events {
    /// The next event, if one waits.
    pub fn try_next(&self) -> Option<RunEvent> {
        lock(&self.queue.state).take()
    }

    /// Waits until there is a next event; `false` when the run is over and none waits any more.
    pub fn wait(&self) -> bool {
        !self.waited().events.is_empty()
    }

    /// The state when an event waits, or none will come.
    fn waited(&self) -> MutexGuard<'_, State> {
        let mut state = lock(&self.queue.state);
        while state.events.is_empty() && !state.is_closed {
            let changed = self.queue.changed.wait(state);
            state = changed.unwrap_or_else(PoisonError::into_inner);
        }
        state
    }
}

impl Queue {
    /// Adds an event and wakes the observer.
    fn add(&self, event: RunEvent) {
        lock(&self.state).add(event);
        self.changed.notify_one();
    }

    /// Ends the queue behind the events that wait in it.
    fn close(&self) {
        lock(&self.state).is_closed = true;
        self.changed.notify_all();
    }
}

impl State {
    /// Takes the event that has waited for longest.
    fn take(&mut self) -> Option<RunEvent> {
        let event = self.events.pop_front()?;
        match &event {
            RunEvent::IntervalClosed(_) => self.intervals -= 1,
            RunEvent::Kept(kept) => self.kept -= kept.len(),
            RunEvent::Transcripts(all) => self.transcribed -= bytes_of(all),
            _ => {}
        }
        Some(event)
    }

    /// Adds an event, or merges it into the last one of its kind where the queue is full.
    fn add(&mut self, event: RunEvent) {
        let is_full = self.intervals >= OBSERVER_INTERVALS;
        match event {
            RunEvent::IntervalClosed(interval) if is_full => {
                let last = self.events.iter_mut().rev().find_map(|event| match event {
                    RunEvent::IntervalClosed(last) => Some(last),
                    _ => None,
                });
                if let Some(last) = last {
                    Arc::make_mut(last).merge(&interval);
                }
            }
            RunEvent::Kept(kept) => self.add_kept(kept, is_full),
            RunEvent::Transcripts(all) => {
                let bytes = bytes_of(&all);
                if self.transcribed == 0 || self.transcribed + bytes <= WAITING_TRANSCRIPTS_BYTES {
                    self.transcribed += bytes;
                    self.events.push_back(RunEvent::Transcripts(all));
                }
            }
            event => {
                self.intervals += usize::from(matches!(event, RunEvent::IntervalClosed(_)));
                self.events.push_back(event);
            }
        }
    }

    /// Adds samples, as far as there is room for them behind those that wait. Where the queue is
    /// full they join the last ones, into whose interval theirs will be merged.
    fn add_kept(&mut self, mut kept: Arc<Vec<Kept>>, is_full: bool) {
        if self.kept > 0 {
            let room = KEPT_SAMPLES_MAX.saturating_sub(self.kept);
            if kept.len() > room {
                kept = Arc::new(kept[..room].to_vec());
            }
        }
        self.kept += kept.len();
        let mut last = self.events.iter_mut().rev();
        let last = last.find_map(|event| match event {
            RunEvent::Kept(last) => Some(last),
            _ => None,
        });
        match last {
            Some(last) if is_full => Arc::make_mut(last).extend_from_slice(&kept),
            _ => self.events.push_back(RunEvent::Kept(kept)),
        }
    }
}

/// The bytes of exchanges in full.
fn bytes_of(transcripts: &[Transcript]) -> usize {
    let each = transcripts.iter().map(Transcript::body_bytes);
    each.map(|bytes| bytes + TRANSCRIPT_BYTES).sum()
}

/// Locks, also a mutex that a panic has poisoned: nothing that could panic is done under these
/// locks, so that their content is whole.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use drumfire_plan::{StopReason, Warmup};
    use drumfire_units::Nanos;

    fn info() -> RunInfo {
        RunInfo {
            id: "run".to_owned(),
            started_at_unix_ns: 0,
            seed: 0,
            version: String::new(),
            threads: 1,
            threads_planned: 1,
            pools: Vec::new(),
            interval: Nanos::from_secs(1),
            warmup: Warmup::Span(Nanos::ZERO),
            tls_verified: None,
            spin: false,
            clock: drumfire_measure::ArrivalClock::Program,
            thresholds: Vec::new(),
            notes: Vec::new(),
            target: String::new(),
        }
    }

    fn starts(events: Events) -> usize {
        let is_start = |event: &RunEvent| matches!(event, RunEvent::Started(_));
        events.filter(is_start).count()
    }

    /// Observers that come before the start, and after it.
    #[test]
    fn every_observer_is_told_of_the_start_once() {
        let hub = Hub::new();
        let (first, second) = (hub.subscribe(), hub.subscribe());
        let third = hub.until_end(|hub| {
            hub.publish(RunEvent::Started(Arc::new(info())));
            let third = hub.subscribe();
            hub.publish(RunEvent::Stopping {
                reason: StopReason::Signal,
            });
            third
        });
        assert_eq!([first, second, third].map(starts), [1; 3]);
    }
}
