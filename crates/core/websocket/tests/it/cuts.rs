//! Random streams beside the naive reader, and random cuts.

use crate::naive;
use crate::seen::{DEFLATE, frame, read};
use drumfire_websocket::Agreed;
use proptest::prelude::*;
use proptest::sample::Index;

/// A stream of frames, most of them valid, some damaged.
fn stream() -> impl Strategy<Value = Vec<u8>> {
    let first = prop_oneof![
        8 => prop::sample::select(&[0x81_u8, 0x82, 0x01, 0x02, 0x00, 0x80, 0x89, 0x8a][..]),
        1 => prop::sample::select(&[0x88_u8, 0xc1, 0x41, 0xc2, 0x83, 0x09][..]),
        1 => any::<u8>(),
    ];
    let payload = prop_oneof![
        6 => "[aé☃🦀]{0,6}".prop_map(String::into_bytes),
        1 => prop::collection::vec(any::<u8>(), 0..8),
        1 => (120..140_usize).prop_map(|length| vec![b'x'; length]),
        1 => Just(b"\x03\xe8bye".to_vec()),
        1 => Just(b"\xf2\x48\xcd\xc9\xc9\x07\x00".to_vec()),
    ];
    let frame = (first, payload).prop_map(|(first, payload)| frame(first, &payload));
    let damage = prop::option::weighted(0.2, (any::<Index>(), any::<u8>()));
    (prop::collection::vec(frame, 0..12), damage).prop_map(|(frames, damage)| {
        let mut bytes = frames.concat();
        if let (Some((at, byte)), false) = (damage, bytes.is_empty()) {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        bytes
    })
}

proptest! {
    #[test]
    fn events_are_those_of_the_naive_reader(stream in stream(), keep in 0..20_usize) {
        let (seen, _) = read(&Agreed::default(), keep, [&stream[..]]);
        prop_assert_eq!(seen, naive::read(&stream, keep));
    }

    #[test]
    fn three_pieces_are_one(
        stream in stream(),
        cuts: [Index; 2],
        keep in 0..20_usize,
        is_compressed: bool,
    ) {
        let agreed = if is_compressed { DEFLATE } else { Agreed::default() };
        let mut cuts = cuts.map(|cut| cut.index(stream.len() + 1));
        cuts.sort_unstable();
        let pieces = [&stream[..cuts[0]], &stream[cuts[0]..cuts[1]], &stream[cuts[1]..]];
        let whole = read(&agreed, keep, [&stream[..]]);
        prop_assert_eq!(&read(&agreed, keep, pieces), &whole);
        prop_assert_eq!(read(&agreed, keep, stream.chunks(1)), whole);
    }
}
