//! The current state of an active run, for observers that show it: its books, the load after
//! commands, and its progress.
//!
//! [`Standing::set_run`] takes the run's control once, [`Standing::observe`] each event once,
//! in order. Between events, the books can be read as they are ([`Standing::reading`]), or as if
//! they were closed at the end of the newest interval ([`Standing::closed`]). That closes a copy,
//! so that observers show what a report would show, and the run's own books are unchanged. The cost
//! of a copy grows with the size of the books, and each call makes one; observers call it at most
//! once per interval.

use crate::{InferenceBoard, Redactor, RunContext, Steering};
use drumfire_engine::Control;
use drumfire_measure::{Interval, IntervalRow, Reading, RunEvent, RunInfo, RunState, Summary};
use drumfire_net::Clock;
use drumfire_plan::{Command, Plan, StopReason};
use drumfire_report::progress_line::{Progress, RecentRates, Stage, Stops};
use drumfire_units::Nanos;
use std::sync::Arc;

/// The current state of an active run.
pub struct Standing {
    redactor: Redactor,
    warmup: Nanos,
    stops: Stops,
    rates: RecentRates,
    control: Option<Control>,
    began: Option<Clock>,
    reading: Option<Reading>,
    newest: Option<Arc<Interval>>,
    last: Option<Arc<Summary>>,
    steering: Option<Steering>,
    inference: InferenceBoard,
}

impl Standing {
    /// The state of a plan's run before it begins.
    #[must_use]
    pub fn new(plan: &Plan, redactor: Redactor) -> Self {
        Self {
            redactor,
            warmup: plan.generator().warmup.span(),
            stops: Stops::from_plan(plan),
            rates: RecentRates::default(),
            control: None,
            began: None,
            reading: None,
            newest: None,
            last: None,
            steering: None,
            inference: InferenceBoard::default(),
        }
    }

    /// Sets the control of the run that begins, and the record of its inference server.
    pub fn set_run(&mut self, run: &RunContext) {
        self.control = Some(run.control.clone());
        self.inference = run.inference.clone();
    }

    /// Observes an event. The facts of the run are kept with secrets masked.
    pub fn observe(&mut self, event: &RunEvent) {
        if let Some(reading) = &mut self.reading {
            reading.observe(event);
        }
        match event {
            RunEvent::Started(info) => {
                let info = Arc::new(self.redactor.info(info));
                self.steering = Some(Steering::new(&info));
                let thresholds = info.thresholds.clone();
                self.reading = Some(Reading::new(info, &thresholds).with_windows());
                self.began = Some(Clock::start());
            }
            RunEvent::IntervalClosed(interval) => {
                if let Some(reading) = &self.reading {
                    self.rates.push(interval, &reading.so_far().info);
                }
                self.newest = Some(Arc::clone(interval));
                self.stops.duration = self.load_end();
            }
            RunEvent::Changed(command) => {
                if let Some(steering) = &mut self.steering {
                    // Only the sender of a command gets the answer.
                    let _words = steering.note(command, command.at);
                }
            }
            RunEvent::Finished(summary) => self.last = Some(Arc::clone(summary)),
            RunEvent::Stopping { .. }
            | RunEvent::Kept(_)
            | RunEvent::Transcripts(_)
            | RunEvent::Failed(_) => {}
        }
    }

    /// Sends a command to the run. Returns the answer as text.
    ///
    /// # Errors
    /// If the run has not begun, or refuses the command; the text has the reason.
    pub fn carry_out(&mut self, command: &Command) -> Result<String, String> {
        match (&mut self.steering, &self.control) {
            (Some(steering), Some(control)) => steering.carry_out(command, control),
            _ => Err("the load has not started".to_owned()),
        }
    }

    /// The load after commands, once the run has begun.
    #[must_use]
    pub const fn steering(&self) -> Option<&Steering> {
        self.steering.as_ref()
    }

    /// The facts of the run with secrets masked, once it has begun.
    #[must_use]
    pub fn info(&self) -> Option<&Arc<RunInfo>> {
        Some(&self.reading()?.so_far().info)
    }

    /// The books as they are, once the run has begun.
    #[must_use]
    pub const fn reading(&self) -> Option<&Reading> {
        self.reading.as_ref()
    }

    /// The row of the interval that was closed last; each row is returned once.
    pub fn take_row(&mut self) -> Option<IntervalRow> {
        self.reading.as_mut()?.take_window()
    }

    /// The books as if they were closed at the end of the newest interval, or as they were closed
    /// at the run's end.
    #[must_use]
    pub fn closed(&self) -> Option<Arc<Summary>> {
        let mut summary = match &self.last {
            Some(last) => Arc::clone(last),
            None => {
                let (reading, newest) = (self.reading.as_ref()?, self.newest.as_ref()?);
                let mut now = reading.clone();
                now.break_off();
                let measured = newest.end - self.warmup.min(newest.end);
                Arc::new(now.close(measured, 0.0))
            }
        };
        if let Some(record) = self.inference.record() {
            Arc::make_mut(&mut summary).inference = Some(record);
        }
        Some(summary)
    }

    /// Whether the books are closed.
    #[must_use]
    pub const fn is_over(&self) -> bool {
        self.last.is_some()
    }

    /// The newest interval with the run's progress.
    #[must_use]
    pub fn progress(&self) -> Option<(&Interval, Progress<'_>)> {
        let (interval, reading) = (self.newest.as_deref()?, self.reading.as_ref()?);
        let progress = Progress {
            stage: Stage::at(interval.end, reading.state(), self.warmup),
            stops: self.stops,
            reading,
            rates: self.rates.newest(),
        };
        Some((interval, progress))
    }

    /// The time since the load began.
    #[must_use]
    pub fn elapsed(&self) -> Nanos {
        self.began.as_ref().map_or(Nanos::ZERO, Clock::now)
    }

    /// The end of the load, if known.
    #[must_use]
    pub fn load_end(&self) -> Option<Nanos> {
        self.control.as_ref().and_then(Control::load_end)
    }

    /// Why the load is over, if it is and requests are still in flight.
    #[must_use]
    pub fn drain(&self) -> Option<StopReason> {
        match self.reading()?.state() {
            RunState::Drain(reason) => Some(reason),
            RunState::Load | RunState::Over => None,
        }
    }

    /// The number of requests in flight.
    #[must_use]
    pub fn in_flight(&self) -> u64 {
        self.reading().map_or(0, Reading::in_flight)
    }
}
