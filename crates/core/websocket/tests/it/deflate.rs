//! permessage-deflate (RFC 7692): the examples of the RFC, streams of another encoder, bombs.

use crate::seen::{DEFLATE, LIMIT, Seen, frame, read};
use drumfire_websocket::{
    Agreed, Deflate, Kind, Notice, Outgoing, Reader, Shared, Takeover, Violation, WindowBits,
    Writer,
};
use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress};
use proptest::prelude::*;
use std::num::NonZeroUsize;

const KEEP: usize = 1 << 20;

fn text(text: &str, length_sent: u64, frames: u32) -> Seen {
    Seen::Message(
        Kind::Text,
        text.into(),
        text.len() as u64,
        length_sent,
        frames,
    )
}

/// Checks what is found in these bytes, for every cut.
fn check(agreed: &Agreed, bytes: &[u8], expected: &[Seen]) -> Vec<&'static str> {
    let whole = read(agreed, KEEP, [bytes]);
    assert_eq!(whole.0, expected, "{}", bytes.escape_ascii());
    assert_eq!(read(agreed, KEEP, bytes.chunks(1)), whole, "dripped");
    for at in 0..bytes.len() {
        let halves: [&[u8]; 2] = bytes.split_at(at).into();
        assert_eq!(read(agreed, KEEP, halves), whole, "cut at {at}");
    }
    whole.1.iter().map(Notice::name).collect()
}

fn with(server_takeover: Takeover, bits: u8) -> Agreed {
    let bits = WindowBits::new(bits).expect("in range");
    Agreed {
        protocol: None,
        deflate: Some(Deflate {
            server_takeover,
            client_takeover: server_takeover,
            server_window_bits: bits,
            client_window_bits: bits,
        }),
    }
}

#[test]
fn the_examples_of_the_rfc() {
    // Section 7.2.3, in its order: one block, fragments, a shared window, no compression, a final
    // block, two blocks.
    let hello = text("Hello", 7, 1);
    let none = check(
        &DEFLATE,
        b"\xc1\x07\xf2\x48\xcd\xc9\xc9\x07\x00",
        std::slice::from_ref(&hello),
    );
    assert!(none.is_empty());
    let bytes = b"\x41\x03\xf2\x48\xcd\x80\x04\xc9\xc9\x07\x00";
    check(&DEFLATE, bytes, &[text("Hello", 7, 2)]);
    let bytes = b"\xc1\x07\xf2\x48\xcd\xc9\xc9\x07\x00\xc1\x05\xf2\x00\x11\x00\x00";
    check(&DEFLATE, bytes, &[hello.clone(), text("Hello", 5, 1)]);
    let alone = [hello.clone(), Seen::Violation(Violation::Decompress)];
    check(&with(Takeover::No, 15), bytes, &alone);
    let bytes = b"\xc1\x0b\x00\x05\x00\xfa\xff\x48\x65\x6c\x6c\x6f\x00";
    check(&DEFLATE, bytes, &[text("Hello", 11, 1)]);
    let bytes = b"\xc1\x08\xf3\x48\xcd\xc9\xc9\x07\x00\x00";
    assert!(check(&DEFLATE, bytes, &[text("Hello", 8, 1)]).is_empty());
    let bytes = b"\xc1\x0d\xf2\x48\x05\x00\x00\x00\xff\xff\xca\xc9\xc9\x07\x00";
    check(&DEFLATE, bytes, &[text("Hello", 13, 1)]);
}

#[test]
fn messages_that_are_not_compressed_right() {
    let bad = [Seen::Violation(Violation::Decompress)];
    for bytes in [
        // Cut within a block, empty, a block of a reserved type, a reference before the beginning.
        &b"\xc1\x04\xf2\x48\xcd\xc9"[..],
        b"\xc1\x06\xf2\x48\xcd\xc9\xc9\x07",
        b"\xc1\x00",
        b"\xc1\x01\x07",
        b"\xc1\x05\xf2\x00\x11\x00\x00",
    ] {
        check(&DEFLATE, bytes, &bad);
    }
    // A final block without the empty block after it is complete.
    let bytes = b"\xc1\x07\xf3\x48\xcd\xc9\xc9\x07\x00\x81\x01a";
    let notices = check(&DEFLATE, bytes, &[text("Hello", 7, 1), text("a", 1, 1)]);
    assert_eq!(notices, ["ws_final_block"]);
    for bytes in [
        &b"\xc9\x00"[..],
        b"\x41\x03\xf2\x48\xcd\xc0\x04\xc9\xc9\x07\x00",
    ] {
        check(
            &DEFLATE,
            bytes,
            &[Seen::Violation(Violation::CompressedBit)],
        );
    }
    // The text counts, not its compressed form.
    check(
        &DEFLATE,
        &frame(0xc1, &packed(&[b"\xff"], 15)[0]),
        &[Seen::Violation(Violation::Text)],
    );
    let (_, notices) = read(&Agreed::default(), KEEP, [&b"\x81\x01a"[..]]);
    assert_eq!(notices.iter().count(), 0);
}

