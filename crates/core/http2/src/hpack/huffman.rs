//! The Huffman code of RFC 7541 appendix B.
//!
//! The code is canonical: codes of one length are ordered like their symbols, and a longer code is
//! numerically after all shorter ones. So the lengths alone determine the code, and the compiler
//! computes the tables below from them.

/// The length of each symbol's code. End-of-string, which must not occur, has the last code of 30
/// bits.
#[rustfmt::skip]
const LENGTHS: [u8; 256] = [
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28,
    6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10,
    13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
    15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28,
    20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24,
    22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
    26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27,
    20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26,
];
const LENGTH_MAX: usize = 30;
/// Codes up to this length are found by one look-up in a table; nearly all codes of real text are
/// this short.
const FAST_BITS: usize = 9;

/// For each length: its first code, the number of codes, and the start of its symbols in `SORTED`.
const FIRST: [u32; LENGTH_MAX + 1] = canonical().0;
const COUNT: [u32; LENGTH_MAX + 1] = canonical().1;
const START: [u32; LENGTH_MAX + 1] = canonical().2;
/// Symbols by length, then by value.
static SORTED: [u8; 256] = canonical().3;
/// Each symbol's code.
static CODES: [u32; 256] = codes();
/// For each value of the next `FAST_BITS` bits: the length in the high byte and the symbol in the
/// low byte, or 0 for longer codes.
static FAST: [u16; 1 << FAST_BITS] = fast();

type Canonical = (
    [u32; LENGTH_MAX + 1],
    [u32; LENGTH_MAX + 1],
    [u32; LENGTH_MAX + 1],
    [u8; 256],
);

/// The code from its lengths: codes of one length are consecutive, and the first code of the next
/// length is twice the number after the last one.
const fn canonical() -> Canonical {
    let (mut first, mut count) = ([0; LENGTH_MAX + 1], [0; LENGTH_MAX + 1]);
    let (mut start, mut sorted) = ([0; LENGTH_MAX + 1], [0; 256]);
    let (mut length, mut code, mut at) = (1, 0, 0);
    while length <= LENGTH_MAX {
        code <<= 1;
        first[length] = code;
        start[length] = at as u32;
        let mut symbol = 0;
        while symbol < 256 {
            if LENGTHS[symbol] as usize == length {
                sorted[at] = symbol as u8;
                at += 1;
                code += 1;
                count[length] += 1;
            }
            symbol += 1;
        }
        length += 1;
    }
    (first, count, start, sorted)
}

/// Each symbol's code, right-aligned.
const fn codes() -> [u32; 256] {
    let mut codes = [0; 256];
    let mut length = 1;
    while length <= LENGTH_MAX {
        let mut index = 0;
        while index < COUNT[length] {
            codes[SORTED_CONST[(START[length] + index) as usize] as usize] = FIRST[length] + index;
            index += 1;
        }
        length += 1;
    }
    codes
}

/// `SORTED` as a constant, for the other tables.
const SORTED_CONST: [u8; 256] = canonical().3;

/// The table for short codes: each fills all places that begin with it.
const fn fast() -> [u16; 1 << FAST_BITS] {
    let codes = codes();
    let mut table = [0; 1 << FAST_BITS];
    let mut symbol = 0;
    while symbol < 256 {
        let length = LENGTHS[symbol] as usize;
        if length <= FAST_BITS {
            let spare = FAST_BITS - length;
            let mut low = 0;
            while low < 1 << spare {
                let at = (codes[symbol] << spare) as usize + low;
                table[at] = (length as u16) << 8 | symbol as u16;
                low += 1;
            }
        }
        symbol += 1;
    }
    table
}

