//! Damaged responses: the machine's events do not depend on how the response is split, or on
//! whether a head is remembered. Only the strict reader reads single bytes, and the fast reader
//! comes first for a whole response, so this also compares the two readers.

use crate::replay::{Setting, replay};
use drumfire_corpus::Case;
use drumfire_http1::Shared;
use proptest::prelude::*;
use proptest::sample::Index;
use std::sync::LazyLock;

/// Cases that are short enough to be damaged often.
static CASES: LazyLock<Vec<Case>> = LazyLock::new(|| {
    let short = |case: &Case| case.bytes().len() <= 512;
    drumfire_corpus::all().into_iter().filter(short).collect()
});

#[derive(Clone, Debug)]
enum Damage {
    Replace(Index, u8),
    Insert(Index, u8),
    Remove(Index),
    Double(Index),
    Cut(Index),
}

/// Bytes that have a meaning for a reader, and any others.
fn byte() -> impl Strategy<Value = u8> {
    prop_oneof![
        prop::sample::select(b"\r\n \t:;,\"0159afAFHTP/.\x00\x7f\x80\xff-+xCc".to_vec()),
        any::<u8>(),
    ]
}

fn damage() -> impl Strategy<Value = Damage> {
    prop_oneof![
        4 => (any::<Index>(), byte()).prop_map(|(at, byte)| Damage::Replace(at, byte)),
        4 => (any::<Index>(), byte()).prop_map(|(at, byte)| Damage::Insert(at, byte)),
        4 => any::<Index>().prop_map(Damage::Remove),
        1 => any::<Index>().prop_map(Damage::Double),
        1 => any::<Index>().prop_map(Damage::Cut),
    ]
}

fn apply(damage: &Damage, bytes: &mut Vec<u8>) {
    if bytes.is_empty() {
        return;
    }
    match damage {
        Damage::Replace(at, byte) => {
            let at = at.index(bytes.len());
            bytes[at] = *byte;
        }
        Damage::Insert(at, byte) => bytes.insert(at.index(bytes.len()), *byte),
        Damage::Remove(at) => {
            bytes.remove(at.index(bytes.len()));
        }
        Damage::Double(at) => bytes.extend_from_within(at.index(bytes.len())..),
        Damage::Cut(at) => bytes.truncate(at.index(bytes.len())),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn damaged_responses_read_the_same_in_every_cut(
        case in prop::sample::select(&CASES[..]),
        damages in prop::collection::vec(damage(), 0..6),
        cuts in prop::collection::vec(any::<Index>(), 0..6),
    ) {
        let setting = Setting::from_case(&case);
        let mut bytes = case.bytes();
        let mut warm = Shared::new(setting.limits);
        replay([&bytes[..]], setting, &mut warm);
        for damage in &damages {
            apply(damage, &mut bytes);
        }
        let whole = replay([&bytes[..]], setting, &mut Shared::new(setting.limits));
        prop_assert_eq!(&replay([&bytes[..]], setting, &mut warm), &whole);
        prop_assert_eq!(&replay(bytes.chunks(1), setting, &mut warm), &whole);
        let at_once = Setting { at_once: true, ..setting };
        prop_assert_eq!(&replay([&bytes[..]], at_once, &mut warm), &whole);
        let mut places: Vec<usize> = cuts.iter().map(|at| at.index(bytes.len() + 1)).collect();
        places.sort_unstable();
        let mut pieces = Vec::new();
        let mut from = 0;
        for to in places.into_iter().chain([bytes.len()]) {
            pieces.push(&bytes[from..to]);
            from = to;
        }
        prop_assert_eq!(&replay(pieces.iter().copied(), setting, &mut warm), &whole);
        prop_assert_eq!(&replay(pieces, at_once, &mut warm), &whole);
    }
}
