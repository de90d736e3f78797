//! The live line: one line on the terminal that each interval replaces.
//!
//! The watch is an observer on the caller's thread, and draws only when an interval arrives. It has
//! no clock, so a paused or stuck run keeps its last figures. A pipe gets a line every ten seconds
//! instead. Both end before the report, which follows the run.
//!
//! [`Watch::new`] selects the form, and the session does the rest. Each interval updates the
//! reading, then [`Stops`], and is then shown; a run that has not begun shows one word. Every other
//! event (a signal, the first trouble) is a message on the console and, on a terminal, a line that
//! the next one replaces.

use crate::{Console, Observer, RunContext, SessionError};
use drumfire_engine::Control;
use drumfire_measure::{Interval, IntervalRow, Reading, RunEvent, RunState};
use drumfire_plan::{Plan, StopReason};
use drumfire_report::interval_lines::sentence;
use drumfire_report::progress_line::{Progress, RecentRates, Stage, Stops, line};
use drumfire_report::{Naming, remedy};
use drumfire_units::Nanos;
use std::sync::Arc;

/// Shows an active run on its console.
pub struct Watch {
    shown: Shown,
    /// Whether the message that no request has succeeded was shown.
    is_troubled: bool,
    stops: Stops,
    warmup: Nanos,
    /// The state of the run, once it has begun.
    reading: Option<Reading>,
    /// The time at which the next heartbeat is due.
    next_beat: Nanos,
    rates: RecentRates,
    naming: Naming,
    console: Arc<dyn Console>,
    /// The control of the run, once it has begun.
    control: Option<Control>,
}

/// The form in which a run is shown before its report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// A line that replaces itself.
    Live,
    /// A line every ten seconds.
    Heartbeat,
    /// Only remarks.
    Remarks,
    /// Nothing is shown.
    Nothing,
}

impl Watch {
    /// A watch for a plan's run.
    #[must_use]
    pub fn new(plan: &Plan, shown: Shown, console: Arc<dyn Console>) -> Self {
        Self {
            shown,
            is_troubled: false,
            stops: Stops::from_plan(plan),
            warmup: plan.generator().warmup.span(),
            reading: None,
            next_beat: HEARTBEAT,
            rates: RecentRates::default(),
            naming: Naming::Flags,
            console,
            control: None,
        }
    }

    /// A watch that shows settings as flags or as keys.
    #[must_use]
    pub fn naming(self, naming: Naming) -> Self {
        Self { naming, ..self }
    }

    /// Shows the figures of an interval, or the number of requests in flight after a signal.
    fn show(&mut self, interval: &Interval) {
        self.say_trouble();
        match self.shown {
            Shown::Live => self.show_live(interval),
            Shown::Heartbeat => self.beat(interval),
            Shown::Remarks | Shown::Nothing => {}
        }
    }

    /// Prints a line if one is due and the load continues, so that a run on a pipe never seems to
    /// hang.
    fn beat(&mut self, interval: &Interval) {
        let Some(row) = self.heartbeat(interval.end) else {
            return;
        };
        let is_over = self.stops.duration.is_some_and(|end| interval.end >= end);
        if !is_over || row.in_flight > 0 {
            self.console.note(&sentence(&row, &self.console.style()));
        }
    }

    /// The figures since the last heartbeat, if the next one is due.
    fn heartbeat(&mut self, now: Nanos) -> Option<IntervalRow> {
        if now < self.next_beat {
            return None;
        }
        self.next_beat = Nanos((now.0 / HEARTBEAT.0 + 1) * HEARTBEAT.0);
        self.reading.as_mut()?.take_window()
    }

    /// Draws the line of an interval; after a signal, the number of requests that the run waits
    /// for.
    fn show_live(&mut self, interval: &Interval) {
        let reading = self.reading.as_ref();
        if let Some(reading) = reading {
            self.rates.push(interval, &reading.so_far().info);
        }
        if self.state() == RunState::Drain(StopReason::Signal) {
            return self.replace(&self.stopping());
        }
        let Some(reading) = &self.reading else {
            return;
        };
        let progress = Progress {
            stage: Stage::at(interval.end, self.state(), self.warmup),
            stops: self.stops,
            reading,
            rates: self.rates.newest(),
        };
        let line = line(interval, &progress, &self.console.style());
        self.console.replace_line(line.trim_end());
    }

