//! Decodes layers of codings, one after the other, in bounded memory.

use crate::br::Br;
use crate::deflate::Deflate;
use crate::gzip::Gzip;
use crate::step::{Invalid, Step};
use crate::zstandard::Zstandard;
use crate::{Coding, Error};

/// The maximum number of codings of a body: honest servers do not apply more, and each takes a
/// window.
const LAYERS_MAX: usize = 5;
/// The size of a layer's output buffer.
const BUFFER_BYTES: usize = 16 * 1024;
/// The maximum quoted length of an unknown coding's name, in bytes before escaping.
const NAME_BYTES: usize = 16;

/// Decodes the codings of one body. Input pieces may have any size; output pieces have at most 16
/// KiB. A body that grows a thousandfold therefore takes no more memory than any other: the
/// buffers, and one window per layer (gzip and deflate 32 KiB, zstd at most 8 MiB, br at most 16
/// MiB).
pub struct Decoder {
    /// The coding that was applied last is first.
    layers: Vec<CodingLayer>,
    limit: u64,
    untouched: bool,
    failed: Option<Error>,
}

struct CodingLayer {
    coding: Coding,
    inner: AnyDecoder,
    buffer: Box<[u8]>,
    produced: u64,
}

enum AnyDecoder {
    Br(Box<Br>),
    Deflate(Deflate),
    Gzip(Gzip),
    Zstd(Zstandard),
}

impl Decoder {
    /// A decoder for a body with this Content-Encoding value. At most `limit` bytes are decoded,
    /// which includes the data between two layers. `None` if the body has no coding.
    ///
    /// # Errors
    /// [`Error::Unknown`] and [`Error::Layers`].
    pub fn new(content_encoding: &[u8], limit: u64) -> Result<Option<Self>, Error> {
        let mut layers = Vec::new();
        for name in content_encoding
            .split(|&byte| byte == b',')
            .map(<[u8]>::trim_ascii)
        {
            if name.is_empty() || name.eq_ignore_ascii_case(b"identity") {
                continue;
            }
            if layers.len() == LAYERS_MAX {
                return Err(Error::Layers);
            }
            layers.push(Coding::of_name(name).ok_or_else(|| unknown(name))?);
        }
        if layers.is_empty() {
            return Ok(None);
        }
        let layers = layers
            .into_iter()
            .rev()
            .map(CodingLayer::new)
            .collect::<Result<_, _>>()?;
        Ok(Some(Self {
            layers,
            limit,
            untouched: true,
            failed: None,
        }))
    }

    /// Decodes the next piece of the body and passes the result on.
    ///
    /// # Errors
    /// [`Error::Decode`] and [`Error::Limit`]; all further calls return the same error.
    pub fn push(&mut self, input: &[u8], sink: &mut dyn FnMut(&[u8])) -> Result<(), Error> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        self.untouched &= input.is_empty();
        let result = feed(&mut self.layers, input, self.limit, sink);
        self.failed = result.as_ref().err().cloned();
        result
    }

    /// Ends the body and returns its decoded length. An empty body counts as no content, with any
    /// coding.
    ///
    /// # Errors
    /// [`Error::Decode`] if a layer is incomplete, or the previous error.
    pub fn finish(&mut self) -> Result<u64, Error> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        if self.untouched {
            return Ok(0);
        }
        match self.layers.iter().find(|layer| !layer.is_complete()) {
            Some(layer) => Err(Error::Decode(layer.coding)),
            None => Ok(self.layers.last().map_or(0, |layer| layer.produced)),
        }
    }
}

impl std::fmt::Debug for Decoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let codings: Vec<Coding> = self.layers.iter().map(|layer| layer.coding).collect();
        f.debug_struct("Decoder")
            .field("layers", &codings)
            .field("limit", &self.limit)
            .finish_non_exhaustive()
    }
}

/// Passes a piece through the first layer, and each piece of its output through the remaining
/// layers.
fn feed(
    layers: &mut [CodingLayer],
    mut input: &[u8],
    limit: u64,
    sink: &mut dyn FnMut(&[u8]),
) -> Result<(), Error> {
    let Some((layer, rest)) = layers.split_first_mut() else {
        sink(input);
        return Ok(());
    };
    loop {
        let Step { read, written } = layer.step(input)?;
        input = &input[read..];
        layer.produced += written as u64;
        if layer.produced > limit {
            return Err(Error::Limit);
        }
        if written > 0 {
            feed(rest, &layer.buffer[..written], limit, sink)?;
        }
        let more_may_come = written == layer.buffer.len();
        if input.is_empty() && !more_may_come {
            return Ok(());
        }
        if read == 0 && written == 0 {
            return Err(Error::Decode(layer.coding));
        }
    }
}

impl CodingLayer {
    fn new(coding: Coding) -> Result<Self, Error> {
        let inner = match coding {
            Coding::Br => AnyDecoder::Br(Box::new(Br::new())),
            Coding::Deflate => AnyDecoder::Deflate(Deflate::new()),
            Coding::Gzip => AnyDecoder::Gzip(Gzip::new()),
            Coding::Zstd => {
                AnyDecoder::Zstd(Zstandard::new().map_err(|Invalid| Error::Decode(coding))?)
            }
        };
        Ok(Self {
            coding,
            inner,
            buffer: vec![0; BUFFER_BYTES].into_boxed_slice(),
            produced: 0,
        })
    }

    fn step(&mut self, input: &[u8]) -> Result<Step, Error> {
        let output = &mut self.buffer;
        let step = match &mut self.inner {
            AnyDecoder::Br(br) => br.step(input, output),
            AnyDecoder::Deflate(deflate) => deflate.step(input, output),
            AnyDecoder::Gzip(gzip) => gzip.step(input, output),
            AnyDecoder::Zstd(zstandard) => zstandard.step(input, output),
        };
        step.map_err(|Invalid| Error::Decode(self.coding))
    }

    fn is_complete(&self) -> bool {
        match &self.inner {
            AnyDecoder::Br(br) => br.is_complete(),
            AnyDecoder::Deflate(deflate) => deflate.is_complete(),
            AnyDecoder::Gzip(gzip) => gzip.is_complete(),
            AnyDecoder::Zstd(zstandard) => zstandard.is_complete(),
        }
    }
}

fn unknown(name: &[u8]) -> Error {
    let shown = &name[..name.len().min(NAME_BYTES)];
    Error::Unknown(shown.escape_ascii().to_string().into_boxed_str())
}
