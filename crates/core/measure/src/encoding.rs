//! HdrHistogram's V2 interchange encoding, compressed: the form that other tools read.
//!
//! The encoding contains only the buckets. Exact extremes, the sum, counts beyond the range and
//! lower bounds are lost, so our own records use `histogram/form`, and this is only an output.
//! Reading is bounded in three steps, because the bytes are untrusted: the length of the inflated
//! form, its header's length and layout, and then the external crate's decoder, which would
//! allocate as much as the header requests.

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

/// The length of the header of the uncompressed encoding.
const HEADER_BYTES: usize = 40;

/// The maximum length of the uncompressed encoding: a header, and nine bytes (the longest number)
/// for each of the buckets up to the next power of two, 2048 for the first 11 bits and 1024 for
/// each of the 31 above.
const ENCODED_BYTES: usize = HEADER_BYTES + 9 * (2048 + 31 * 1024);

/// The reason why bytes are not one of our histograms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DecodeError {
    /// The bytes are not the V2 encoding, or are cut short.
    Malformed(String),
    /// A histogram with another range or precision, which cannot be merged without loss.
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

/// The buckets in the V2 encoding, deflated, as `decodeFromCompressedBase64` and similar functions
/// expect (after base64). The format does not contain exact extremes, the sum, or lower bounds.
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

/// The histogram that [`encode_v2`] wrote, bucket for bucket. Figures that the format lacks become
/// estimates: the extremes are the bounds of their buckets, the sum is computed from the middles of
/// the buckets, and no samples beyond the range are known.
///
/// # Errors
/// If the bytes are not in that encoding or have other buckets.
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

/// The figures that the format lacks, if they are known from another source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Beside {
    /// The exact minimum and maximum.
    pub extremes: (Nanos, Nanos),
    /// The minimum of the times that are only lower bounds; `None` if every time is exact.
    pub at_least_from: Option<Nanos>,
}

/// The histogram of [`decode_v2`], completed with `beside`. The number of lower bounds is unknown,
/// so all times from the smallest lower bound on count as lower bounds. No quantile then appears
/// exact that is not.
///
/// # Errors
/// As for [`decode_v2`].
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
        // Extremes outside their buckets are ignored.
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

/// Checks the header before memory is allocated for it. The header has eight fields of four bytes
/// and one of eight: cookie, length of the counts, offset, digits, the bounds (two fields each) and
/// a ratio.
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
