//! Decompresses one message (RFC 7692 section 7.2.2).

use flate2::{Decompress, FlushDecompress, Status};

/// The end of a message, which its sender has removed: the length of an empty block (RFC 7692
/// section 7.2.2). The final empty block after it proves that the message was complete: only at the
/// end of a block is it read as a block.
const TAIL: [u8; 9] = [0x00, 0x00, 0xff, 0xff, 0x01, 0x00, 0x00, 0xff, 0xff];

/// A decompressor, used by one message at a time.
#[derive(Debug)]
pub(crate) struct Inflater {
    stream: Decompress,
    /// Whether a final block has ended the stream (RFC 7692 section 7.2.3.5).
    has_ended: bool,
}

/// The message can't be decompressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Invalid;

/// The end of a valid message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tail {
    /// An empty block, as the RFC requires.
    EmptyBlock,
    /// A final block and nothing after it.
    FinalBlock,
}

/// The result of one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) read: usize,
    pub(crate) written: usize,
    /// Whether the input is invalid after the bytes that were written.
    pub(crate) is_invalid: bool,
}

impl Inflater {
    pub(crate) fn new() -> Self {
        Self {
            stream: Decompress::new(false),
            has_ended: false,
        }
    }

    /// Begins a message that may refer to the bytes of `window`.
    pub(crate) fn begin(&mut self, window: &[u8]) -> Result<(), Invalid> {
        self.restart();
        if window.is_empty() {
            return Ok(());
        }
        let set = self.stream.set_dictionary(window);
        set.map(|_| ()).map_err(|_| Invalid)
    }

    fn restart(&mut self) {
        self.stream.reset(false);
        self.has_ended = false;
    }

    /// Decompresses a part of `input` into `output`. Call it again while input is left or `output` was
    /// filled.
    pub(crate) fn step(&mut self, input: &[u8], output: &mut [u8]) -> Step {
        if self.has_ended && !input.is_empty() {
            // Blocks after a final block do not refer to bytes before it.
            self.restart();
        }
        let (read, written) = (self.stream.total_in(), self.stream.total_out());
        let status = match self.has_ended {
            true => Ok(Status::StreamEnd),
            false => self.stream.decompress(input, output, FlushDecompress::None),
        };
        self.has_ended = matches!(status, Ok(Status::StreamEnd));
        // Both counts are at most the lengths of the slices.
        let read = (self.stream.total_in() - read) as usize;
        let written = (self.stream.total_out() - written) as usize;
        let is_stuck = read == 0 && written == 0 && !input.is_empty();
        Step {
            read,
            written,
            is_invalid: status.is_err() || is_stuck,
        }
    }

    /// Ends the message, whose bytes are all decompressed.
    pub(crate) fn finish(&mut self) -> Result<Tail, Invalid> {
        if self.has_ended {
            return Ok(Tail::FinalBlock);
        }
        let mut none = [0; 1];
        let step = self.step(&TAIL, &mut none);
        let is_complete = self.has_ended && step.read == TAIL.len() && step.written == 0;
        is_complete.then_some(Tail::EmptyBlock).ok_or(Invalid)
    }
}
