//! The progress of an experiment on standard error: a line that replaces itself on a terminal,
//! otherwise one line per round. The progress shows no figures, because a user who stops the
//! experiment on account of its figures makes the result invalid.

use crate::output::Output;
use crate::progress_line::{ProgressForm, ProgressLine};
use drumfire_net::Clock;
use drumfire_units::Nanos;

/// The steps of an experiment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Steps {
    pub(super) rounds: usize,
    /// The steps of each round: runs, or pairs of runs at the same time.
    pub(super) each: u64,
}

/// The progress of an experiment.
pub(super) struct Progress {
    line: ProgressLine,
    clock: Clock,
    planned: Steps,
    /// The start of the current step.
    began: Nanos,
    /// The number of steps that have ended, and their total time.
    steps: u64,
    took: Nanos,
    /// The second that the line shows.
    shown: Option<u64>,
}

impl Progress {
    pub(super) fn new(planned: Steps, quiet: bool, output: &Output) -> Self {
        Self {
            line: ProgressLine::new(quiet, output),
            clock: Clock::start(),
            planned,
            began: Nanos::ZERO,
            steps: 0,
            took: Nanos::ZERO,
            shown: None,
        }
    }

    /// Prints a sentence that stays on the screen.
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

    /// Shows the current step: its round and the name of its side.
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

    /// Prints a line for a finished round, if the output has no live line.
    pub(super) fn end_round(&self, made: usize) {
        if self.line.form() == ProgressForm::Lines {
            let left = self.left(made, Nanos::ZERO);
            self.line.print_line(&format!(
                "round {made} of {} done{left}",
                self.planned.rounds
            ));
        }
    }

    /// Removes the live line.
    pub(super) fn clear(&self) {
        self.line.clear();
    }

    /// The estimated time for the remaining rounds, from the mean time of the steps so far.
    fn left(&self, made: usize, elapsed: Nanos) -> String {
        let Some(each) = self.took.0.checked_div(self.steps) else {
            return String::new();
        };
        let Steps { rounds, each: of } = self.planned;
        let steps = of * (rounds as u64).saturating_sub(made as u64);
        // The first step of the current round may be over.
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
