//! Standard output and standard error as another tool writes them.
//!
//! go-wrk, slow_cooker and Pandora ignore the errors of Go's `fmt.Printf`. On a full disk their
//! text is lost, the run continues, and its outcome alone decides the exit code. drumfire does the
//! same, and prints one line about the loss on standard error.

use crate::exit::Failure;
use crate::output::{self, Output, Reader};
use crate::streams;
use drumfire_dialects::{Dialect, LineDestination as Named};
use drumfire_session::StreamPlace;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Writes text to the streams of one command. Clones share whether a loss was reported.
#[derive(Clone)]
pub(crate) struct ToolOutput {
    output: Output,
    /// Whether the tool fails if its text cannot be written.
    heeds_loss: bool,
    is_loss_said: Arc<AtomicBool>,
}

impl ToolOutput {
    /// The text streams of a tool.
    pub(crate) fn new(dialect: Dialect, output: &Output) -> Self {
        Self {
            output: output.clone(),
            heeds_loss: dialect.heeds_lost_text(),
            is_loss_said: Arc::default(),
        }
    }

    /// Writes text to standard output, with secrets masked.
    pub(crate) fn print(&self, text: &str) -> Result<Reader, Failure> {
        let bytes = self.output.redactor().bytes(text.as_bytes());
        self.stream(&mut |out| out.write_all(&bytes))
    }

    /// Writes data to standard output that is produced while it is written.
    pub(crate) fn stream(
        &self,
        write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
    ) -> Result<Reader, Failure> {
        match output::stream_as_tool(write) {
            Err(failure) if !self.heeds_loss => {
                self.say(&failure.message);
                Ok(Reader::There)
            }
            written => written,
        }
    }

    /// Opens a place that is written during the run.
    pub(crate) fn open(&self, place: &Named<'_>) -> Result<StreamPlace, Failure> {
        let opened = streams::open(place)?;
        if self.heeds_loss || matches!(place, Named::File(_)) {
            return Ok(opened);
        }
        let StreamPlace { name, out } = opened;
        let out = Box::new(Unheeded {
            name: name.clone(),
            out,
            text: self.clone(),
        });
        Ok(StreamPlace { name, out })
    }

    /// Reports once that text was lost.
    fn say(&self, message: &str) {
        if !self.is_loss_said.swap(true, Ordering::Relaxed) {
            self.output.complain(message);
        }
    }
}

/// A text stream whose failures are ignored, except that a closed pipe is reported.
struct Unheeded {
    name: String,
    out: Box<dyn Write + Send>,
    text: ToolOutput,
}

impl Unheeded {
    fn unless_lost<T>(&self, written: io::Result<T>, lost: T) -> io::Result<T> {
        match written {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                self.text
                    .say(&format!("can't write to {}: {error}", self.name));
                Ok(lost)
            }
            written => written,
        }
    }
}

impl Write for Unheeded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes);
        self.unless_lost(written, bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.out.flush();
        self.unless_lost(flushed, ())
    }
}
