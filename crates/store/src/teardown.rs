//! The failure of a run's teardown, which is known only when the run itself has been stored.

use drumfire_measure::CodecError;

/// The first byte of a teardown's failure.
const FAILED: u8 = 0;
const CUT_SHORT: u8 = 1;

/// Why a run's teardown had no success, as the run itself said it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TeardownFailure {
    /// Whether a signal ended it.
    pub is_cut_short: bool,
    /// The message, without secrets.
    pub message: String,
}

impl TeardownFailure {
    /// Its kind in one byte, and the message in UTF-8.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let kind = match self.is_cut_short {
            true => CUT_SHORT,
            false => FAILED,
        };
        let mut out = vec![kind];
        out.extend_from_slice(self.message.as_bytes());
        out
    }

    /// # Errors
    /// When the bytes are of no teardown's failure.
    pub(crate) fn decode(payload: &[u8]) -> Result<Self, CodecError> {
        let wrong = CodecError::Malformed("not a teardown failure");
        let (kind, message) = payload.split_first().ok_or(wrong)?;
        let is_cut_short = match *kind {
            FAILED => false,
            CUT_SHORT => true,
            _ => return Err(wrong),
        };
        let message = std::str::from_utf8(message).map_err(|_| wrong)?;
        Ok(Self {
            is_cut_short,
            message: message.to_owned(),
        })
    }
}
