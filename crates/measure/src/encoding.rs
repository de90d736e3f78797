//! HdrHistogram's V2 interchange encoding, compressed: the form that other tools read.
//!
//! It has the buckets and no more. Exact extremes, the sum, counts beyond the range and lower
//! bounds are lost, so that our own records use `histogram/form`, and this is an output. Reading is
//! bounded in three steps, for the bytes are anyone's: the length of the inflated form, its
//! header's length and layout, and only then the crate's own decoder, which would take memory as
//! the header asks.

use crate::Histogram;
use crate::buckets::{HIGHEST, HOUR};
use drumfire_units::Nanos;
use flate2::read::ZlibDecoder;
use hdrhistogram::Histogram as Hdr;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};
use std::fmt;
use std::io::Read;

/// Significant decimal digits of a bucket: its width is at most 1/1024 of its value.
const DIGITS: u8 = 3;

/// The first four bytes of the compressed V2 encoding.
const COMPRESSED_COOKIE: u32 = 0x1c84_9314;

/// The header of the encoding without compression.
const HEADER_BYTES: usize = 40;

/// The most bytes of the encoding without compression: a header, and nine bytes (the longest
/// number) for each of the buckets up to the next power of two, 2048 for the first 11 bits and 1024
/// for each of the 31 above.
const ENCODED_BYTES: usize = HEADER_BYTES + 9 * (2048 + 31 * 1024);

/// The reason for which bytes are not a histogram of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DecodeError {
    /// The bytes are not the V2 encoding, or are cut short.
    Malformed(String),
    /// A histogram with other bounds or precision, which cannot be merged without loss.
    OtherBuckets,
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(why) => write!(f, "not a histogram in the V2 encoding: {why}"),
            Self::OtherBuckets => f.write_str(
                "the histogram must have buckets from 1 ns to 1 h with 3 significant digits",
            ),
        }
    }
}

impl std::error::Error for DecodeError {}

/// An empty histogram of the `hdrhistogram` crate with our buckets.
#[expect(
    clippy::expect_used,
    reason = "the bounds are constants that the layout supports"
)]
pub(crate) fn reference() -> Hdr<u64> {
    Hdr::new_with_bounds(1, HOUR, DIGITS).expect("1 ns to 1 h, 3 digits")
}

/// The buckets in the V2 encoding, deflated, as `decodeFromCompressedBase64` and its like
/// expect (after base64). The exact extremes and sum are not part of that format, nor are lower
/// bounds.
#[must_use]
#[expect(
    clippy::expect_used,
    reason = "writing to a vector cannot fail and a count stays below 2^63"
)]
pub fn encode_v2(histogram: &Histogram) -> Vec<u8> {
    let mut buckets = reference();
    for (low, _, count) in histogram.buckets() {
        let recorded = buckets.record_n(low, count);
        debug_assert!(recorded.is_ok(), "the crate has the same buckets");
    }
    let mut bytes = Vec::new();
    V2DeflateSerializer::new()
        .serialize(&buckets, &mut bytes)
        .expect("a vector takes every byte");
    bytes
}

/// The histogram that [`encode_v2`] wrote, bucket for bucket. Figures that the format
/// lacks become estimates: the extremes are the bounds of their buckets, the sum is that of the
/// buckets' middles, and nothing is known of samples beyond the range.
///
/// # Errors
/// When the bytes are not in that encoding or describe other buckets.
pub fn decode_v2(bytes: &[u8]) -> Result<Histogram, DecodeError> {
    let inner = inflate(bytes)?;
    check_layout(&inner)?;
    let buckets: Hdr<u64> = Deserializer::new()
        .deserialize(&mut &*inner)
        .map_err(|error| DecodeError::Malformed(error.to_string()))?;
    let mut decoded = Histogram::new();
    for step in buckets.iter_recorded() {
        let high = step.value_iterated_to();
        let low = buckets.lowest_equivalent(high);
        decoded.record_bucket(low, high, step.count_at_value());
    }
    Ok(decoded)
}

