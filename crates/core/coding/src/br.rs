//! Brotli (RFC 7932).

use crate::step::{Invalid, Step};
use brotli_decompressor::{BrotliDecompressStream, BrotliResult, BrotliState, StandardAlloc};

/// One brotli stream.
pub(crate) struct Br {
    state: BrotliState<StandardAlloc, StandardAlloc, StandardAlloc>,
    total: usize,
    complete: bool,
}

impl Br {
    pub(crate) fn new() -> Self {
        let new = StandardAlloc::default;
        // Strict: windows beyond 16 MiB are an extension that browsers do not accept.
        Self {
            state: BrotliState::new_strict(new(), new(), new()),
            total: 0,
            complete: false,
        }
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.complete
    }

    pub(crate) fn step(&mut self, input: &[u8], output: &mut [u8]) -> Result<Step, Invalid> {
        if self.complete {
            return if input.is_empty() {
                Ok(Step::default())
            } else {
                Err(Invalid)
            };
        }
        let (mut available_in, mut read) = (input.len(), 0);
        let (mut available_out, mut written) = (output.len(), 0);
        let result = BrotliDecompressStream(
            &mut available_in,
            &mut read,
            input,
            &mut available_out,
            &mut written,
            output,
            &mut self.total,
            &mut self.state,
        );
        match result {
            BrotliResult::ResultFailure => return Err(Invalid),
            BrotliResult::ResultSuccess => self.complete = true,
            BrotliResult::NeedsMoreInput | BrotliResult::NeedsMoreOutput => {}
        }
        Ok(Step { read, written })
    }
}
