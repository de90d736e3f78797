//! Compressed messages of any content are restored; other bytes are refused.

use crate::exchange::{Exchange, fields};
use drumfire_grpc::{Compressor, Encoding, Keep, Replies, ReplySettings, Violation};
use proptest::prelude::*;

fn exchange(encoding: Encoding, body: Vec<u8>) -> Exchange {
    Exchange {
        head: fields(&[
            ("content-type", "application/grpc"),
            ("grpc-encoding", encoding.name()),
        ]),
        body: Some(body),
        ..Exchange::with_messages(&[])
    }
}

fn settings(accepted: Encoding) -> ReplySettings {
    ReplySettings {
        replies: Replies::Many,
        receive_limit: 1 << 20,
        accepted,
        keep: Keep::Payload,
    }
}

fn encodings() -> impl Strategy<Value = Encoding> {
    prop_oneof![
        Just(Encoding::Identity),
        Just(Encoding::Gzip),
        Just(Encoding::Zstd)
    ]
}

/// Messages with and without repetition, some longer than any buffer's initial size.
fn payloads() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let random = prop::collection::vec(any::<u8>(), 0..300);
    let repeated = (random.clone(), 1usize..400).prop_map(|(part, times)| part.repeat(times));
    prop::collection::vec(prop_oneof![random, repeated], 0..5)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn what_is_compressed_comes_back(
        encoding in encodings(),
        payloads in payloads(),
        size in 1usize..5000,
    ) {
        let mut compressor = Compressor::new(encoding);
        let mut body = Vec::new();
        for payload in &payloads {
            let start = body.len();
            prop_assert_eq!(compressor.write_message(&mut body, payload), Ok(()));
            let flag = u8::from(encoding != Encoding::Identity && !payload.is_empty());
            prop_assert_eq!(body[start], flag);
        }
        let exchange = exchange(encoding, body);
        let outcome = exchange.play_cut(&settings(encoding), |body| body.chunks(size).collect());
        prop_assert!(outcome.status.is_ok(), "{:?}", outcome.status);
        let received: Vec<_> = outcome.messages.into_iter().map(|message| message.0).collect();
        prop_assert_eq!(received, payloads);
    }

    #[test]
    fn a_bit_that_tips_is_noticed_or_harmless(
        encoding in prop_oneof![Just(Encoding::Gzip), Just(Encoding::Zstd)],
        payload in prop::collection::vec(0u8..4, 1..500),
        place: prop::sample::Index,
        bit in 0u8..8,
    ) {
        let mut body = Vec::new();
        prop_assert_eq!(Compressor::new(encoding).write_message(&mut body, &payload), Ok(()));
        let place = 5 + place.index(body.len() - 5);
        body[place] ^= 1 << bit;
        let outcome = exchange(encoding, body).play(&settings(encoding));
        // gzip has a checksum; not every zstd frame has one.
        if encoding == Encoding::Gzip && outcome.status.violation != Some(Violation::Decompress) {
            prop_assert!(outcome.status.is_ok());
            prop_assert_eq!(&outcome.messages[0].0, &payload);
        }
    }
}

/// Bytes that the usual tools generate from `hello hello hello`, with every field that gzip's
/// header may contain, in two members.
#[test]
fn foreign_streams_are_read() {
    let stored = |text: &[u8]| {
        let length = text.len() as u16;
        let lengths = [length.to_le_bytes(), (!length).to_le_bytes()].concat();
        let mut crc = flate2::Crc::new();
        crc.update(text);
        let sums = [crc.sum().to_le_bytes(), crc.amount().to_le_bytes()].concat();
        [&[1][..], &lengths, text, &sums].concat()
    };
    let fancy = b"\x1f\x8b\x08\x1e\0\0\0\0\0\x03\x03\0abcname\0comment\0";
    let mut crc = flate2::Crc::new();
    crc.update(fancy);
    let sum = (crc.sum() as u16).to_le_bytes();
    let first = [&fancy[..], &sum, &stored(b"hello ")].concat();
    let second = [&b"\x1f\x8b\x08\0\0\0\0\0\0\xff"[..], &stored(b"there")].concat();
    let message = |coded: &[u8]| {
        let length = (coded.len() as u32).to_be_bytes();
        exchange(Encoding::Gzip, [&[1][..], &length, coded].concat())
    };
    let both = [first.clone(), second].concat();
    let outcome = message(&both).play(&settings(Encoding::Gzip));
    assert!(outcome.status.is_ok(), "{:?}", outcome.status);
    assert_eq!(outcome.messages[0].0, b"hello there");

    let refused = |coded: &[u8]| {
        let outcome = message(coded).play(&settings(Encoding::Gzip));
        assert_eq!(
            outcome.status.violation,
            Some(Violation::Decompress),
            "{}",
            coded.escape_ascii()
        );
    };
    for length in 0..first.len() {
        refused(&first[..length]);
        refused(&both[..first.len() + 1 + length % 4]);
    }
    for (place, bit) in [(0, 1), (2, 1), (3, 0x20), (12, 1), (fancy.len(), 1)] {
        let mut wrong = first.clone();
        wrong[place] ^= bit;
        refused(&wrong);
    }
}

/// zstd's format before RFC 8878, with windows of 8 and 128 MiB.
#[test]
fn zstd_frames_are_those_of_the_standard() {
    for window in [0x68, 0x88] {
        let frame = [
            b"\x27\xb5\x2f\xfd\0",
            &[window][..],
            b"\x40\0\x05hello\xc0\0\0",
        ];
        let frame = frame.concat();
        let length = (frame.len() as u32).to_be_bytes();
        let body = [&[1][..], &length, &frame].concat();
        let outcome = exchange(Encoding::Zstd, body).play(&settings(Encoding::Zstd));
        assert_eq!(outcome.status.violation, Some(Violation::Decompress));
    }
}

#[test]
fn zstd_frames_are_whole() {
    let mut body = Vec::new();
    let payload = b"hello hello hello hello".repeat(20);
    assert_eq!(
        Compressor::new(Encoding::Zstd).write_message(&mut body, &payload),
        Ok(())
    );
    let coded = &body[5..];
    for length in 0..coded.len() {
        let cut = [&[1][..], &(length as u32).to_be_bytes(), &coded[..length]].concat();
        let outcome = exchange(Encoding::Zstd, cut).play(&settings(Encoding::Zstd));
        assert_eq!(
            outcome.status.violation,
            Some(Violation::Decompress),
            "{length}"
        );
    }
    let doubled = [coded, coded].concat();
    let frames = [&[1][..], &(doubled.len() as u32).to_be_bytes(), &doubled].concat();
    let outcome = exchange(Encoding::Zstd, frames).play(&settings(Encoding::Zstd));
    assert_eq!(outcome.messages[0].0, payload.repeat(2));
}
