//! Arbitrary bytes as a server's frames, after its SETTINGS and with open requests: the same events
//! whole, dripped and cut anywhere; limits; hints that are safe for a terminal.
//!
//! The first byte of the input selects the limits and the requests, the second the cuts.

#![no_main]

use drumfire_http2::{EndStream, Error, Limits, Settings};
use libfuzzer_sys::fuzz_target;

#[expect(dead_code, reason = "the tests of http2 use more of it")]
#[path = "../../crates/core/http2/tests/it/peer.rs"]
mod peer;

use peer::{Act, Transcript, play, settings};

fn acts(choice: u8, stream: &[u8]) -> Vec<Act> {
    let mut acts = Vec::new();
    // Sometimes the fuzzer also writes the first frame.
    if choice & 1 == 0 {
        acts.push(Act::Serve(settings(&[])));
        acts.extend([Act::Get, Act::GetHead, Act::Post, Act::Post, Act::Get]);
        acts.push(Act::Send(3, 70_000, EndStream::Yes));
        acts.push(Act::Send(4, 10, EndStream::No));
    }
    if choice & 2 != 0 {
        acts.push(Act::Write);
    }
    let (first, second) = stream.split_at(stream.len() / 2);
    acts.push(Act::Serve(first.to_vec()));
    if choice & 5 == 4 {
        acts.push(Act::Reset(1));
    }
    if choice & 8 != 0 {
        acts.push(Act::Write);
    }
    acts.push(Act::Serve(second.to_vec()));
    if choice & 16 != 0 {
        acts.push(Act::End);
    }
    acts
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
    for token in 1..=5 {
        let of_token = |words: &str| {
            let start = format!("{token} {words}");
            seen.seen
                .iter()
                .filter(|seen| seen.starts_with(&start))
                .count()
        };
        assert!(of_token("interim") <= limits.interim as usize);
        assert!(of_token("head") <= 1);
        assert!(of_token("failed") + of_token("unprocessed") + of_token("trailers") <= 1);
    }
    let replies = |sent: &&String| {
        ["SETTINGS ACK", "PING ACK", "RST_STREAM"]
            .iter()
            .any(|kind| sent.contains(kind))
    };
    assert!(seen.sent.iter().filter(replies).count() <= limits.output_bytes as usize);
    if let Some(Error::NotHttp2(what)) = &seen.error {
        let hint = what.hint();
        assert!(hint.len() <= 80);
        assert!(
            hint.bytes()
                .all(|byte| byte == b' ' || byte.is_ascii_graphic())
        );
    }
    if let Some(error) = &seen.error {
        let goaway = format!("GOAWAY {}", error.code());
        assert_eq!(
            seen.sent.last(),
            Some(&goaway),
            "an error is told to the server"
        );
    }
}

fuzz_target!(|data: &[u8]| {
    let [choice, seed, stream @ ..] = data else {
        return;
    };
    let settings = if choice & 32 == 0 {
        Settings::default()
    } else {
        peer::tight()
    };
    let acts = acts(*choice, stream);
    let whole = play(&settings, &acts, |bytes| [bytes]);
    keeps_limits(&whole, &settings.limits);
    assert_eq!(
        play(&settings, &acts, |bytes| bytes.chunks(1)),
        whole,
        "dripped"
    );
    assert_eq!(
        play(&settings, &acts, |bytes| pieces(bytes, *seed)),
        whole,
        "cut"
    );
});
