//! How a dialect shows a run and its result.
//!
//! A caller first reads what the presentation needs ([`Presentation::needs_spool`],
//! [`Presentation::streams`], [`Presentation::counters_page`]) and supplies it. The caller prints
//! [`Presentation::render_start`], passes every event of the run to [`Presentation::observe`], and
//! checks [`Presentation::fault`] after each. After the last event, the caller calls
//! [`Presentation::finish`] once, and then reads the results, the epilogue and the exit code.

use crate::{LineDestination, Spool, Stream};
use drumfire_measure::{RunEvent, RunInfo, Summary};
use drumfire_report::style::Style;
use std::fmt;
use std::io::{self, Write};

/// A page that changes during the run, and its address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountersPage {
    /// `HOST:PORT`; without a host, all addresses of this machine.
    pub address: String,
    /// The path.
    pub path: &'static str,
    /// The media type of the content.
    pub media_type: &'static str,
}

/// The output format of one dialect. Methods that a tool does not need keep their default.
pub trait Presentation: fmt::Debug {
    /// Notes for the user for which the tool's output has no place: one line each, for standard
    /// error.
    fn notes(&self) -> &[String];

    /// The text for standard output at the start of the run.
    fn render_start(&self, _info: &RunInfo) -> String {
        String::new()
    }

    /// The text for standard output after the user requests an early end.
    fn render_interrupted(&self) -> &'static str {
        ""
    }

    /// Whether every result must be stored. If so, [`Presentation::set_spool`] is called before the
    /// run.
    fn needs_spool(&self) -> bool {
        false
    }

    /// Sets the empty storage for results.
    fn set_spool(&mut self, _spool: Box<dyn Spool>) {}

    /// The destinations of lines during the run. [`Presentation::set_streams`] is called before the
    /// run.
    fn streams(&self) -> Vec<LineDestination<'_>> {
        Vec::new()
    }

    /// Sets the writers of [`Presentation::streams`], in the same order.
    fn set_streams(&mut self, _writers: Vec<Box<dyn Stream>>) {}

    /// The page of counters that can be requested during the run.
    fn counters_page(&self) -> Option<CountersPage> {
        None
    }

    /// The current content of the page.
    fn counters(&self) -> String {
        String::new()
    }

    /// Processes an event of the run.
    fn observe(&mut self, _event: &RunEvent) {}

    /// The reason why the run has failed and must end immediately.
    fn fault(&self) -> Option<&str> {
        None
    }

    /// Whether the tool has what it measures, so that the rest of the load ends.
    fn is_done(&self) -> bool {
        false
    }

    /// Processes the end of the run; outputs are written after it.
    fn finish(&mut self, _summary: &Summary) {}

    /// The text for standard error after the run.
    fn epilogue(&self, _summary: &Summary, _style: &Style) -> String {
        String::new()
    }

    /// The destinations of the results: the path of a file, or `None` for standard output.
    fn places(&self) -> Vec<Option<&str>> {
        Vec::new()
    }

    /// Writes the result for the place with this index.
    ///
    /// # Errors
    /// If the result can't be written, or the spool can't be read.
    fn write(&mut self, _place: usize, _summary: &Summary, _out: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }

    /// The exit code after a run that ended by itself or on request. Some tools exit with 0
    /// regardless of the target's answers, and scripts rely on it.
    fn exit_code(&self, _summary: &Summary) -> u8 {
        0
    }
}
