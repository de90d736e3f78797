//! Observers of a run: each has its own queue, and none can delay the run.
//!
//! Only the collector's thread calls [`EventHub::publish`], which never waits for an observer: it
//! holds a queue's lock for one push. [`EventHub::subscribe`] may be called from any thread at any
//! time. An observer that is dropped is forgotten with the next event.
//!
//! A slow observer loses detail, not counts: when [`OBSERVER_INTERVALS`] wait for it, each further
//! interval is merged into the last, so that it receives longer intervals that contain everything.
//! Kept samples are bounded by [`KEPT_SAMPLES_MAX`], transcripts by [`WAITING_TRANSCRIPTS_BYTES`];
//! further ones are lost for this observer. Other events are few. All observers share an interval;
//! the merge copies it first if another observer still has it.

use crate::limits::{
    KEPT_SAMPLES_MAX, OBSERVER_INTERVALS, TRANSCRIPT_BYTES, WAITING_TRANSCRIPTS_BYTES,
};
use drumfire_measure::{Kept, RunEvent, RunInfo, Transcript};
use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};

/// The events of a run for one observer. Ends with the run.
#[derive(Default)]
pub struct Events {
    queue: Arc<Queue>,
}

/// One observer's queue, held by the observer and, weakly, by the hub: the hub forgets it when the
/// observer is dropped.
#[derive(Default)]
struct Queue {
    state: Mutex<State>,
    /// Notified when an event was added or the queue was closed.
    changed: Condvar,
}

/// The events that wait for one observer.
#[derive(Default)]
struct State {
    events: VecDeque<RunEvent>,
    /// The number of intervals in `events`.
    intervals: usize,
    /// The number of samples in `events`, by [`size_of_kept`].
    kept: usize,
    /// The bytes of the transcripts in `events`.
    transcribed: usize,
    /// Whether no further event will be added.
    is_closed: bool,
}

/// Distributes the events of a run to its observers.
pub(crate) struct EventHub {
    observers: Mutex<CurrentObservers>,
}

/// The current observers, and the run's stage for later ones.
struct CurrentObservers {
    /// The first observer's queue, which exists from the start: its holder may subscribe shortly
    /// after the first event.
    first: Option<Events>,
    queues: Vec<Weak<Queue>>,
    /// The facts of the run, after [`RunEvent::Started`] was published.
    info: Option<Arc<RunInfo>>,
    is_closed: bool,
}

/// Ends all queues when it is dropped.
struct Closes<'a>(&'a EventHub);

impl EventHub {
    /// A hub with the queue of the first observer, which receives all events.
    pub(crate) fn new() -> Self {
        let first = Events::default();
        let queues = vec![Arc::downgrade(&first.queue)];
        Self {
            observers: Mutex::new(CurrentObservers {
                first: Some(first),
                queues,
                info: None,
                is_closed: false,
            }),
        }
    }

    /// Adds an observer. Each one first receives [`RunEvent::Started`], once; the first one
    /// receives all events, the others only later ones.
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

    /// Passes an event to all observers. Never waits for an observer.
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

    /// Calls `does`, and closes all queues afterwards, even if it panics, so that observers wake.
    pub(crate) fn until_end<T>(&self, does: impl FnOnce(&Self) -> T) -> T {
        let _closes = Closes(self);
        does(self)
    }
}

impl fmt::Debug for EventHub {
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

    /// Waits for the next event; `None` when the run is over.
    fn next(&mut self) -> Option<RunEvent> {
        self.waited().pop()
    }
}

impl Events {
    /// The next event, if there is one already.
    pub fn try_next(&self) -> Option<RunEvent> {
        lock(&self.queue.state).pop()
    }

    /// Waits for the next event; `false` when the run is over and no event is left.
    pub fn wait(&self) -> bool {
        !self.waited().events.is_empty()
    }

    /// The state when an event is available, or none will come.
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

    /// Closes the queue after the events that it has.
    fn close(&self) {
        lock(&self.state).is_closed = true;
        self.changed.notify_all();
    }
}

impl State {
    /// Takes the event that has waited for longest.
    fn pop(&mut self) -> Option<RunEvent> {
        let event = self.events.pop_front()?;
        match &event {
            RunEvent::IntervalClosed(_) => self.intervals -= 1,
            RunEvent::Kept(kept) => self.kept -= kept.iter().map(size_of_kept).sum::<usize>(),
            RunEvent::Transcripts(all) => self.transcribed -= bytes_of(all),
            _ => {}
        }
        Some(event)
    }

    /// Adds an event, or merges it into the last one of its kind if the queue is full.
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

    /// Adds samples, as far as there is room after the waiting ones. If the queue is full, they are
    /// appended to the last samples, because their interval will be merged with the last interval.
    fn add_kept(&mut self, mut kept: Arc<Vec<Kept>>, is_full: bool) {
        if self.kept > 0 {
            let mut room = KEPT_SAMPLES_MAX.saturating_sub(self.kept);
            let fits = |one: &&Kept| {
                let left = room.checked_sub(size_of_kept(one));
                room = left.unwrap_or(0);
                left.is_some()
            };
            let count = kept.iter().take_while(fits).count();
            if count < kept.len() {
                kept = Arc::new(kept[..count].to_vec());
            }
        }
        self.kept += kept.iter().map(size_of_kept).sum::<usize>();
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

/// The number of samples that a sample counts for: the gaps of an answer take memory, too.
fn size_of_kept(kept: &Kept) -> usize {
    let answer = kept.answer.as_ref();
    let bytes = answer.map_or(0, |answer| size_of_val(&*answer.gaps));
    1 + bytes / size_of::<Kept>()
}

/// The bytes that transcripts count for.
fn bytes_of(transcripts: &[Transcript]) -> usize {
    let each = transcripts.iter().map(Transcript::body_bytes);
    each.map(|bytes| bytes + TRANSCRIPT_BYTES).sum()
}

/// Locks a mutex, even a poisoned one: nothing under these locks can panic, so their content is
/// consistent.
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
            machine: String::new(),
            name: None,
        }
    }

    fn starts(events: Events) -> usize {
        let is_start = |event: &RunEvent| matches!(event, RunEvent::Started(_));
        events.filter(is_start).count()
    }

    /// Observers that subscribe before the start, and after it.
    #[test]
    fn every_observer_is_told_of_the_start_once() {
        let hub = EventHub::new();
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
