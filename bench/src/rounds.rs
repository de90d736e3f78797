//! Alternating runs, compared round by round: a temporary slowdown of the machine affects both
//! sides of a pair.

use crate::claim::Claim;
use crate::process::Finished;
use crate::table::{Comparison, Spread, Target};
use drumfire_units::Nanos;
use std::io::{Error, Result};

/// One run of one contender.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// Good responses.
    pub requests: u64,
    /// All other responses and failures.
    pub failed: u64,
    /// Bytes of each request, if the tool prints them.
    pub request_bytes: Option<u64>,
    /// The client's CPU time per request, in nanoseconds.
    pub client_nanos: f64,
    /// The share of `client_nanos` in user space.
    pub user_share: f64,
    /// The server's CPU time per request, in nanoseconds.
    pub server_nanos: f64,
}

impl Run {
    /// The cost of a finished client, with the figures that it printed; `served` is the server's
    /// CPU time.
    ///
    /// # Errors
    /// If the client completed no requests.
    pub fn new(finished: &Finished, claim: Claim, served: Nanos) -> Result<Self> {
        if claim.requests == 0 {
            let words = format!(
                "no request was sent: {}{}",
                finished.stdout, finished.stderr
            );
            return Err(Error::other(words));
        }
        let requests = claim.requests as f64;
        Ok(Self {
            requests: claim.requests,
            failed: claim.failed,
            request_bytes: claim.request_bytes,
            client_nanos: finished.cpu().0 as f64 / requests,
            user_share: finished.user.0 as f64 / finished.cpu().0.max(1) as f64,
            server_nanos: served.0 as f64 / requests,
        })
    }
}

/// The figure whose ratio is printed.
#[derive(Clone, Copy, Debug)]
pub enum Unit {
    /// CPU time per request.
    PerRequest,
    /// Bytes per CPU time, for bodies of this size.
    Bytes(f64),
}

impl Unit {
    /// A run's figure: for [`Unit::PerRequest`] a lower one is better, for [`Unit::Bytes`] a higher
    /// one.
    fn figure(self, run: &Run) -> f64 {
        match self {
            Self::PerRequest => run.client_nanos,
            Self::Bytes(each) => each * 1e9 / run.client_nanos,
        }
    }

    fn print(self, figure: f64) -> String {
        match self {
            Self::PerRequest => format!("{:.2} µs/request", figure / 1e3),
            Self::Bytes(_) => format!("{:.0} MB per CPU second", figure / 1e6),
        }
    }
}

/// Runs all contenders alternately; each round begins with a different one. `run` receives their
/// indices. Returns each contender's runs, one per round.
///
/// # Errors
/// The first error of `run`.
pub fn alternate(
    contenders: usize,
    rounds: u32,
    mut run: impl FnMut(usize) -> Result<Run>,
) -> Result<Vec<Vec<Run>>> {
    let mut runs: Vec<Vec<Run>> = vec![Vec::new(); contenders];
    for round in 0..rounds as usize {
        for step in 0..contenders {
            let index = (round + step) % contenders;
            runs[index].push(run(index)?);
        }
    }
    Ok(runs)
}

/// The common parts of one table's lines.
#[derive(Clone, Copy, Debug)]
pub struct Title<'a> {
    /// The load, and its server.
    pub case: &'a str,
    /// The figure whose ratio is printed.
    pub unit: Unit,
    /// Length of a run.
    pub seconds: u32,
}

impl Title<'_> {
    /// A contender's line. `ours` contains the drumfire runs for the comparison, and is `None` for
    /// drumfire itself.
    #[must_use]
    pub fn compare(
        &self,
        tool: &'static str,
        theirs: &[Run],
        ours: Option<&[Run]>,
        target: Option<Target>,
    ) -> Comparison {
        let figure = |run: &Run| self.unit.figure(run);
        let median = |of: fn(&Run) -> f64| Spread::from_values(theirs.iter().map(of)).median;
        let ratio = ours.map(|ours| {
            let pairs = ours.iter().zip(theirs);
            Spread::from_values(pairs.map(|(a, b)| figure(a) / figure(b)))
        });
        let seconds = f64::from(self.seconds);
        let cost = Spread::from_values(theirs.iter().map(figure)).median;
        Comparison {
            case: self.case.to_owned(),
            tool,
            rate: Spread::from_values(theirs.iter().map(|run| run.requests as f64 / seconds)),
            cost: self.unit.print(cost),
            user_share: median(|run| run.user_share),
            server_micros: median(|run| run.server_nanos) / 1e3,
            ratio,
            target,
            failed: theirs.iter().map(|run| run.failed).sum(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Run, Title, Unit, alternate};
    use std::io::Error;

    fn run(client_nanos: f64) -> Run {
        Run {
            requests: 100,
            failed: 0,
            request_bytes: None,
            client_nanos,
            user_share: 0.5,
            server_nanos: 1.0,
        }
    }

    #[test]
    fn each_round_begins_with_another_contender() {
        let mut order = Vec::new();
        let runs = alternate(3, 2, |index| {
            order.push(index);
            Ok(run(index as f64))
        });
        assert_eq!(order, [0, 1, 2, 1, 2, 0]);
        let rounds: Vec<usize> = runs.unwrap().iter().map(Vec::len).collect();
        assert_eq!(rounds, [2, 2, 2]);
        assert!(alternate(1, 1, |_| Err(Error::other("broken"))).is_err());
    }

    #[test]
    fn a_ratio_is_taken_within_each_round() {
        let title = Title {
            case: "case",
            unit: Unit::PerRequest,
            seconds: 2,
        };
        // The second round was slow for both.
        let (ours, theirs) = ([run(1e3), run(9e3)], [run(2e3), run(9e3)]);
        let line = title.compare("other", &theirs, Some(&ours), None);
        let ratio = line.ratio.unwrap();
        assert_eq!((ratio.min, ratio.max), (0.5, 1.0));
        assert_eq!(line.rate.median, 50.0);
        assert_eq!(line.cost, "5.50 µs/request");
    }
}
