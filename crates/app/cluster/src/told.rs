//! The events of a coordinator's run: first the events of an earlier coordinator, then its own.
//!
//! The past is replayed from the journal on demand, so that the intervals of a long run are in
//! memory one at a time. The past ends where the current coordinator started.

use crate::coordinator::Coordinator;
use crate::event::ClusterEvent;
use crate::journal::Entries;
use drumfire_plan::Command;
use std::collections::VecDeque;
use std::fmt;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

/// The events of a run, from its beginning.
#[derive(Debug)]
pub struct Told {
    past: Option<Past>,
    commands: Vec<Command>,
    coming: Receiver<ClusterEvent>,
}

/// The events that an earlier coordinator had published.
pub(crate) struct Past {
    coordinator: Coordinator,
    entries: Entries,
    events: VecDeque<ClusterEvent>,
}

impl fmt::Debug for Past {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Past").finish_non_exhaustive()
    }
}

impl Past {
    pub(crate) const fn new(coordinator: Coordinator, entries: Entries) -> Self {
        let events = VecDeque::new();
        Self {
            coordinator,
            entries,
            events,
        }
    }

    fn next(&mut self) -> Option<ClusterEvent> {
        while self.events.is_empty() {
            let entry = match self.entries.next() {
                Ok(entry) => entry?,
                Err(error) => return Some(failed(&error)),
            };
            match self.coordinator.replay(entry) {
                Ok(events) => self.events.extend(events),
                Err(error) => return Some(failed(&error)),
            }
        }
        self.events.pop_front()
    }
}

fn failed(error: &dyn fmt::Display) -> ClusterEvent {
    ClusterEvent::Failed(format!("could not read the journal: {error}"))
}

impl Told {
    pub(crate) const fn new(
        past: Option<Past>,
        commands: Vec<Command>,
        coming: Receiver<ClusterEvent>,
    ) -> Self {
        Self {
            past,
            commands,
            coming,
        }
    }

    /// The commands that earlier coordinators had passed on.
    pub(crate) fn commands(&self) -> &[Command] {
        &self.commands
    }

    /// The next event, if one arrives within this time.
    ///
    /// # Errors
    /// If no event arrived, or none will.
    pub fn next(&mut self, within: Duration) -> Result<ClusterEvent, RecvTimeoutError> {
        if let Some(past) = &mut self.past {
            match past.next() {
                Some(event) => return Ok(event),
                None => self.past = None,
            }
        }
        self.coming.recv_timeout(within)
    }
}
