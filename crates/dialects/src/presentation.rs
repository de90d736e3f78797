//! How a dialect shows a run and its result.

use crate::{Spool, Stream, StreamPlace, ghz, go_wrk, pandora, slow_cooker};
use drumfire_measure::{RunEvent, RunInfo, Summary};
use drumfire_report::style::Style;
use std::io::{self, Write};

/// The shape of one dialect's output.
#[derive(Debug)]
pub struct Presentation(Of);

/// The tool whose output it is.
#[derive(Debug)]
enum Of {
    GoWrk(go_wrk::Presentation),
    Ghz(Box<ghz::Presentation>),
    Pandora(Box<pandora::Presentation>),
    SlowCooker(Box<slow_cooker::Presentation>),
}

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

impl From<go_wrk::Presentation> for Presentation {
    fn from(shape: go_wrk::Presentation) -> Self {
        Self(Of::GoWrk(shape))
    }
}

impl From<ghz::Presentation> for Presentation {
    fn from(shape: ghz::Presentation) -> Self {
        Self(Of::Ghz(Box::new(shape)))
    }
}

impl From<pandora::Presentation> for Presentation {
    fn from(shape: pandora::Presentation) -> Self {
        Self(Of::Pandora(Box::new(shape)))
    }
}

impl From<slow_cooker::Presentation> for Presentation {
    fn from(shape: slow_cooker::Presentation) -> Self {
        Self(Of::SlowCooker(Box::new(shape)))
    }
}

impl Presentation {
    /// The text for standard output when the run starts.
    #[must_use]
    pub fn render_start(&self, info: &RunInfo) -> String {
        match &self.0 {
            Of::GoWrk(shape) => shape.banner(),
            Of::SlowCooker(shape) => shape.head(info),
            Of::Ghz(_) | Of::Pandora(_) => String::new(),
        }
    }