/// What the format lacks of a histogram, where it is known from elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Beside {
    /// The exact extremes: the least time and the greatest.
    pub extremes: (Nanos, Nanos),
    /// The least time that is only a lower bound; `None` where every time is known.
    pub at_least_from: Option<Nanos>,
}

/// The histogram of [`decode_v2`] with what is known beside it. How many times from the least lower
/// bound on are bounds is not known: all of them are taken for some, so that no quantile passes for
/// exact that is not.
///
/// # Errors
/// As [`decode_v2`].
pub fn decode_v2_beside(bytes: &[u8], beside: Beside) -> Result<Histogram, DecodeError> {
    let decoded = decode_v2(bytes)?;
    let from = beside.at_least_from.map_or(u64::MAX, |from| from.0);
    let mut histogram = Histogram::small();
    for (low, high, count) in decoded.buckets() {
        match high >= from {
            true => histogram.record_at_least_of(Nanos(low.max(from)), count),
            false => histogram.record_bucket(low, high, count),
        }
    }
    let (min, max) = beside.extremes;
    let mut buckets = decoded.buckets();
    if let Some((low, high, _)) = buckets.next() {
        let (low_last, high_last, _) = buckets.last().unwrap_or((low, high, 0));
        // Extremes that are none of these buckets' are not believed.
        let holds_min = (low..=high).contains(&min.0);
        let holds_max = low_last <= max.0 && (max.0 <= high_last || high_last >= HIGHEST);
        if holds_min && holds_max && min <= max {
            histogram.restore_extremes(min, max);
        }
    }
    Ok(histogram)
}

fn malformed<T>(why: &str) -> Result<T, DecodeError> {
    Err(DecodeError::Malformed(why.to_owned()))
}

/// The encoding within the compressed one, which is its cookie, the length of the rest, and a zlib
/// stream. At most [`ENCODED_BYTES`] are inflated.
fn inflate(bytes: &[u8]) -> Result<Vec<u8>, DecodeError> {
    let Some((cookie, rest)) = bytes.split_first_chunk::<4>() else {
        return malformed("it is too short");
    };
    if u32::from_be_bytes(*cookie) != COMPRESSED_COOKIE {
        return malformed("it does not begin with the cookie 1c849314");
    }
    let Some((length, stream)) = rest.split_first_chunk::<4>() else {
        return malformed("it is too short");
    };
    if stream.len() as u64 != u64::from(u32::from_be_bytes(*length)) {
        return malformed("its length does not match its header");
    }
    let mut inner = Vec::new();
    ZlibDecoder::new(stream)
        .take(ENCODED_BYTES as u64 + 1)
        .read_to_end(&mut inner)
        .map_err(|error| DecodeError::Malformed(error.to_string()))?;
    if inner.len() > ENCODED_BYTES {
        return malformed("it is larger than any histogram");
    }
    Ok(inner)
}

/// Checks the header before memory is allocated by it. The header is eight fields of four bytes and
/// one of eight: cookie, length of the counts, offset, digits, the bounds (two fields each) and a
/// ratio.
fn check_layout(inner: &[u8]) -> Result<(), DecodeError> {
    let Some((header, counts)) = inner.split_first_chunk::<HEADER_BYTES>() else {
        return malformed("its header is truncated");
    };
    let field = |at: usize| {
        let bytes = &header[at..at + 4];
        bytes
            .iter()
            .fold(0, |sum: u64, byte| sum << 8 | u64::from(*byte))
    };
    if field(4) != counts.len() as u64 {
        return malformed("the length of its counts does not match its header");
    }
    let low = field(16) << 32 | field(20);
    let high = field(24) << 32 | field(28);
    if (field(12), low, high) != (u64::from(DIGITS), 1, HOUR) {
        return Err(DecodeError::OtherBuckets);
    }
    Ok(())
}
