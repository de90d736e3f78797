//! HdrHistogram's V2 interchange encoding, compressed: the form that other tools read.

use crate::histogram::{DIGITS, HIGHEST, Histogram};
use hdrhistogram::Histogram as Hdr;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};
use std::fmt;

/// What the compressed V2 encoding begins with.
const COMPRESSED_COOKIE: u32 = 0x1c84_9314;

/// Why bytes are not a histogram of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DecodeError {
    /// Not the V2 encoding, or cut short.
    Malformed(String),
    /// A histogram with other bounds or precision, which cannot be merged without loss.
    OtherBuckets,
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(why) => write!(f, "not a histogram in the V2 encoding: {why}"),
            Self::OtherBuckets => f.write_str(
                "the histogram has other buckets than 1 ns to 1 h with 3 significant digits",
            ),
        }
    }
}

impl std::error::Error for DecodeError {}

impl Histogram {
    /// The buckets in the V2 encoding, deflated, as `decodeFromCompressedBase64` and its like
    /// expect (after base64). The exact extremes and sum are not part of that format.
    #[must_use]
    #[expect(
        clippy::expect_used,
        reason = "writing to a vector cannot fail and a count stays below 2^63"
    )]
    pub fn encode_v2(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        V2DeflateSerializer::new()
            .serialize(&self.buckets, &mut bytes)
            .expect("a vector takes every byte");
        bytes
    }

    /// The histogram that [`Self::encode_v2`] wrote, bucket for bucket. What the format does not
    /// hold becomes an estimate: the extremes are the bounds of their buckets, the sum is that of
    /// the buckets' middles, and nothing is known of samples beyond the range.
    ///
    /// # Errors
    /// When the bytes are not in that encoding or describe other buckets.
    pub fn decode_v2(mut bytes: &[u8]) -> Result<Self, DecodeError> {
        check_envelope(bytes)?;
        let buckets: Hdr<u64> = Deserializer::new()
            .deserialize(&mut bytes)
            .map_err(|error| DecodeError::Malformed(error.to_string()))?;
        if (buckets.low(), buckets.high(), buckets.sigfig()) != (1, HIGHEST, DIGITS) {
            return Err(DecodeError::OtherBuckets);
        }
        let mut decoded = Self::new();
        if buckets.is_empty() {
            return Ok(decoded);
        }
        decoded.min = buckets.min();
        decoded.max = buckets.max();
        decoded.buckets = buckets;
        decoded.sum = decoded
            .buckets()
            .map(|(low, high, count)| u128::from(low + (high - low) / 2) * u128::from(count))
            .sum();
        Ok(decoded)
    }
}

/// The compressed encoding begins with its cookie and the length of what follows.
fn check_envelope(bytes: &[u8]) -> Result<(), DecodeError> {
    let malformed = |why: &str| Err(DecodeError::Malformed(why.to_owned()));
    let Some((cookie, rest)) = bytes.split_first_chunk::<4>() else {
        return malformed("it is too short");
    };
    if u32::from_be_bytes(*cookie) != COMPRESSED_COOKIE {
        return malformed("it does not begin with the cookie 1c849314");
    }
    match rest.split_first_chunk::<4>() {
        Some((length, rest)) if rest.len() as u64 == u64::from(u32::from_be_bytes(*length)) => {
            Ok(())
        }
        _ => malformed("it is not as long as it says"),
    }
}
