//! How a dialect shows a run and its result.

use crate::go_wrk;
use drumfire_measure::{RunInfo, Summary};

/// The shape of one dialect's output. Everything it returns goes to standard output as it is,
/// except the notes.
#[derive(Clone, Debug)]
pub struct Presentation(Of);

/// Whose output it is.
#[derive(Clone, Debug)]
enum Of {
    GoWrk(go_wrk::Presentation),
}

impl From<go_wrk::Presentation> for Presentation {
    fn from(shape: go_wrk::Presentation) -> Self {
        Self(Of::GoWrk(shape))
    }
}

impl Presentation {
    /// What is printed when the run starts.
    #[must_use]
    pub fn render_start(&self, _info: &RunInfo) -> String {
        match &self.0 {
            Of::GoWrk(shape) => shape.banner(),
        }
    }

    /// What is printed when the user asks the run to end early.
    #[must_use]
    pub const fn render_interrupted(&self) -> &'static str {
        match &self.0 {
            Of::GoWrk(_) => go_wrk::STOPPING,
        }
    }

    /// What is printed when the run has ended.
    #[must_use]
    pub fn render_finish(&self, summary: &Summary) -> String {
        match &self.0 {
            Of::GoWrk(shape) => shape.report(summary),
        }
    }

    /// What the user should know and the tool's own output has no place for: one line each, for
    /// standard error.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        match &self.0 {
            Of::GoWrk(shape) => &shape.notes,
        }
    }

    /// The code to exit with after a run that ended by itself or was asked to end.
    #[must_use]
    pub const fn exit_code(&self, _summary: &Summary) -> u8 {
        match &self.0 {
            // go-wrk exits 0 whatever the target answered, and scripts go on from there.
            Of::GoWrk(_) => 0,
        }
    }
}
