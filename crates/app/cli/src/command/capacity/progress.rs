//! The progress of a search on standard error. A terminal gets a line that replaces itself. Other
//! outputs get a line for each stage and each rate of a bracket, and one every 30 s.

use crate::output::Output;
use crate::progress_line::{ProgressForm, ProgressLine};
use drumfire_capacity::{Progress, Stage};
use drumfire_net::Clock;
use drumfire_units::Nanos;
use drumfire_units::rounded;

/// The time between two lines of one stage.
const PERIOD: Nanos = Nanos::from_secs(30);

/// Shows the progress.
pub(super) struct Shower {
    line: ProgressLine,
    clock: Clock,
    /// The stage and the rate of the last line, and the time at which it was printed.
    last: Option<(Stage, f64, Nanos)>,
}

impl Shower {
    pub(super) fn new(quiet: bool, output: &Output) -> Self {
        Self {
            line: ProgressLine::new(quiet, output),
            clock: Clock::start(),
            last: None,
        }
    }

    pub(super) fn show(&mut self, progress: &Progress) {
        match self.line.form() {
            ProgressForm::Quiet => {}
            ProgressForm::Live => self.line.replace(&words(progress)),
            ProgressForm::Lines => {
                let now = self.clock.now();
                let is_new = self.last.is_none_or(|(stage, rate, at)| {
                    let is_bracket = matches!(stage, Stage::Climb | Stage::Refine);
                    stage != progress.stage
                        || is_bracket && rate != progress.rate
                        || now.0 - at.0 >= PERIOD.0
                });
                if is_new && progress.stage != Stage::Over {
                    self.last = Some((progress.stage, progress.rate, now));
                    self.line.print_line(&words(progress));
                }
            }
        }
    }

    /// Removes the live line.
    pub(super) fn clear(&self) {
        self.line.clear();
    }

    /// Prints a sentence that stays on the screen.
    pub(super) fn remark(&self, sentence: &str) {
        self.line.remark(sentence);
    }
}

/// `hold: 905/s, 0.94 % miss the objective, 1 % allowed, about 2 min left`.
fn words(progress: &Progress) -> String {
    let stage = progress.stage.name();
    let share = |share: f64| match share * 100.0 {
        p if p < 0.005 => "0 %".to_owned(),
        p if p < 0.995 => format!("{p:.2} %"),
        p => format!("{p:.1} %").replace(".0 %", " %"),
    };
    let rate = rounded::rate(progress.rate);
    let left = match progress.left.0 / 1_000_000_000 {
        0 => String::new(),
        left @ 1..=99 => format!(", about {left} s left"),
        left => format!(", about {} min left", left.div_ceil(60)),
    };
    format!(
        "{stage}: {rate}, {} miss the objective, {} allowed{left}",
        share(progress.share),
        share(progress.allowed)
    )
}
