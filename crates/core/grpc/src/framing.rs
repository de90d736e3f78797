//! Messages on a stream: a flag, a length, the message ("Length-Prefixed-Message").

use std::fmt;

/// The length of each message's prefix: a flag byte and the message's length, big-endian.
pub const PREFIX_BYTES: usize = 5;

/// A message of 4 GiB or more, whose length does not fit into the prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong;

impl fmt::Display for TooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a message must be shorter than 4 GiB")
    }
}

impl std::error::Error for TooLong {}

/// Appends an uncompressed message with its prefix.
///
/// # Errors
/// [`TooLong`]; nothing is appended then.
pub fn write_message(out: &mut Vec<u8>, payload: &[u8]) -> Result<(), TooLong> {
    let prefix = prefix(FLAG_PLAIN, payload.len())?;
    out.reserve(PREFIX_BYTES + payload.len());
    out.extend_from_slice(&prefix);
    out.extend_from_slice(payload);
    Ok(())
}

/// Leaves room for the prefix of a message that is encoded directly into `out`; returns the start
/// that [`finish_message`] needs.
pub fn begin_message(out: &mut Vec<u8>) -> usize {
    let start = out.len();
    out.extend_from_slice(&[FLAG_PLAIN; PREFIX_BYTES]);
    start
}

/// Writes the prefix of the uncompressed message that was appended since [`begin_message`].
///
/// # Errors
/// [`TooLong`]; the message is removed again then.
pub fn finish_message(out: &mut Vec<u8>, start: usize) -> Result<(), TooLong> {
    finish(out, start, FLAG_PLAIN)
}

/// The message is not compressed.
pub(crate) const FLAG_PLAIN: u8 = 0;
/// The message is compressed with the coding in grpc-encoding.
pub(crate) const FLAG_COMPRESSED: u8 = 1;

/// Like [`finish_message`], with either flag.
pub(crate) fn finish(out: &mut Vec<u8>, start: usize, flag: u8) -> Result<(), TooLong> {
    let prefix =
        prefix(flag, out.len() - start - PREFIX_BYTES).inspect_err(|_| out.truncate(start))?;
    out[start..start + PREFIX_BYTES].copy_from_slice(&prefix);
    Ok(())
}

fn prefix(flag: u8, length: usize) -> Result<[u8; PREFIX_BYTES], TooLong> {
    let [a, b, c, d] = u32::try_from(length).map_err(|_| TooLong)?.to_be_bytes();
    Ok([flag, a, b, c, d])
}

/// Reads a prefix: the flag and the length.
#[inline]
pub(crate) const fn read_prefix([flag, a, b, c, d]: [u8; PREFIX_BYTES]) -> (u8, u32) {
    (flag, u32::from_be_bytes([a, b, c, d]))
}

/// The length of the first message in `bytes`, including the prefix; `None` if its prefix is
/// incomplete. The message itself may be incomplete.
#[must_use]
pub fn framed_length(bytes: &[u8]) -> Option<usize> {
    let (prefix, _) = bytes.split_first_chunk::<PREFIX_BYTES>()?;
    let (_, length) = read_prefix(*prefix);
    Some(PREFIX_BYTES + length as usize)
}

#[cfg(test)]
mod tests {
    use super::{
        PREFIX_BYTES, begin_message, finish_message, framed_length, read_prefix, write_message,
    };
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn both_ways_of_writing_agree_and_read_back(before: Vec<u8>, payload: Vec<u8>) {
            let (mut whole, mut straight) = (before.clone(), before.clone());
            prop_assert_eq!(write_message(&mut whole, &payload), Ok(()));
            let start = begin_message(&mut straight);
            straight.extend_from_slice(&payload);
            prop_assert_eq!(finish_message(&mut straight, start), Ok(()));
            prop_assert_eq!(&whole, &straight);
            let (prefix, rest) = whole[before.len()..].split_first_chunk::<PREFIX_BYTES>().expect("a prefix");
            prop_assert_eq!(read_prefix(*prefix), (0, rest.len() as u32));
            let framed = &whole[before.len()..];
            prop_assert_eq!(framed_length(framed), Some(framed.len()));
            prop_assert_eq!(framed_length(&framed[..PREFIX_BYTES]), Some(framed.len()));
            prop_assert_eq!(framed_length(&framed[..PREFIX_BYTES - 1]), None);
            prop_assert_eq!(rest, &payload[..]);
        }
    }
}
