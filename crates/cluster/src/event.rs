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
    /// The next of the commands that were passed on is in the journal.
    Kept,
    /// The load was stopped since an agent is lost.
    Aborted,
    /// The run is over.
    Over {
        /// The endings of all agents that have brought theirs.
        endings: Vec<Ending>,
        /// Where all agents are lost, the run time at which the last of them was, or at which the load
        /// was stopped before. Otherwise the endings have the end of the load.
        lost_at: Option<Nanos>,
    },
    /// There is no run, for this reason.
    Failed(String),
}

/// The loss of an agent under way.
#[derive(Clone, Debug, PartialEq)]
pub struct Loss {
    /// The sentence about it.
    pub text: String,
    /// The parts of the load without an account by that.
    pub lacks: Vec<Lack>,
}

/// A part of the load that has no account for a while.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lack {
    /// The part of the run's shares, 0 to 1.
    pub share: f64,
    /// The run time up to which it has an account.
    pub from: Nanos,
    /// The run time from which another agent keeps it, if one does.
    pub until: Option<Nanos>,
}

impl Loss {
    /// The doubt that it leaves in a run whose load lasted this long: what the shares were asked for
    /// while they had no account is unknown, as if it were spread evenly over the run.
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

/// What the holder of a coordinator is to do, in this order.
#[derive(Debug)]
pub enum CoordinatorAction {
    /// Look whether another coordinator has taken over the run, and give up at once if so: a beat
    /// says it, which anybody may send.
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
