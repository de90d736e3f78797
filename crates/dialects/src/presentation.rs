//! How a dialect shows a run and its result.
//!
//! A caller asks for what the presentation needs first ([`Presentation::needs_spool`],
//! [`Presentation::streams`], [`Presentation::counters_page`]) and gives it that. It prints
//! [`Presentation::render_start`], hands over every event of the run, and looks after each for a
//! [`Presentation::fault`]. After the last event it calls [`Presentation::finish`] once; results,
//! epilogue and exit code are asked for behind that.

use crate::{Spool, Stream, StreamPlace};
use drumfire_measure::{RunEvent, RunInfo, Summary};
use drumfire_report::style::Style;
use std::fmt;
use std::io::{self, Write};

/// A page that changes while the run goes on, and where it is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountersPage {
    /// `HOST:PORT`; without a host every address of this machine.
    pub address: String,
    /// The path.
    pub path: &'static str,
    /// The type of its content.
    pub media_type: &'static str,
}

/// The shape of one dialect's output. A method that a tool has no use for keeps its default.
pub trait Presentation: fmt::Debug {
    /// Notes for the user that the tool's own output has no place for: one line each, for standard
    /// error.
    fn notes(&self) -> &[String];

    /// The text for standard output when the run starts.
    fn render_start(&self, _info: &RunInfo) -> String {
        String::new()
    }

    /// The text for standard output when the user asks the run to end early.
    fn render_interrupted(&self) -> &'static str {
        ""
    }

    /// Whether results must be kept one by one; [`Presentation::set_spool`] then comes before the
    /// run.
    fn needs_spool(&self) -> bool {
        false
    }

    /// Where results are kept one by one, empty.
    fn set_spool(&mut self, _spool: Box<dyn Spool>) {}

    /// Where lines go while the run goes on; [`Presentation::set_streams`] then comes before it.
    fn streams(&self) -> Vec<StreamPlace<'_>> {
        Vec::new()
    }

    /// The writers of the places that [`Presentation::streams`] names, in their order.
    fn set_streams(&mut self, _writers: Vec<Box<dyn Stream>>) {}

    /// The page of counters that is asked for while the run goes on.
    fn counters_page(&self) -> Option<CountersPage> {
        None
    }

    /// The page as it is now.
    fn counters(&self) -> String {
        String::new()
    }

    /// Takes note of what happens in the run.
    fn observe(&mut self, _event: &RunEvent) {}

    /// Why the run must end at once; it has failed then.
    fn fault(&self) -> Option<&str> {
        None
    }

    /// Closes the books when the run has ended; outputs are written after it.
    fn finish(&mut self, _summary: &Summary) {}

    /// The text for standard error after the run.
    fn epilogue(&self, _summary: &Summary, _style: &Style) -> String {
        String::new()
    }

    /// Where the results go: the path of a file each, or `None` for standard output.
    fn places(&self) -> Vec<Option<&str>> {
        Vec::new()
    }

    /// Writes the result that goes to the place of this number.
    ///
    /// # Errors
    /// When it can't be written, or the spool can't be read.
    fn write(&mut self, _place: usize, _summary: &Summary, _out: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }

    /// The code to exit with after a run that ended by itself or was asked to end. Some tools exit
    /// with 0 regardless of the target's answers, and scripts rely on it.
    fn exit_code(&self, _summary: &Summary) -> u8 {
        0
    }
}
