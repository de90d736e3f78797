//! The progress of an experiment on standard error: a line that replaces itself on a terminal, a
//! line a round elsewhere. It shows no figures: an experiment that is ended for its figures has no answer.

use crate::output::Output;
use crate::progress_line::{ProgressForm, ProgressLine};
use drumfire_net::Clock;
use drumfire_units::Nanos;

/// The steps of an experiment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Steps {
    pub(super) rounds: usize,
    /// The steps of each round: runs, or pairs of runs that are made at the same time.
    pub(super) each: u64,
}

/// The progress.
pub(super) struct Progress {
    line: ProgressLine,
    clock: Clock,
    planned: Steps,
    /// The beginning of the step under way.
    began: Nanos,
    /// The steps that have ended, and the time that they took together.
    steps: u64,
    took: Nanos,
    /// The second that the line shows.
    shown: Option<u64>,
}

impl Progress {
    pub(super) fn of(planned: Steps, quiet: bool, output: &Output) -> Self {
        Self {
            line: ProgressLine::of(quiet, output),
            clock: Clock::start(),
            planned,
            began: Nanos::ZERO,
            steps: 0,
            took: Nanos::ZERO,
            shown: None,
        }
    }

    /// A sentence that stays.
    pub(super) fn remark(&self, sentence: &str) {
        self.line.remark(sentence);
    }

    pub(super) fn begin_step(&mut self) {
        self.began = self.clock.now();
        self.shown = None;
    }

    pub(super) fn end_step(&mut self) {
        self.took += Nanos(self.clock.now().0.saturating_sub(self.began.0));
        self.steps += 1;
    }

    /// Shows the step under way, of this round and of the side with this name.
    pub(super) fn show(&mut self, made: usize, name: &str) {
        let elapsed = Nanos(self.clock.now().0.saturating_sub(self.began.0));
        let second = elapsed.0 / 1_000_000_000;
        if self.line.form() != ProgressForm::Live || self.shown == Some(second) {
            return;
        }
        self.shown = Some(second);
        let left = self.left(made, elapsed);
        let line = format!(
            "round {} of {}: {name}, {second} s{left}",
            made + 1,
            self.planned.rounds
        );
        self.line.replace(&line);
    }

    /// Confirms a round.
    pub(super) fn end_round(&self, made: usize) {
        if self.line.form() == ProgressForm::Lines {
            let left = self.left(made, Nanos::ZERO);
            self.line.add(&format!(
                "round {made} of {} done{left}",
                self.planned.rounds
            ));
        }
    }

    /// Takes the line away.
    pub(super) fn clear(&self) {
        self.line.clear();
    }

    /// The time that the rest of all rounds will take, as the steps so far took theirs.
    fn left(&self, made: usize, elapsed: Nanos) -> String {
        let Some(each) = self.took.0.checked_div(self.steps) else {
            return String::new();
        };
        let Steps { rounds, each: of } = self.planned;
        let steps = of * (rounds as u64).saturating_sub(made as u64);
        // Of the round under way the first step may be over.
        let over = self.steps.saturating_sub(of * made as u64).min(of - 1);
        let left = (each * steps.saturating_sub(over)).saturating_sub(elapsed.0) / 1_000_000_000;
        match left {
            0 => String::new(),
            1..=99 => format!(", about {left} s left"),
            100..=5_999 => format!(", about {} min left", left.div_ceil(60)),
            _ => format!(", about {} h left", left.div_ceil(3_600)),
        }
    }
}
