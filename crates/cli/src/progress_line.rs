//! The line on standard error that shows how far a long command is.
//!
//! On a terminal the line replaces itself; elsewhere lines follow each other, fewer of them. Which
//! of both it is holds for the whole command. A command that is to be quiet has neither.

use crate::output::Output;
use crate::terminal;
use drumfire_session::Console as _;

/// How progress is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProgressForm {
    /// A line that replaces itself.
    Live,
    /// A line for each thing that is done.
    Lines,
    /// Nothing.
    Quiet,
}

/// The progress of a command.
pub(crate) struct ProgressLine {
    form: ProgressForm,
    output: Output,
}

impl ProgressLine {
    pub(crate) fn of(quiet: bool, output: &Output) -> Self {
        Self {
            form: match (quiet, terminal::is_live()) {
                (true, _) => ProgressForm::Quiet,
                (false, true) => ProgressForm::Live,
                (false, false) => ProgressForm::Lines,
            },
            output: output.clone(),
        }
    }

    /// How it is shown, so that nothing is worded in vain.
    pub(crate) const fn form(&self) -> ProgressForm {
        self.form
    }

    /// Puts a text in the place of the line's last one, cut to the terminal's width.
    pub(crate) fn replace(&self, text: &str) {
        let columns = self.output.columns().saturating_sub(1);
        let line: String = text.chars().take(columns).collect();
        self.output.replace_line(&line);
    }

    /// Adds a line.
    pub(crate) fn add(&self, text: &str) {
        self.output.note(text);
    }

    /// Takes the live line away.
    pub(crate) fn clear(&self) {
        if self.form == ProgressForm::Live {
            self.output.replace_line("");
        }
    }

    /// A sentence that stays, in either form.
    pub(crate) fn remark(&self, sentence: &str) {
        if self.form != ProgressForm::Quiet {
            self.clear();
            self.output.note(sentence);
        }
    }
}