/// Messages compressed by flate2, each with the context of the earlier ones.
fn packed<M: AsRef<[u8]>>(messages: &[M], bits: u8) -> Vec<Vec<u8>> {
    let mut stream = Compress::new_with_window_bits(Compression::default(), false, bits);
    let pack = |message: &M| {
        let message = message.as_ref();
        let mut out = Vec::with_capacity(message.len() * 2 + 1000);
        let done = stream.compress_vec(message, &mut out, FlushCompress::Sync);
        assert!(done.is_ok() && out.ends_with(&[0, 0, 0xff, 0xff]));
        out.truncate(out.len() - 4);
        out
    };
    messages.iter().map(pack).collect()
}

/// Messages that repeat each other, so that contexts matter.
fn messages() -> impl Strategy<Value = Vec<String>> {
    let word = prop::sample::select(&["price", "BTC", "{\"a\":", "é", "0.123", "🦀🦀", "}"][..]);
    let message = prop::collection::vec(word, 1..60).prop_map(|words| words.concat());
    prop::collection::vec(message, 1..8)
}

proptest! {
    #[test]
    fn messages_of_another_encoder_are_read(
        messages in messages(),
        bits in 9..=15_u8,
        size in 1..200_usize,
        fragment in 1..60_usize,
    ) {
        let agreed = with(Takeover::Yes, bits);
        let (mut bytes, mut expected) = (Vec::new(), Vec::new());
        for (packed, message) in packed(&messages, bits).iter().zip(&messages) {
            let fragments: Vec<&[u8]> = packed.chunks(fragment).collect();
            let last = fragments.len() - 1;
            for (at, payload) in fragments.iter().enumerate() {
                let first = if at == 0 { 0x41 } else { 0x00 };
                bytes.extend(frame(first | if at == last { 0x80 } else { 0 }, payload));
            }
            expected.push(text(message, packed.len() as u64, fragments.len() as u32));
        }
        prop_assert_eq!(read(&agreed, KEEP, bytes.chunks(size)).0, expected);
    }

    #[test]
    fn our_messages_are_read_by_another_decoder(
        messages in messages(),
        bits in 9..=15_u8,
        takes_over: bool,
        fragment in prop::option::of(1..60_usize),
        masks: u64,
    ) {
        let takeover = if takes_over { Takeover::Yes } else { Takeover::No };
        let agreed = with(takeover, bits);
        let (mut writer, mut shared) = (Writer::new(&agreed), Shared::default());
        let mut state = masks;
        let mut mask = || {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            (state >> 32) as u32
        };
        let mut inflate = Decompress::new_with_window_bits(false, bits);
        for message in &messages {
            let mut out = Vec::new();
            let outgoing = Outgoing {
                fragment_bytes: fragment.and_then(NonZeroUsize::new),
                ..Outgoing::new(Kind::Text, message.as_bytes())
            };
            writer.message(&mut out, outgoing, &mut mask, &mut shared);
            let mut packed = unframe(&out);
            packed.extend_from_slice(&[0, 0, 0xff, 0xff]);
            if takeover == Takeover::No {
                inflate = Decompress::new_with_window_bits(false, bits);
            }
            let mut text = Vec::with_capacity(message.len() + 100);
            let done = inflate.decompress_vec(&packed, &mut text, FlushDecompress::Sync);
            prop_assert!(done.is_ok());
            prop_assert_eq!(text, message.as_bytes());
        }
    }
}

