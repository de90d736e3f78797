//! Deflate: in a zlib wrapper (RFC 1950), or bare (RFC 1951), as many servers send it under this
//! name.

use crate::step::{Invalid, Step};
use flate2::{Decompress, FlushDecompress, Status};

/// Decodes one stream of either form.
pub(crate) struct Inflate {
    stream: Decompress,
    complete: bool,
}

impl Inflate {
    /// `wrapped`: whether the stream has a zlib header and checksum.
    pub(crate) fn new(wrapped: Wrapper) -> Self {
        Self {
            stream: Decompress::new(wrapped == Wrapper::Zlib),
            complete: false,
        }
    }

    /// Starts another stream without a wrapper.
    pub(crate) fn reset(&mut self) {
        self.stream.reset(false);
        self.complete = false;
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.complete
    }

    pub(crate) fn step(&mut self, input: &[u8], output: &mut [u8]) -> Result<Step, Invalid> {
        let (read_before, written_before) = (self.stream.total_in(), self.stream.total_out());
        let status = self.stream.decompress(input, output, FlushDecompress::None);
        self.complete = status.map_err(|_| Invalid)? == Status::StreamEnd;
        let length = |count: u64| usize::try_from(count).map_err(|_| Invalid);
        Ok(Step {
            read: length(self.stream.total_in() - read_before)?,
            written: length(self.stream.total_out() - written_before)?,
        })
    }
}

/// The wrapper around a deflate stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wrapper {
    None,
    Zlib,
}

/// The coding `deflate`: the first two bytes determine its form.
pub(crate) struct Deflate {
    /// The first two bytes, until they are passed to the stream.
    held: [u8; 2],
    held_length: usize,
    held_read: usize,
    stream: Option<Inflate>,
}

impl Deflate {
    pub(crate) fn new() -> Self {
        Self {
            held: [0; 2],
            held_length: 0,
            held_read: 0,
            stream: None,
        }
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.held_read == self.held_length && self.stream.as_ref().is_some_and(Inflate::is_complete)
    }

    pub(crate) fn step(&mut self, input: &[u8], output: &mut [u8]) -> Result<Step, Invalid> {
        let mut hold = 0;
        while self.held_length < self.held.len() && hold < input.len() {
            self.held[self.held_length] = input[hold];
            self.held_length += 1;
            hold += 1;
        }
        if self.held_length < self.held.len() {
            return Ok(Step {
                read: hold,
                written: 0,
            });
        }
        let held = self.held;
        let stream = self
            .stream
            .get_or_insert_with(|| Inflate::new(wrapper(held)));
        if self.held_read < self.held.len() {
            let step = stream.step(&self.held[self.held_read..], output)?;
            self.held_read += step.read;
            if step.read == 0 && step.written == 0 {
                return Err(Invalid);
            }
            return Ok(Step {
                read: hold,
                written: step.written,
            });
        }
        if stream.is_complete() {
            return if input.is_empty() {
                Ok(Step::default())
            } else {
                Err(Invalid)
            };
        }
        stream.step(input, output)
    }
}

/// The form of a stream (RFC 1950 section 2.2): a zlib header has method 8 and is a multiple of 31.
/// A bare stream with the same start would be a stored block with unusual padding, which encoders
/// do not write.
fn wrapper([method, flags]: [u8; 2]) -> Wrapper {
    let header = u16::from_be_bytes([method, flags]);
    if method & 0x0f == 8 && header.is_multiple_of(31) {
        Wrapper::Zlib
    } else {
        Wrapper::None
    }
}
