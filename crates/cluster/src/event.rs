//! The events of a coordinator's run, and its requests to its holder.

use drumfire_measure::{Doubt, Ending, RunEvent, RunInfo};
use drumfire_units::Nanos;

/// What the coordinator tells of a run.
#[derive(Debug)]
pub enum ClusterEvent {
    /// All agents are ready: the facts of the run, and its start by the coordinator's clock.
    Gathered(Box<RunInfo>, Nanos),
    /// An event of the run.
    Run(RunEvent),
    /// A finding against the figures.
    Suspect(String),
    /// An agent was lost, and its share goes on without an account.
    Lost(Loss),
    /// A fact for the report.
    Note(String),
    /// The load was stopped since an agent is lost.
    Aborted,
    /// The run is over, with the endings of all agents that have brought theirs.
    Over(Vec<Ending>),
    /// There is no run, for this reason.
    Failed(String),
}

/// The loss of an agent under way.
#[derive(Clone, Debug, PartialEq)]
pub struct Loss {
    /// The sentence about it.
    pub text: String,
    /// The part of the run's shares that it had, 0 to 1.
    pub share: f64,
    /// The run time up to which its share is accounted for.
    pub reported: Nanos,
    /// The run time at which it was lost.
    pub at: Nanos,
}

impl Loss {
    /// The doubt that it leaves in a run whose load lasted this long: what the share was asked for
    /// behind its last report is unknown, as if it were spread evenly over the run.
    pub(crate) fn over(self, span: Nanos) -> Doubt {
        let known = match span {
            Nanos::ZERO => 0.0,
            span => (self.reported.0 as f64 / span.0 as f64).min(1.0),
        };
        Doubt {
            text: self.text,
            unknown: self.share * (1.0 - known),
        }
    }
}

/// What the holder of a coordinator is to do, in this order.
#[derive(Debug)]
pub enum CoordinatorAction {
    /// Give up at once: another coordinator goes on with the run.
    Fence,
    /// Append these bytes to the journal, sync them, and call [`crate::Coordinator::journaled`].
    Journal(Vec<u8>),
    /// Let all agents beat at once.
    Nudge,
    /// Tell the run's observers.
    Tell(ClusterEvent),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_unknown_share_is_that_behind_the_last_report() {
        for (reported, span, expected) in [
            (4, 8, 0.25),
            (0, 8, 0.5),
            (8, 8, 0.0),
            (9, 8, 0.0),
            (0, 0, 0.5),
        ] {
            let loss = Loss {
                text: String::new(),
                share: 0.5,
                reported: Nanos::from_secs(reported),
                at: Nanos::from_secs(reported + 3),
            };
            let unknown = loss.over(Nanos::from_secs(span)).unknown;
            assert!(
                (unknown - expected).abs() < 1e-9,
                "{reported} {span} {unknown}"
            );
        }
    }
}