/// Appends the decoded text of `coded`. `None` if `coded` contains end-of-string, or does not end
/// in less than 8 bits of padding, all ones (RFC 7541 section 5.2).
pub(super) fn decode(coded: &[u8], out: &mut Vec<u8>) -> Option<()> {
    out.reserve(coded.len() * 8 / 5 + 1);
    let mut rest = coded.iter();
    // The next bits are at the high end; after the last one come ones, like padding.
    let mut window = u64::MAX;
    let mut bits = 0_u32;
    loop {
        while bits <= 56 {
            let Some(&byte) = rest.next() else { break };
            let shift = 56 - bits;
            window &= !(0xff << shift) | u64::from(byte) << shift;
            bits += 8;
        }
        let fast = FAST[(window >> (64 - FAST_BITS)) as usize];
        let (length, symbol) = if fast == 0 {
            long(window)
        } else {
            (u32::from(fast >> 8), fast as u8)
        };
        if length > bits {
            return (bits < 8 && window == u64::MAX).then_some(());
        }
        if length == LENGTH_MAX as u32 && window >> 34 == 0x3fff_ffff {
            return None;
        }
        out.push(symbol);
        window = window << length | ((1 << length) - 1);
        bits -= length;
    }
}

/// The code longer than `FAST_BITS` at the high end: its length and symbol. All ones return the
/// length of end-of-string.
fn long(window: u64) -> (u32, u8) {
    for length in FAST_BITS + 1..=LENGTH_MAX {
        let code = (window >> (64 - length)) as u32;
        if code.wrapping_sub(FIRST[length]) < COUNT[length] {
            let at = START[length] + (code - FIRST[length]);
            return (length as u32, SORTED[at as usize]);
        }
    }
    (LENGTH_MAX as u32, 0)
}

/// The length of `text` when encoded.
pub(super) fn coded_len(text: &[u8]) -> usize {
    let bits: usize = text
        .iter()
        .map(|&byte| usize::from(LENGTHS[byte as usize]))
        .sum();
    bits.div_ceil(8)
}

/// Appends the encoded `text`.
pub(super) fn encode(text: &[u8], out: &mut Vec<u8>) {
    let (mut window, mut bits) = (0_u64, 0);
    for &byte in text {
        let length = u32::from(LENGTHS[byte as usize]);
        window = window << length | u64::from(CODES[byte as usize]);
        bits += length;
        while bits >= 8 {
            bits -= 8;
            out.push((window >> bits) as u8);
        }
    }
    if bits > 0 {
        out.push((window << (8 - bits)) as u8 | (0xff >> bits));
    }
}

#[cfg(test)]
mod tests {
    use super::{coded_len, decode, encode};
    use proptest::prelude::*;

    fn decoded(coded: &[u8]) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        decode(coded, &mut out).map(|()| out)
    }

    #[test]
    fn example_of_the_rfc() {
        // RFC 7541 appendix C.4.1.
        let coded = [
            0xf1, 0xe3, 0xc2, 0xe5, 0xf2, 0x3a, 0x6b, 0xa0, 0xab, 0x90, 0xf4, 0xff,
        ];
        assert_eq!(decoded(&coded).as_deref(), Some(&b"www.example.com"[..]));
    }

    #[test]
    fn padding_is_short_and_all_ones() {
        assert_eq!(decoded(&[]), Some(vec![]));
        // `a` is 00011.
        assert_eq!(decoded(&[0b0001_1111]), Some(b"a".to_vec()));
        assert_eq!(decoded(&[0b0001_1110]), None);
        assert_eq!(decoded(&[0b0001_1011]), None);
        assert_eq!(decoded(&[0b0001_1111, 0xff]), None, "a byte of padding");
        assert_eq!(decoded(&[0xff]), None);
        assert_eq!(decoded(&[0xff, 0xff, 0xff, 0xff]), None, "end-of-string");
        assert_eq!(
            decoded(&[0xff, 0xff, 0xff, 0xfc]),
            None,
            "end-of-string, nothing more"
        );
        assert_eq!(decoded(&[0xff; 16]), None);
    }

    proptest! {
        #[test]
        fn what_is_encoded_is_decoded(text in proptest::collection::vec(any::<u8>(), 0..300)) {
            let mut coded = Vec::new();
            encode(&text, &mut coded);
            prop_assert_eq!(coded.len(), coded_len(&text));
            prop_assert_eq!(decoded(&coded), Some(text));
        }

        #[test]
        fn what_is_decoded_is_encoded(coded in proptest::collection::vec(any::<u8>(), 0..20)) {
            if let Some(text) = decoded(&coded) {
                let mut again = Vec::new();
                encode(&text, &mut again);
                prop_assert_eq!(again, coded);
            }
        }
    }
}
