//! Arbitrary bytes as responses: the machine's events are the same for all cuts and all cached
//! heads, and the limits hold. Dripped input uses only the strict parser, and whole input first
//! uses the fast parser, so this compares the two parsers as well.
//!
//! The first byte of the input selects the request, the end of the stream and the limits; the
//! second the cuts.

#![no_main]

use drumfire_corpus::StreamEnd;
use drumfire_http1::{Limits, Persistence, RequestKind, Shared};
use libfuzzer_sys::fuzz_target;

#[expect(dead_code, reason = "the tests of http1 use more of it")]
#[path = "../../crates/core/http1/tests/it/replay.rs"]
mod replay;

use replay::{Setting, Transcript, replay};

/// Limits that short input can exceed.
const TIGHT: Limits = Limits {
    head_bytes: 200,
    header_count: 5,
    interim: 2,
    chunk_extension_bytes: 8,
    body_bytes: Some(20),
};

fn setting(choice: u8) -> Setting {
    Setting {
        kind: match choice & 3 {
            1 => RequestKind::Head,
            2 => RequestKind::Connect,
            _ => RequestKind::Normal,
        },
        persistence: if choice & 4 == 0 {
            Persistence::KeepAlive
        } else {
            Persistence::Close
        },
        limits: if choice & 8 == 0 {
            Limits::default()
        } else {
            TIGHT
        },
        end: match choice >> 4 & 3 {
            1 => StreamEnd::Fin,
            2 => StreamEnd::Rst,
            _ => StreamEnd::Open,
        },
        at_once: choice & 64 != 0,
    }
}

/// Cuts with lengths from a seed.
fn pieces(mut stream: &[u8], seed: u8) -> Vec<&[u8]> {
    let mut state = u32::from(seed) + 1;
    let mut pieces = Vec::new();
    while !stream.is_empty() {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let (piece, rest) = stream.split_at((state >> 24) as usize % 40 % (stream.len() + 1));
        pieces.push(piece);
        stream = rest;
    }
    pieces
}

fn keeps_limits(seen: &Transcript, limits: &Limits) {
    let interim = seen.interim.len();
    assert!(interim <= limits.interim as usize);
    assert!(
        seen.interim
            .iter()
            .all(|status| (100..200).contains(status) && *status != 101)
    );
    if let Some(limit) = limits.body_bytes {
        assert!(seen.body.len() as u64 <= limit);
    }
    if let Some(head) = &seen.head {
        assert!(!(100..200).contains(&head.status) && head.status <= 999);
        assert!(head.fields.len() <= limits.header_count as usize);
    }
    if let Some(end) = &seen.end {
        assert!(seen.error.is_none() && seen.head.is_some());
        assert_eq!(end.body_bytes, seen.body.len() as u64);
        assert_eq!(end.interim as usize, interim);
    }
    if let Some(hint) = seen.error.as_ref().and_then(|error| error.hint()) {
        assert!(hint.len() <= 80);
        assert!(
            hint.bytes()
                .all(|byte| byte == b' ' || byte.is_ascii_graphic())
        );
    }
}

fuzz_target!(|data: &[u8]| {
    let [choice, seed, stream @ ..] = data else {
        return;
    };
    let setting = setting(*choice);
    let mut shared = Shared::new(setting.limits);
    let whole = replay([stream], setting, &mut shared);
    keeps_limits(&whole, &setting.limits);
    assert_eq!(replay([stream], setting, &mut shared), whole, "remembered");
    assert_eq!(
        replay(stream.chunks(1), setting, &mut shared),
        whole,
        "dripped"
    );
    assert_eq!(
        replay(pieces(stream, *seed), setting, &mut shared),
        whole,
        "cut"
    );
});
