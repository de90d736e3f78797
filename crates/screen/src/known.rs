//! What a screen knows of a run: its events so far, and its books as if they were closed now.
//!
//! [`Known::observe`] takes each event once, on the observer's thread; a frame reads. Books are
//! closed once an interval on a copy of the reading, so that the run's own are not touched.

use drumfire_engine::Control;
use drumfire_measure::{Interval, IntervalRow, Reading, RunEvent, RunState, Summary};
use drumfire_net::Clock;
use drumfire_plan::{Plan, StopReason};
use drumfire_report::live::{Progress, Rates, Stage, Stops};
use drumfire_session::{Redactor, Steering};
use drumfire_units::Nanos;
use std::collections::VecDeque;
use std::sync::Arc;

/// The number of newest intervals that can be shown alone.
const RECENT: usize = 60;
/// The number of notes that are kept for the time after the screen.
const NOTES_MAX: usize = 200;

/// A run as a screen knows it.
pub(crate) struct Known {
    redactor: Redactor,
    stops: Stops,
    warmup: Nanos,
    reading: Option<Reading>,
    control: Option<Control>,
    began: Option<Clock>,
    rates: Rates,
    /// The newest interval.
    newest: Option<Arc<Interval>>,
    /// The books as of its end.
    pub(crate) summary: Option<Arc<Summary>>,
    /// The newest rows, the oldest first.
    pub(crate) rows: VecDeque<IntervalRow>,
    /// Grows with each change of what pictures show.
    pub(crate) generation: u64,
    /// The load as commands left it.
    pub(crate) steering: Option<Steering>,
    /// Messages of the session, the newest last.
    pub(crate) notes: Vec<String>,
}

impl Known {
    /// Nothing yet of a plan's run.
    pub(crate) fn new(plan: &Plan, redactor: Redactor) -> Self {
        Self {
            redactor,
            stops: Stops::of(plan),
            warmup: plan.generator().warmup.span(),
            reading: None,
            control: None,
            began: None,
            rates: Rates::default(),
            newest: None,
            summary: None,
            rows: VecDeque::new(),
            generation: 0,
            steering: None,
            notes: Vec::new(),
        }
    }

    /// Takes the control of a run that begins.
    pub(crate) fn begin(&mut self, control: Control) {
        self.control = Some(control);
    }

    /// Takes an event.
    pub(crate) fn observe(&mut self, event: &RunEvent) {
        if let Some(reading) = &mut self.reading {
            reading.observe(event);
        }
        match event {
            RunEvent::Started(info) => {
                let info = Arc::new(self.redactor.info(info));
                self.steering = Some(Steering::of(&info));
                let thresholds = info.thresholds.clone();
                self.reading = Some(Reading::new(info, &thresholds).with_windows());
                self.began = Some(Clock::start());
            }
            RunEvent::IntervalClosed(interval) => self.close(interval),
            RunEvent::Changed(command) => {
                if let Some(steering) = &mut self.steering {
                    // The words are for the one that sent it.
                    let _words = steering.note(command, command.at);
                }
            }
            RunEvent::Stopping { .. } => self.generation += 1,
            RunEvent::Finished(summary) => {
                self.summary = Some(Arc::clone(summary));
                self.generation += 1;
            }
            RunEvent::Kept(_) | RunEvent::Transcripts(_) => {}
        }
    }

    /// Closes the books at the end of an interval.
    fn close(&mut self, interval: &Arc<Interval>) {
        let Some(reading) = &mut self.reading else {
            return;
        };
        self.rates.push(interval, &reading.so_far().info);
        self.rows.extend(reading.take_window());
        let excess = self.rows.len().saturating_sub(RECENT);
        self.rows.drain(..excess);
        let mut now = reading.clone();
        now.break_off();
        let measured = interval.end - self.warmup.min(interval.end);
        self.summary = Some(Arc::new(now.close(measured, 0.0)));
        self.newest = Some(Arc::clone(interval));
        self.stops.duration = self.load_end();
        self.generation += 1;
    }

    /// Takes a message of the session.
    pub(crate) fn note(&mut self, message: &str) {
        if self.notes.len() < NOTES_MAX {
            self.notes.push(message.to_owned());
        }
    }

    /// The newest interval with the run's progress.
    pub(crate) fn progress(&self) -> Option<(&Interval, Progress<'_>)> {
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
    pub(crate) fn elapsed(&self) -> Nanos {
        self.began.as_ref().map_or(Nanos::ZERO, Clock::now)
    }

    /// The end of the load, where it is known.
    pub(crate) fn load_end(&self) -> Option<Nanos> {
        self.control.as_ref().and_then(Control::load_end)
    }

    /// Whether the load is over, and the reason.
    pub(crate) fn drain(&self) -> Option<StopReason> {
        match self.reading.as_ref()?.state() {
            RunState::Drain(reason) => Some(reason),
            RunState::Load | RunState::Over => None,
        }
    }

    /// Requests under way.
    pub(crate) fn in_flight(&self) -> u64 {
        self.reading.as_ref().map_or(0, Reading::in_flight)
    }
}