    /// Reports once, while the load continues, that no request has succeeded so far, so that the
    /// user can stop a long run.
    fn say_trouble(&mut self) {
        let Some(failure) = self.reading.as_ref().and_then(Reading::trouble) else {
            return;
        };
        if self.is_troubled || self.state() != RunState::Load {
            return;
        }
        self.is_troubled = true;
        self.replace("");
        let remedy = remedy(failure.outcome, self.naming);
        let remedy = remedy.map_or_else(String::new, |remedy| format!("; {remedy}"));
        // Other messages may be a server's.
        let message = match failure.outcome.is_of_opening() {
            true => &failure.detail.text,
            false => failure.outcome.words(),
        };
        self.console.note(&format!(
            "every request so far has failed: {message} ({}){remedy} (Ctrl-C ends the run)",
            failure.outcome.name()
        ));
    }

    /// Replaces the live line with a text, if there is a live line.
    fn replace(&self, text: &str) {
        if self.shown == Shown::Live {
            self.console.replace_line(text);
        }
    }

    /// Confirms the signal, also on a pipe.
    fn acknowledge(&self) {
        match self.shown {
            Shown::Live => self.replace(&self.stopping()),
            Shown::Heartbeat | Shown::Remarks => {
                let in_flight = self.reading.as_ref().map_or(0, Reading::in_flight);
                self.console.note(&stopping(in_flight, usize::MAX));
            }
            Shown::Nothing => {}
        }
    }

    /// The message after the signal that ended the load.
    fn stopping(&self) -> String {
        let in_flight = self.reading.as_ref().map_or(0, Reading::in_flight);
        stopping(in_flight, self.console.columns())
    }

    /// The state of the run.
    fn state(&self) -> RunState {
        self.reading.as_ref().map_or(RunState::Load, Reading::state)
    }
}

impl Observer for Watch {
    fn run_started(&mut self, run: &RunContext) -> Result<(), SessionError> {
        self.control = Some(run.control.clone());
        self.replace("starting");
        Ok(())
    }

    fn observe(&mut self, event: &RunEvent) {
        if self.shown == Shown::Nothing {
            return;
        }
        if let Some(reading) = &mut self.reading {
            reading.observe(event);
        }
        match event {
            RunEvent::Started(info) => {
                let reading = Reading::of_sums(Arc::clone(info));
                self.reading = Some(match self.shown {
                    Shown::Heartbeat => reading.with_windows(),
                    Shown::Live | Shown::Remarks | Shown::Nothing => reading,
                });
            }
            RunEvent::IntervalClosed(interval) => {
                self.stops.duration = self.control.as_ref().and_then(Control::load_end);
                self.show(interval);
            }
            RunEvent::Stopping { .. } => {
                if self.state() == RunState::Drain(StopReason::Signal) {
                    self.acknowledge();
                }
            }
            RunEvent::Finished(_) => self.replace(""),
            RunEvent::Kept(_)
            | RunEvent::Transcripts(_)
            | RunEvent::Failed(_)
            | RunEvent::Changed(_) => {}
        }
    }
}

/// The time between two lines on a pipe.
const HEARTBEAT: Nanos = Nanos::from_secs(10);

/// The message after the signal that ended the load, as one line of the terminal.
fn stopping(in_flight: u64, columns: usize) -> String {
    // No request was in flight at the last interval's end; the current number is unknown.
    let what = match in_flight {
        0 => "requests".to_owned(),
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
        assert!(stopping(0, 80).contains("waiting for requests in flight"));
        assert_eq!(stopping(12, 40), "stopping (again to report now)");
        assert_eq!(stopping(12, 10), "stopping");
        assert_eq!(stopping(12, 3), "");
    }
}
