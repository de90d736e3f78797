//! The line on standard error that shows the progress of a long command.
//!
//! On a terminal the line replaces itself. Elsewhere lines follow each other, and are fewer. The
//! form is fixed for the whole command. A quiet command shows neither.

use crate::output::Output;
use crate::terminal;
use drumfire_session::Console as _;

/// How progress is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProgressForm {
    /// A line that replaces itself.
    Live,
    /// A line for each finished item.
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
    pub(crate) fn new(quiet: bool, output: &Output) -> Self {
        Self {
            form: match (quiet, terminal::is_live()) {
                (true, _) => ProgressForm::Quiet,
                (false, true) => ProgressForm::Live,
                (false, false) => ProgressForm::Lines,
            },
            output: output.clone(),
        }
    }

    /// The form of the progress, so that callers format only visible text.
    pub(crate) const fn form(&self) -> ProgressForm {
        self.form
    }

    /// Replaces the live line with a text, cut to the terminal's width.
    pub(crate) fn replace(&self, text: &str) {
        let columns = self.output.columns().saturating_sub(1);
        let line: String = text.chars().take(columns).collect();
        self.output.replace_line(&line);
    }

    /// Adds a line.
    pub(crate) fn print_line(&self, text: &str) {
        self.output.note(text);
    }

    /// Removes the live line.
    pub(crate) fn clear(&self) {
        if self.form == ProgressForm::Live {
            self.output.replace_line("");
        }
    }

    /// Prints a sentence that stays, in either form.
    pub(crate) fn remark(&self, sentence: &str) {
        if self.form != ProgressForm::Quiet {
            self.clear();
            self.output.note(sentence);
        }
    }
}