    /// The text for standard output when the user asks the run to end early.
    #[must_use]
    pub const fn render_interrupted(&self) -> &'static str {
        match &self.0 {
            Of::GoWrk(_) => go_wrk::STOPPING,
            Of::Ghz(_) | Of::Pandora(_) | Of::SlowCooker(_) => "",
        }
    }

    /// Whether results must be kept one by one; [`Presentation::set_spool`] then comes before the
    /// run.
    #[must_use]
    pub fn needs_spool(&self) -> bool {
        match &self.0 {
            Of::GoWrk(_) | Of::Pandora(_) | Of::SlowCooker(_) => false,
            Of::Ghz(shape) => shape.needs_spool(),
        }
    }

    /// Where results are kept one by one, empty.
    pub fn set_spool(&mut self, spool: Box<dyn Spool>) {
        if let Of::Ghz(shape) = &mut self.0 {
            shape.set_spool(spool);
        }
    }

    /// Takes note of what happens in the run.
    pub fn observe(&mut self, event: &RunEvent) {
        match &mut self.0 {
            Of::GoWrk(_) => {}
            Of::Ghz(shape) => shape.observe(event),
            Of::Pandora(shape) => shape.observe(event),
            Of::SlowCooker(shape) => shape.observe(event),
        }
    }

    /// Closes the books when the run has ended; outputs are written after it.
    pub fn finish(&mut self, summary: &Summary) {
        match &mut self.0 {
            Of::GoWrk(_) => {}
            Of::Ghz(shape) => shape.finish(summary),
            Of::Pandora(shape) => shape.finish(summary),
            Of::SlowCooker(shape) => shape.finish(),
        }
    }

    /// Where lines go while the run goes on; [`Presentation::set_streams`] then comes before it.
    #[must_use]
    pub fn streams(&self) -> Vec<StreamPlace<'_>> {
        match &self.0 {
            Of::GoWrk(_) | Of::Ghz(_) => Vec::new(),
            Of::Pandora(shape) => shape.streams(),
            Of::SlowCooker(_) => slow_cooker::Presentation::streams().to_vec(),
        }
    }

    /// The writers of the places that [`Presentation::streams`] names, in their order.
    pub fn set_streams(&mut self, writers: Vec<Box<dyn Stream>>) {
        match &mut self.0 {
            Of::Pandora(shape) => shape.set_streams(writers),
            Of::SlowCooker(shape) => shape.set_streams(writers),
            Of::GoWrk(_) | Of::Ghz(_) => {}
        }
    }

    /// The page of counters that is asked for while the run goes on.
    #[must_use]
    pub fn counters_page(&self) -> Option<CountersPage> {
        match &self.0 {
            Of::GoWrk(_) | Of::Ghz(_) => None,
            Of::Pandora(shape) => shape.expvar().map(|port| CountersPage {
                address: format!("localhost:{port}"),
                path: "/debug/vars",
                media_type: "application/json; charset=utf-8",
            }),
            Of::SlowCooker(shape) => shape.metrics_at().map(|address| CountersPage {
                address: address.to_owned(),
                path: "/metrics",
                media_type: "text/plain; version=0.0.4; charset=utf-8",
            }),
        }
    }

    /// The page as it is now.
    #[must_use]
    pub fn counters(&self) -> String {
        match &self.0 {
            Of::GoWrk(_) | Of::Ghz(_) => String::new(),
            Of::Pandora(shape) => shape.counters(),
            Of::SlowCooker(shape) => shape.metrics(),
        }
    }

    /// Why the run must end at once; it has failed then.
    #[must_use]
    pub fn fault(&self) -> Option<&str> {
        match &self.0 {
            Of::GoWrk(_) | Of::Ghz(_) => None,
            Of::Pandora(shape) => shape.fault(),
            Of::SlowCooker(shape) => shape.fault(),
        }
    }

    /// The text for standard error after the run.
    #[must_use]
    pub fn epilogue(&self, summary: &Summary, style: &Style) -> String {
        match &self.0 {
            Of::GoWrk(_) | Of::Ghz(_) => String::new(),
            Of::Pandora(shape) => shape.epilogue(summary, style),
            Of::SlowCooker(shape) => shape.epilogue(summary, style),
        }
    }

    /// Where the results go: the path of a file each, or `None` for standard output.
    #[must_use]
    pub fn places(&self) -> Vec<Option<&str>> {
        match &self.0 {
            Of::GoWrk(_) => vec![None],
            Of::Pandora(_) => Vec::new(),
            Of::Ghz(shape) => shape.places(),
            Of::SlowCooker(shape) => shape.places(),
        }
    }

    /// Writes the result that goes to the place of this number.
    ///
    /// # Errors
    /// When it can't be written, or the spool can't be read.
    pub fn write(
        &mut self,
        place: usize,
        summary: &Summary,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        match &mut self.0 {
            Of::GoWrk(shape) => out.write_all(shape.report(summary).as_bytes()),
            Of::Ghz(shape) => shape.write(place, out),
            Of::Pandora(_) => Ok(()),
            Of::SlowCooker(shape) => shape.write(place, out),
        }
    }

    /// Notes for the user that the tool's own output has no place for: one line each, for standard
    /// error.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        match &self.0 {
            Of::GoWrk(shape) => &shape.notes,
            Of::Ghz(shape) => &shape.notes,
            Of::Pandora(shape) => &shape.notes,
            Of::SlowCooker(shape) => shape.notes(),
        }
    }

    /// The code to exit with after a run that ended by itself or was asked to end.
    #[must_use]
    pub fn exit_code(&self, summary: &Summary) -> u8 {
        match &self.0 {
            // Both exit with 0 regardless of the target's answers, and scripts rely on it.
            Of::GoWrk(_) | Of::SlowCooker(_) => 0,
            Of::Ghz(shape) => shape.exit_code(summary),
            Of::Pandora(shape) => shape.exit_code(),
        }
    }
}