/// The payload of a compressed text, from the client's frames.
fn unframe(mut bytes: &[u8]) -> Vec<u8> {
    let mut payload = Vec::new();
    let mut expected = 0x41;
    loop {
        let (first, second) = (bytes[0], bytes[1]);
        assert_eq!(first & !0x80, expected);
        assert_eq!(second & 0x80, 0x80, "masked");
        let (length, header) = match second & 0x7f {
            126 => (usize::from(u16::from_be_bytes([bytes[2], bytes[3]])), 4),
            127 => unreachable!("the messages are short"),
            length => (usize::from(length), 2),
        };
        let (key, rest) = bytes[header..].split_at(4);
        let (masked, rest) = rest.split_at(length);
        payload.extend((0..).zip(masked).map(|(at, byte)| byte ^ key[at % 4]));
        (bytes, expected) = (rest, 0x00);
        if first & 0x80 != 0 {
            assert!(bytes.is_empty());
            return payload;
        }
    }
}

#[test]
fn messages_without_compression_have_no_bit_for_it() {
    let mut shared = Shared::default();
    let mut first_byte = |agreed: &Agreed, min: usize, payload: &[u8]| {
        let mut writer = Writer::new(agreed);
        writer.set_compress_min(min);
        let mut out = Vec::new();
        writer.message(
            &mut out,
            Outgoing::new(Kind::Binary, payload),
            &mut || 0,
            &mut shared,
        );
        out[0]
    };
    assert_eq!(first_byte(&DEFLATE, 0, b"abc"), 0xc2);
    assert_eq!(first_byte(&DEFLATE, 4, b"abc"), 0x82);
    assert_eq!(first_byte(&DEFLATE, 0, b""), 0x82);
    assert_eq!(first_byte(&Agreed::default(), 0, b"abc"), 0x82);
    // No compressor has a window of 256 bytes.
    assert_eq!(first_byte(&with(Takeover::Yes, 8), 0, b"abc"), 0x82);
    assert_eq!(first_byte(&with(Takeover::No, 8), 0, b"abc"), 0x82);
}

#[test]
fn bombs_end_at_the_limit() {
    let zeros = vec![0; LIMIT as usize];
    for (length, is_allowed) in [(LIMIT as usize, true), (LIMIT as usize + 1, false)] {
        let message = [&zeros[..], b"0"].concat();
        let packed = packed(&[&message[..length]], 15).remove(0);
        assert!(packed.len() < 2000);
        for size in [1, 100, 100_000] {
            let bytes = frame(0xc2, &packed);
            let (seen, _) = read(&DEFLATE, 3, bytes.chunks(size));
            let expected = match is_allowed {
                true => {
                    let sent = packed.len() as u64;
                    Seen::Message(Kind::Binary, vec![0; 3], LIMIT, sent, 1)
                }
                false => Seen::Violation(Violation::MessageTooLong),
            };
            assert_eq!(seen, [expected], "{length} in {size}");
        }
    }
}

#[test]
fn readers_of_a_worker_do_not_see_each_others_contexts() {
    let messages = ["alpha alpha alpha", "beta beta beta", "alpha beta alpha"];
    let streams: Vec<_> = (0..3)
        .map(|turn| {
            let mut own = messages;
            own.rotate_left(turn);
            (own, packed(&own, 15))
        })
        .collect();
    let mut shared = Shared::default();
    let mut readers = [(); 3].map(|()| Reader::new(&DEFLATE, KEEP));
    let mut seen = [const { Vec::new() }; 3];
    for at in 0..3 {
        // The three messages arrive interleaved, a few bytes at a time.
        let frames: Vec<_> = streams
            .iter()
            .map(|(_, packed)| frame(0xc1, &packed[at]))
            .collect();
        let longest = frames.iter().map(Vec::len).max().unwrap_or_default();
        for start in (0..longest).step_by(3) {
            for (turn, frame) in frames.iter().enumerate() {
                let piece = frame.get(start..).unwrap_or_default();
                let piece = &piece[..piece.len().min(3)];
                let fed =
                    crate::seen::feed(&mut readers[turn], &mut shared, piece, &mut seen[turn]);
                assert_eq!(fed, Ok(()));
            }
        }
    }
    for ((messages, packed), seen) in streams.iter().zip(&seen) {
        let expected = messages.iter().zip(packed);
        let expected: Vec<_> = expected
            .map(|(message, packed)| text(message, packed.len() as u64, 1))
            .collect();
        assert_eq!(*seen, expected);
    }
}
