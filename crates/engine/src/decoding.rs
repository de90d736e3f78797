//! What undoes a body's coding.

use crate::blame::{Failure, coding_outcome};
use drumfire_coding::Decoder;
use drumfire_plan::Compressed;

/// The decoder of a body, where the plan wants bodies decoded and there is anything to undo;
/// `coding` finds the Content-Encoding.
///
/// # Errors
/// When nobody knows the coding.
#[inline]
pub(crate) fn decoder<'h>(
    compressed: Compressed,
    coding: impl FnOnce() -> Option<&'h [u8]>,
) -> Result<Option<Box<Decoder>>, Failure> {
    let (Compressed::Decode(limit) | Compressed::DecodeGzip(limit)) = compressed else {
        return Ok(None);
    };
    let Some(coding) = coding() else {
        return Ok(None);
    };
    match Decoder::new(coding, limit.0) {
        Ok(decoder) => Ok(decoder.map(Box::new)),
        Err(error) => Err((coding_outcome(&error), Some(error.to_string()))),
    }
}
