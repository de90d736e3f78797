//! The live line: one line on the terminal that each interval replaces.

use crate::output;
use crate::terminal;
use drumfire_measure::{Model, RunEvent};
use drumfire_plan::{Load, Plan, Pool, StopReason};
use drumfire_report::live::{Progress, line};
use drumfire_units::Nanos;

/// How many intervals the spark shows.
const SPARK: usize = 20;

/// Shows a run in progress on standard error.
pub(crate) struct Watch {
    shown: Shown,
    model: Model,
    duration: Option<Nanos>,
    requests: Option<u64>,
    sent: u64,
    rates: Vec<f64>,
    /// The line on the end of the load stays until the report.
    draining: bool,
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
    pub(crate) fn new(plan: &Plan, wanted: bool) -> Self {
        let pools = || plan.pools().iter();
        let is_open = |pool: &Pool| matches!(pool.load, Load::Open { .. });
        // The last pool to end is the run's end; a count is that of all, where all have one.
        let durations: Option<Vec<Nanos>> = pools().map(|pool| pool.stop.duration).collect();
        let requests: Option<Vec<u64>> = pools().map(|pool| pool.stop.requests).collect();
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
            duration: durations.and_then(|all| all.into_iter().max()),
            requests: requests.map(|all| all.iter().sum()),
            sent: 0,
            rates: Vec::new(),
            draining: false,
        }
    }

    /// Takes note of an event.
    pub(crate) fn observe(&mut self, event: &RunEvent) {
        if self.shown == Shown::Nothing {
            return;
        }
        match event {
            RunEvent::IntervalClosed(_) if self.draining => {}
            RunEvent::IntervalClosed(interval) => {
                self.sent += interval.total.counts.sent;
                let seconds = (interval.end - interval.start).as_secs_f64();
                if seconds > 0.0 {
                    self.rates.push(interval.total.counts.sent as f64 / seconds);
                }
                if self.rates.len() > SPARK {
                    self.rates.remove(0);
                }
                let progress = Progress {
                    model: self.model,
                    duration: self.duration,
                    requests: self.requests,
                    sent: self.sent,
                    rates: &self.rates,
                };
                let text = line(interval, &progress, &terminal::stderr_style());
                output::draw(&format!("\r\x1b[K{}", text.trim_end()));
            }
            RunEvent::Stopping {
                reason: StopReason::Signal,
            } => {
                self.draining = true;
                let said = stopping(usize::from(terminal::columns()));
                output::draw(&format!("\r\x1b[K{said}"));
            }
            RunEvent::Finished(_) => output::draw("\r\x1b[K"),
            RunEvent::Started(_)
            | RunEvent::Kept(_)
            | RunEvent::Changed(_)
            | RunEvent::Stopping { .. } => {}
        }
    }
}

/// The message after the signal that ended the load, in one line of the terminal.
fn stopping(columns: usize) -> &'static str {
    const SAID: [&str; 3] = [
        "stopping: waiting for what is in flight (again to report now)",
        "stopping (again to report now)",
        "stopping",
    ];
    let fits = SAID.into_iter().find(|said| said.len() < columns);
    fits.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::stopping;

    #[test]
    fn what_is_said_fits_the_line() {
        assert!(stopping(80).ends_with("in flight (again to report now)"));
        assert_eq!(stopping(40), "stopping (again to report now)");
        assert_eq!((stopping(10), stopping(3)), ("stopping", ""));
    }
}
