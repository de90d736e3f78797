//! The consumer of a response: the one place where its status is judged and its body is read.

use crate::blame::{Failure, coding_outcome};
use crate::wire::Fields;
use drumfire_coding::{Decoder, Error};
use drumfire_measure::Outcome;
use drumfire_plan::{Compressed, Expect};

/// The reader of a body whose bytes are looked at. There is none where they are only counted, so
/// that a plan that looks at nothing pays nothing.
#[derive(Debug)]
pub(super) struct BodyReader(Decoder);

impl BodyReader {
    /// The reader of a body with these fields, where the plan wants bodies decoded and there is
    /// anything to undo.
    ///
    /// # Errors
    /// When the coding is unknown.
    #[inline]
    pub(super) fn new(
        compressed: Compressed,
        fields: &Fields<'_>,
    ) -> Result<Option<Box<Self>>, Failure> {
        let (Compressed::Decode(limit) | Compressed::DecodeGzip(limit)) = compressed else {
            return Ok(None);
        };
        let Some(coding) = fields.find("content-encoding") else {
            return Ok(None);
        };
        let decoder = Decoder::new(coding, limit.0).map_err(|error| failure(&error))?;
        Ok(decoder.map(|decoder| Box::new(Self(decoder))))
    }

    /// Takes bytes of the body.
    ///
    /// # Errors
    /// When they don't decode, or to too much.
    pub(super) fn read(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.0
            .push(bytes, &mut |_| {})
            .map_err(|error| failure(&error))
    }

    /// The body has ended.
    ///
    /// # Errors
    /// When it is not whole.
    pub(super) fn finish(&mut self) -> Result<(), Failure> {
        let finished = self.0.finish();
        finished.map(drop).map_err(|error| failure(&error))
    }
}

fn failure(error: &Error) -> Failure {
    Failure::with(coding_outcome(error), error.to_string())
}

/// Whether a complete response is ok.
#[inline]
pub(super) fn judge(expect: Expect, status: u16) -> Outcome {
    match status {
        100..=599 if expect.accepts(status) => Outcome::Ok,
        100..=599 => Outcome::HttpStatus,
        _ => Outcome::InvalidStatus,
    }
}
