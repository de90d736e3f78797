//! The events of a coordinator's run: those of an earlier coordinator, then its own.
//!
//! The past is played from the journal as it is asked for, so that the intervals of a long run are
//! in memory one after the other. It ends where the coordinator under way has begun.

use crate::coordinator::Coordinator;
use crate::event::ClusterEvent;
use crate::journal::Entries;
use drumfire_plan::Command;
use std::collections::VecDeque;
use std::fmt;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

/// The events of a run, from its beginning on.
#[derive(Debug)]
pub struct Told {
    past: Option<Past>,
    commands: Vec<Command>,
    coming: Receiver<ClusterEvent>,
}

/// The events of a run that an earlier coordinator had told.
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

    /// The next event, if one comes within this time.
    ///
    /// # Errors
    /// When none came, or none will.
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
