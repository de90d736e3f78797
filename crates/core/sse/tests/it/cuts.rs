//! Random streams beside the standard's algorithm, and random cuts.

use crate::naive;
use crate::seen::{events, read};
use drumfire_sse::{Ending, Reader};
use proptest::prelude::*;
use proptest::sample::Index;

/// A stream of the standard's tokens and of other bytes.
fn stream() -> impl Strategy<Value = Vec<u8>> {
    const TOKENS: [&[u8]; 24] = [
        b"data",
        b"event",
        b"id",
        b"retry",
        b":",
        b": ",
        b"\n",
        b"\r",
        b"\r\n",
        b"\n\n",
        b"\r\r",
        b"\r\n\r\n",
        b" ",
        b"a",
        b"12",
        b"\0",
        b"{",
        b"}",
        b"\"",
        b"[DONE]",
        b"data: ",
        b"data:{}",
        b"\xef\xbb\xbf",
        b"\xc3\xa9",
    ];
    let token = prop_oneof![
        8 => (0..TOKENS.len()).prop_map(|index| TOKENS[index].to_vec()),
        1 => proptest::collection::vec(any::<u8>(), 1..3),
    ];
    proptest::collection::vec(token, 0..40).prop_map(|tokens| tokens.concat())
}

proptest! {
    #[test]
    fn events_are_those_of_the_standard(stream in stream()) {
        let (mut seen, ending) = events([&stream[..]]);
        if ending == Ok(Ending::Forgiven) {
            seen.pop();
        }
        prop_assert_eq!(seen, naive::read(&stream));
    }

    #[test]
    fn three_slices_are_one(stream in stream(), cuts in any::<[Index; 2]>()) {
        let mut cuts = cuts.map(|cut| cut.index(stream.len() + 1));
        cuts.sort_unstable();
        let slices = [&stream[..cuts[0]], &stream[cuts[0]..cuts[1]], &stream[cuts[1]..]];
        let whole = events([&stream[..]]);
        prop_assert_eq!(events(slices), whole);
    }

    #[test]
    fn a_used_reader_reads_as_a_new_one(first in stream(), second in stream(), size in 1..9_usize) {
        let mut used = Reader::new(1 << 20);
        let _first = read(&mut used, first.chunks(size));
        used.begin(1 << 20);
        let new = read(&mut Reader::new(1 << 20), second.chunks(size));
        prop_assert_eq!(read(&mut used, second.chunks(size)), new);
    }

    #[test]
    fn stamps_never_decrease(stream in stream(), size in 1..9_usize) {
        let (events, _) = read(&mut Reader::new(1 << 20), stream.chunks(size));
        prop_assert!(events.is_sorted_by_key(|(_, stamp)| *stamp));
    }
}
