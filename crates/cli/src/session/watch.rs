//! The live line: one line on the terminal that each interval replaces.

use crate::flags::ColorChoice;
use crate::output;
use crate::terminal;
use drumfire_engine::Control;
use drumfire_measure::{Interval, Model, RunEvent};
use drumfire_plan::{Load, Plan, Pool, StopReason};
use drumfire_report::live::{Progress, Since, Stage, Stops, line};
use drumfire_units::Nanos;

/// How many intervals the spark shows.
const SPARK: usize = 20;

/// Shows a run in progress on standard error.
pub(crate) struct Watch {
    shown: Shown,
    model: Model,
    stops: Stops,
    warmup: Nanos,
    since: Since,
    rates: Vec<f64>,
    /// The load has ended, and by what.
    stopped: Option<StopReason>,
    color: ColorChoice,
}

/// The kind of display.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shown {
    /// A line that replaces itself.
    Live,
    /// Nothing, on a pipe or when it is not wanted.
    Nothing,
}

impl Watch {
    /// A watch for a plan's run; shows nothing where that is not wanted or not possible.
    pub(crate) fn new(plan: &Plan, wanted: bool, color: ColorChoice) -> Self {
        let pools = || plan.pools().iter();
        let is_open = |pool: &Pool| matches!(pool.load, Load::Open { .. });
        // A count is that of all pools, where all have one.
        let requests: Option<Vec<u64>> = pools().map(requests).collect();
        Self {
            shown: if wanted && terminal::is_live() {
                Shown::Live
            } else {
                Shown::Nothing
            },
            model: match pools().any(is_open) {
                true => Model::Open,
                false => Model::Closed,
            },
            stops: Stops {
                duration: None,
                requests: requests.map(|all| all.iter().sum()),
            },
            warmup: plan.generator().warmup,
            since: Since::default(),
            rates: Vec::new(),
            stopped: None,
            color,
        }
    }

    /// Takes note of an event of the run that this controls.
    pub(crate) fn observe(&mut self, event: &RunEvent, control: &Control) {
        if self.shown == Shown::Nothing {
            return;
        }
        match event {
            RunEvent::Started(_) => replace("starting"),
            RunEvent::IntervalClosed(interval) => {
                self.stops.duration = control.load_end();
                self.show(interval);
            }
            RunEvent::Stopping { reason } => {
                self.stopped = match (self.stopped, reason) {
                    (_, StopReason::Signal) | (None, _) => Some(*reason),
                    (stopped, _) => stopped,
                };
                if self.stopped == Some(StopReason::Signal) {
                    replace(&self.stopping());
                }
            }
            RunEvent::Finished(_) => replace(""),
            RunEvent::Kept(_) | RunEvent::Changed(_) => {}
        }
    }

    /// Shows the figures of an interval, or how much is still under way after a signal.
    fn show(&mut self, interval: &Interval) {
        self.since.absorb(interval, self.model);
        let seconds = (interval.end - interval.start).as_secs_f64();
        if seconds > 0.0 {
            self.rates.push(interval.total.counts.sent as f64 / seconds);
        }
        if self.rates.len() > SPARK {
            self.rates.remove(0);
        }
        let stage = match self.stopped {
            Some(StopReason::Signal) => return replace(&self.stopping()),
            Some(_) => Stage::Drain,
            None if interval.end <= self.warmup => Stage::WarmUp(self.warmup),
            None => Stage::Load,
        };
        let progress = Progress {
            model: self.model,
            stage,
            stops: self.stops,
            since: &self.since,
            rates: &self.rates,
        };
        let style = terminal::stderr_style(self.color);
        replace(line(interval, &progress, &style).trim_end());
    }

    /// The message after the signal that ended the load.
    fn stopping(&self) -> String {
        stopping(self.since.in_flight(), usize::from(terminal::columns()))
    }
}

/// Puts a text in place of the line.
fn replace(text: &str) {
    output::draw(&format!("\r\x1b[K{text}"));
}

/// How many requests end a pool's load, where their number does.
fn requests(pool: &Pool) -> Option<u64> {
    let rounds = pool.stop.iterations;
    let rounds = rounds.map(|rounds| rounds.saturating_mul(pool.requests.len() as u64));
    [pool.stop.requests, rounds].into_iter().flatten().min()
}

/// The message after the signal that ended the load, in one line of the terminal.
fn stopping(in_flight: u64, columns: usize) -> String {
    // At the last interval's end nothing was under way; what is now is not known.
    let what = match in_flight {
        0 => "what is".to_owned(),
        some => some.to_string(),
    };
    let said = [
        format!("stopping: waiting for {what} in flight (again to report now)"),
        "stopping (again to report now)".to_owned(),
        "stopping".to_owned(),
    ];
    let mut said = said.into_iter();
    said.find(|said| said.len() < columns).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::stopping;

    #[test]
    fn what_is_said_fits_the_line() {
        let whole = "stopping: waiting for 12 in flight (again to report now)";
        assert_eq!(stopping(12, 80), whole);
        assert!(stopping(0, 80).contains("waiting for what is in flight"));
        assert_eq!(stopping(12, 40), "stopping (again to report now)");
        assert_eq!(stopping(12, 10), "stopping");
        assert_eq!(stopping(12, 3), "");
    }
}
