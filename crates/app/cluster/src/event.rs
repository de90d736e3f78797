//! The events of a coordinator's run, and its requests to its holder.

use drumfire_measure::{Doubt, Ending, RunEvent, RunInfo};
use drumfire_units::Nanos;

/// An event of a coordinator.
#[derive(Debug)]
pub enum ClusterEvent {
    /// All agents are ready: the facts of the run, and its start by the coordinator's clock.
    Gathered(Box<RunInfo>, Nanos),
    /// An event of the run.
    Run(RunEvent),
    /// A finding that casts doubt on the figures.
    Suspect(String),
    /// An agent was lost, and its share is unaccounted for from then on.
    Lost(Loss),
    /// A note for the report.
    Note(String),
    /// The next of the commands that were passed on is in the journal.
    Kept,
    /// The load was stopped because an agent is lost.
    Aborted,
    /// The run is over.
    Over {
        /// The endings of all agents that reported theirs.
        endings: Vec<Ending>,
        /// If all agents are lost, the run time of the last loss, or of an earlier stop of the
        /// load. Otherwise `None`, and the endings contain the end of the load.
        lost_at: Option<Nanos>,
    },
    /// The run could not start or continue, for this reason.
    Failed(String),
}

/// The loss of an agent during a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Loss {
    /// The sentence about the loss.
    pub text: String,
    /// The parts of the load that are unaccounted for because of the loss.
    pub lacks: Vec<Lack>,
}

/// A part of the load that is unaccounted for during some time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lack {
    /// The fraction of the run's shares, 0 to 1.
    pub share: f64,
    /// The run time up to which the part is accounted for.
    pub from: Nanos,
    /// The run time from which another agent takes it over, if one does.
    pub until: Option<Nanos>,
}

impl Loss {
    /// The doubt that this part causes in a run whose load lasted `span`. The load of the shares
    /// during the unaccounted time is unknown; it counts as evenly spread over the run.
    pub(crate) fn over(self, span: Nanos) -> Doubt {
        let part = |at: Nanos| match span {
            Nanos::ZERO => 0.0,
            span => (at.0 as f64 / span.0 as f64).min(1.0),
        };
        let unknown = self.lacks.iter().map(|lack| {
            let until = lack.until.map_or(1.0, part);
            lack.share * (until - part(lack.from)).max(0.0)
        });
        Doubt {
            unknown: unknown.sum(),
            text: self.text,
        }
    }
}

/// A request to the holder of a coordinator. Requests are carried out in order.
#[derive(Debug)]
pub enum CoordinatorAction {
    /// Check whether another coordinator has taken over the run, and end immediately if so. A beat
    /// suggests this, but anyone can send one.
    Fence,
    /// Append these bytes to the journal, sync them, and call [`crate::Coordinator::journaled`].
    Journal(Vec<u8>),
    /// Make all agents send a beat immediately.
    Nudge,
    /// Publish the event to the run's observers.
    Tell(ClusterEvent),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_unknown_share_is_that_behind_the_last_report() {
        for (reported, until, span, expected) in [
            (4, None, 8, 0.25),
            (0, None, 8, 0.5),
            (8, None, 8, 0.0),
            (9, None, 8, 0.0),
            (0, None, 0, 0.5),
            (2, Some(4), 8, 0.125),
            (2, Some(9), 8, 0.375),
        ] {
            let lack = Lack {
                share: 0.5,
                from: Nanos::from_secs(reported),
                until: until.map(Nanos::from_secs),
            };
            let loss = Loss {
                text: String::new(),
                lacks: vec![lack],
            };
            let unknown = loss.over(Nanos::from_secs(span)).unknown;
            assert!(
                (unknown - expected).abs() < 1e-9,
                "{reported} {until:?} {span} {unknown}"
            );
        }
    }
}
