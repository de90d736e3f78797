//! Integers with a prefix (RFC 7541 section 5.1).
//!
//! The format has no limit, and zeros may be appended without end; a number here may have at most
//! six bytes and 32 bits, which is more than any index, length or size that is accepted.

/// The number of continuation bytes that a number may have: five contain more than 32 bits.
const CONTINUATION_BYTES: usize = 5;

/// The number that begins in the low `prefix` bits of the first byte, and its length in bytes;
/// `None` if it does not end, or is longer or larger than any number with a meaning here.
#[inline]
pub(super) fn read(bytes: &[u8], prefix: u32) -> Option<(usize, usize)> {
    let mask = (1_u8 << prefix) - 1;
    let first = *bytes.first()? & mask;
    if first < mask {
        return Some((first as usize, 1));
    }
    let mut value = u64::from(mask);
    for at in 0..CONTINUATION_BYTES {
        let byte = *bytes.get(1 + at)?;
        value += u64::from(byte & 0x7f) << (7 * at);
        if byte & 0x80 == 0 {
            return (value <= u64::from(u32::MAX)).then_some((value as usize, at + 2));
        }
    }
    None
}

/// Appends `value` with the high bits of `pattern` before the prefix.
#[inline]
pub(super) fn write(out: &mut Vec<u8>, pattern: u8, prefix: u32, value: usize) {
    let mask = (1_usize << prefix) - 1;
    if value < mask {
        out.push(pattern | value as u8);
        return;
    }
    out.push(pattern | mask as u8);
    let mut rest = value - mask;
    while rest >= 0x80 {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

#[cfg(test)]
mod tests {
    use super::{read, write};
    use proptest::prelude::*;

    #[test]
    fn examples_of_the_rfc() {
        // RFC 7541 appendix C.1.
        assert_eq!(read(&[0b1110_1010], 5), Some((10, 1)));
        assert_eq!(
            read(&[0b1111_1111, 0b1001_1010, 0b0000_1010], 5),
            Some((1337, 3))
        );
        assert_eq!(read(&[42], 8 - 1), Some((42, 1)));
    }

    #[test]
    fn what_is_too_long_or_too_large_is_refused() {
        assert_eq!(read(&[], 7), None);
        assert_eq!(read(&[0x7f], 7), None);
        assert_eq!(
            read(&[0x7f, 0x80, 0x80, 0x80, 0x80, 0x00], 7),
            Some((127, 6))
        );
        assert_eq!(read(&[0x7f, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00], 7), None);
        assert_eq!(
            read(&[0x7f, 0x80, 0xff, 0xff, 0xff, 0x0f], 7).map(|(value, _)| value),
            Some(0xffff_ffff)
        );
        assert_eq!(read(&[0x7f, 0x81, 0xff, 0xff, 0xff, 0x0f], 7), None);
        assert_eq!(read(&[0x7f, 0xff, 0xff, 0xff, 0xff, 0x7f], 7), None);
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(value in 0_usize..0xffff_ffff, prefix in 4_u32..=7) {
            let mut out = Vec::new();
            write(&mut out, 0, prefix, value);
            prop_assert_eq!(read(&out, prefix), Some((value, out.len())));
        }
    }
}
