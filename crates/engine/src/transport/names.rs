//! Names that are looked up again while a run goes on.

use crate::id::LaneId;
use crate::limits::{LOOK_UP, LOOK_UP_AGAIN, LOOK_UP_LEAST};
use crate::prepare::{Lookup, Place, Sought};
use crate::timers::{Timers, Wake};
use drumfire_plan::{Origin, Renewal};
use drumfire_units::Nanos;
use std::sync::mpsc::TryRecvError;

/// The look-ups of lanes' names that are under way.
#[derive(Debug, Default)]
pub(crate) struct Names(Vec<(LaneId, Sought)>);

impl Names {
    /// Begins to look a lane's name up; where there is no thread for it, later.
    pub(super) fn look_up(
        &mut self,
        lane: LaneId,
        origin: Origin,
        lookup: &Lookup,
        timers: &mut Timers,
        now: Nanos,
    ) {
        match lookup.place_of(origin) {
            Ok(sought) => {
                self.0.push((lane, sought));
                timers.at(now + LOOK_UP, Wake::LookUps);
            }
            Err(_no_thread) => timers.at(now + LOOK_UP_AGAIN, Wake::Names(lane)),
        }
    }

    /// Takes an answer that has come; no place where there is none now.
    pub(super) fn take_answer(&mut self) -> Option<(LaneId, Option<Place>)> {
        for at in 0..self.0.len() {
            let answer = match self.0[at].1.try_recv() {
                Err(TryRecvError::Empty) => continue,
                Err(TryRecvError::Disconnected) => None,
                Ok(answer) => answer.ok(),
            };
            let (lane, _) = self.0.swap_remove(at);
            return Some((lane, answer));
        }
        None
    }

    /// Whether any look-up is under way.
    pub(super) const fn seek(&self) -> bool {
        !self.0.is_empty()
    }
}

/// How long a place is known before its name is looked up again; `None` is for ever.
pub(super) fn known_for(renewal: Renewal, ttl: Option<Nanos>) -> Option<Nanos> {
    match renewal {
        Renewal::Never => None,
        Renewal::Each(time) => Some(time),
        Renewal::Ttl => Some(ttl.unwrap_or(LOOK_UP_AGAIN).max(LOOK_UP_LEAST)),
    }
}
