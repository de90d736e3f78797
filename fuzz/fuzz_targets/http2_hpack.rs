//! Arbitrary bytes as a sequence of header blocks: the decoder keeps its bounds, reports correctly
//! whether a block may be skipped, and decodes its own encoder's output like another decoder.
//!
//! The first byte of each block is its length.

#![no_main]

use drumfire_http2::hpack::{Decoder, Effect};
use libfuzzer_sys::fuzz_target;

type Fields = Vec<(Vec<u8>, Vec<u8>)>;

/// A table size that short input can fill.
const TABLE_BYTES: usize = 256;

fn decode(decoder: &mut Decoder, block: &[u8]) -> Option<(Effect, Fields)> {
    let mut fields = Fields::new();
    let effect = decoder.decode(block, |name, value| {
        fields.push((name.to_vec(), value.to_vec()))
    });
    effect.ok().map(|effect| (effect, fields))
}

fn table(decoder: &Decoder) -> Fields {
    let copy = |(name, value): (&[u8], &[u8])| (name.to_vec(), value.to_vec());
    decoder.table().map(copy).collect()
}

fuzz_target!(|data: &[u8]| {
    let mut decoder = Decoder::new(TABLE_BYTES);
    let mut fresh = Decoder::new(TABLE_BYTES);
    let mut rest = data;
    while let Some((&length, after)) = rest.split_first() {
        let (block, after) = after.split_at(after.len().min(usize::from(length)));
        rest = after;
        let (before, epoch) = (table(&decoder), decoder.epoch());
        let Some((effect, fields)) = decode(&mut decoder, block) else {
            return;
        };
        assert_eq!(decoder.epoch() != epoch, effect == Effect::Changed);
        match effect {
            Effect::Changed => {}
            Effect::Unchanged => {
                assert_eq!(table(&decoder), before);
                // The block may be skipped, because decoding it again gives the same result.
                assert_eq!(decode(&mut decoder, block), Some((effect, fields)));
            }
            Effect::Independent => {
                assert_eq!(table(&decoder), before);
                assert_eq!(decode(&mut fresh, block), Some((effect, fields)));
            }
        }
        let entries = table(&decoder);
        let size: usize = entries
            .iter()
            .map(|(name, value)| name.len() + value.len() + 32)
            .sum();
        assert!(size <= TABLE_BYTES && size == decoder.table_size());
    }
});
