//! Zstandard (RFC 8878) for complete messages.

use crate::scratch::{Failure, Scratch};
use zstd::stream::raw::{DParameter, Decoder, Encoder, InBuffer, Operation, OutBuffer};

/// RFC 9659: windows are at most 8 MiB.
const WINDOW_LOG_MAX: u32 = 23;
/// The library's default.
const LEVEL: i32 = 3;

/// Creates frames with a reusable state.
pub(crate) struct Packer {
    stream: Encoder<'static>,
}

impl Packer {
    pub(crate) fn new() -> Result<Self, Failure> {
        let stream = Encoder::new(LEVEL).map_err(|_| Failure::Invalid)?;
        Ok(Self { stream })
    }

    /// Appends the message as one frame.
    pub(crate) fn append(&mut self, payload: &[u8], out: &mut Vec<u8>) -> Result<(), Failure> {
        self.stream.reinit().map_err(|_| Failure::Invalid)?;
        let mut source = InBuffer::around(payload);
        let mut filled = out.len();
        loop {
            let room = payload.len() / 8 + 256;
            out.resize(filled + room, 0);
            let mut sink = OutBuffer::around(&mut out[filled..]);
            let left = if source.pos() < payload.len() {
                let run = self.stream.run(&mut source, &mut sink);
                run.map(|_| usize::MAX)
            } else {
                self.stream.finish(&mut sink, true)
            };
            filled += sink.pos();
            if left.map_err(|_| Failure::Invalid)? == 0 {
                break;
            }
        }
        out.truncate(filled);
        Ok(())
    }
}

/// Decompresses frames with a reusable state.
pub(crate) struct Unpacker {
    stream: Decoder<'static>,
}

impl Unpacker {
    pub(crate) fn new() -> Result<Self, Failure> {
        let mut stream = Decoder::new().map_err(|_| Failure::Invalid)?;
        stream
            .set_parameter(DParameter::WindowLogMax(WINDOW_LOG_MAX))
            .map_err(|_| Failure::Invalid)?;
        Ok(Self { stream })
    }

    /// Decompresses one or more frames.
    pub(crate) fn decompress(&mut self, coded: &[u8], out: &mut Scratch) -> Result<(), Failure> {
        self.stream.reinit().map_err(|_| Failure::Invalid)?;
        let mut source = InBuffer::around(coded);
        loop {
            let read = source.pos();
            let room = out.room()?;
            let length = room.len();
            let mut sink = OutBuffer::around(room);
            let run = self.stream.run(&mut source, &mut sink);
            let made = sink.pos();
            let expected = run.map_err(|_| Failure::Invalid)?;
            out.filled(made);
            let is_drained = made < length;
            if is_drained && source.pos() == coded.len() {
                return if expected == 0 {
                    Ok(())
                } else {
                    Err(Failure::Invalid)
                };
            }
            if made == 0 && source.pos() == read {
                return Err(Failure::Invalid);
            }
        }
    }
}
