//! Zstandard (RFC 8878).

use crate::step::{Invalid, Step};
use zstd::stream::raw::{DParameter, Decoder, InBuffer, Operation, OutBuffer};

/// RFC 9659: the window of a content coding is at most 8 MiB.
const WINDOW_LOG_MAX: u32 = 23;

/// A sequence of frames.
pub(crate) struct Zstandard {
    stream: Decoder<'static>,
    complete: bool,
}

impl Zstandard {
    pub(crate) fn new() -> Result<Self, Invalid> {
        let mut stream = Decoder::new().map_err(|_| Invalid)?;
        stream
            .set_parameter(DParameter::WindowLogMax(WINDOW_LOG_MAX))
            .map_err(|_| Invalid)?;
        Ok(Self {
            stream,
            complete: false,
        })
    }

    /// Whether the last frame is complete.
    pub(crate) fn is_complete(&self) -> bool {
        self.complete
    }

    pub(crate) fn step(&mut self, input: &[u8], output: &mut [u8]) -> Result<Step, Invalid> {
        if self.complete && input.is_empty() {
            return Ok(Step::default());
        }
        let mut source = InBuffer::around(input);
        let mut sink = OutBuffer::around(output);
        let expected = self
            .stream
            .run(&mut source, &mut sink)
            .map_err(|_| Invalid)?;
        self.complete = expected == 0;
        Ok(Step {
            read: source.pos(),
            written: sink.pos(),
        })
    }
}
