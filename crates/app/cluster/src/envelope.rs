//! The envelope of the messages between machines.
//!
//! A message consists of [`MARK`], the version of all forms, the value, and the CRC-32 of
//! everything before it. So other bytes are not mistaken for another version, and an altered
//! message is rejected. The checksum detects accidents; the key in a message identifies its sender.

use drumfire_measure::form::{self, Form, FormError};

/// The beginning of each message.
const MARK: &[u8; 8] = b"drumfire";
/// The size of the checksum in bytes.
const SUM: usize = 4;

/// A value that is sent as a separate message between machines.
pub trait Message: Form {
    /// Encodes the value as a message.
    #[must_use]
    fn encode(&self) -> Vec<u8> {
        let mut out = MARK.to_vec();
        out.extend(form::encode(self));
        let sum = crc32fast::hash(&out);
        out.extend_from_slice(&sum.to_le_bytes());
        out
    }

    /// Decodes a message.
    ///
    /// # Errors
    /// If the bytes are not a message, were altered, or have another version.
    fn decode(bytes: &[u8]) -> Result<Self, FormError> {
        let inner = bytes.strip_prefix(MARK).ok_or(FormError::Unknown)?;
        let (value, sum) = inner.split_last_chunk::<SUM>().ok_or(FormError::Short)?;
        // Check the version first, because another version may compute its checksum differently.
        form::Input::new(inner).version(form::VERSION)?;
        match crc32fast::hash(&bytes[..bytes.len() - SUM]).to_le_bytes() == *sum {
            true => form::decode(value),
            false => Err(FormError::Altered),
        }
    }
}
