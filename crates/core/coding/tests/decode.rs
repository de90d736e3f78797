//! Decoding with all codings: whole bodies, pieces, damaged, truncated and layered bodies, and
//! bombs.

mod encode;

use drumfire_coding::{Coding, Decoder, Error};
use encode::encode;
use proptest::prelude::*;

const CODINGS: [Coding; 4] = [Coding::Br, Coding::Deflate, Coding::Gzip, Coding::Zstd];
const LIMIT: u64 = 1 << 20;

/// Decodes a body in pieces; returns the output and the result.
fn decode<'p>(
    names: &str,
    pieces: impl IntoIterator<Item = &'p [u8]>,
    limit: u64,
) -> Result<Vec<u8>, Error> {
    let mut decoder = Decoder::new(names.as_bytes(), limit)?.expect("a coding");
    let mut body = Vec::new();
    for piece in pieces {
        decoder.push(piece, &mut |bytes| {
            assert!(
                !bytes.is_empty() && bytes.len() <= 16 * 1024,
                "a piece of {}",
                bytes.len()
            );
            body.extend_from_slice(bytes);
        })?;
    }
    assert_eq!(decoder.finish()?, body.len() as u64);
    Ok(body)
}

/// Text with some repetition, longer than a buffer.
fn text() -> Vec<u8> {
    (0..9000u32)
        .flat_map(|n| format!("{n:x},").into_bytes())
        .collect()
}

#[test]
fn every_coding_is_undone_in_pieces_of_any_size() {
    for coding in CODINGS {
        for body in [&b""[..], b"a", b"hello hello hello", &text()] {
            let coded = encode(coding, body);
            for size in [1, 2, 7, 1000, usize::MAX] {
                let size = size.min(coded.len());
                let decoded = decode(coding.name(), coded.chunks(size), LIMIT);
                assert_eq!(
                    decoded.as_deref(),
                    Ok(body),
                    "{coding:?} in pieces of {size}"
                );
            }
        }
    }
}

#[test]
fn names_are_read_as_a_list() {
    let identity = |value: &[u8]| Decoder::new(value, LIMIT).map(|decoder| decoder.is_none());
    assert_eq!(identity(b""), Ok(true));
    assert_eq!(identity(b"identity"), Ok(true));
    assert_eq!(identity(b" Identity , "), Ok(true));
    let coded = encode(Coding::Gzip, b"hello");
    for name in ["GZIP", "x-gzip", "identity, gzip", " gzip\t"] {
        assert_eq!(
            decode(name, [&coded[..]], LIMIT).as_deref(),
            Ok(&b"hello"[..]),
            "{name}"
        );
    }
    let unknown = |value| Decoder::new(value, LIMIT).err();
    assert_eq!(
        unknown(&b"compress"[..]),
        Some(Error::Unknown("compress".into()))
    );
    assert_eq!(unknown(b"\x1b[2J"), Some(Error::Unknown("\\x1b[2J".into())));
}

#[test]
fn layers_are_undone_from_the_last_and_bounded() {
    let body = text();
    let mut coded = body.clone();
    let order = [
        Coding::Zstd,
        Coding::Gzip,
        Coding::Br,
        Coding::Deflate,
        Coding::Gzip,
    ];
    for coding in order {
        coded = encode(coding, &coded);
    }
    let names: Vec<&str> = order.iter().map(|coding| coding.name()).collect();
    assert_eq!(
        decode(&names.join(", "), coded.chunks(100), LIMIT),
        Ok(body)
    );
    let six = ["gzip"; 6].join(",");
    assert_eq!(
        Decoder::new(six.as_bytes(), LIMIT).err(),
        Some(Error::Layers)
    );
}

#[test]
fn deflate_is_undone_with_and_without_its_wrapper() {
    let body = text();
    let bare = encode::deflate_bare(&body);
    assert_eq!(decode("deflate", bare.chunks(1), LIMIT).as_ref(), Ok(&body));
    assert_eq!(decode("deflate", [&bare[..]], LIMIT).as_ref(), Ok(&body));
}

#[test]
fn members_and_frames_are_put_together() {
    for coding in [Coding::Gzip, Coding::Zstd] {
        let coded = [
            encode(coding, b"one "),
            encode(coding, b""),
            encode(coding, b"two"),
        ]
        .concat();
        for size in [1, coded.len()] {
            let decoded = decode(coding.name(), coded.chunks(size), LIMIT);
            assert_eq!(decoded.as_deref(), Ok(&b"one two"[..]), "{coding:?}");
        }
    }
}

/// Frames of zstd's formats before RFC 8878, and a current frame with a window of 128 MiB: all
/// contain `hello` in an uncompressed block.
#[test]
fn frames_that_the_standard_does_not_know_are_errors() {
    let frames: [&[u8]; 8] = [
        b"\x28\xb5\x2f\xfd\0\x88\x29\0\0hello",
        b"\x27\xb5\x2f\xfd\0\x68\x40\0\x05hello\xc0\0\0",
        b"\x27\xb5\x2f\xfd\0\x88\x40\0\x05hello\xc0\0\0",
        b"\x26\xb5\x2f\xfd\0\x40\0\x05hello\xc0\0\0",
        b"\x25\xb5\x2f\xfd\0\x40\0\x05hello\xc0\0\0",
        b"\x24\xb5\x2f\xfd\0\x40\0\x05hello\xc0\0\0",
        b"\x23\xb5\x2f\xfd\x40\0\x05hello\xc0\0\0",
        b"\x22\xb5\x2f\xfd\x40\0\x05hello\xc0\0\0",
    ];
    for frame in frames {
        for size in [1, frame.len()] {
            let decoded = decode("zstd", frame.chunks(size), LIMIT);
            let frame = frame.escape_ascii();
            assert_eq!(decoded, Err(Error::Decode(Coding::Zstd)), "{frame}");
        }
    }
    let within = b"\x28\xb5\x2f\xfd\0\x68\x29\0\0hello";
    assert_eq!(
        decode("zstd", [&within[..]], LIMIT).as_deref(),
        Ok(&b"hello"[..])
    );
}

/// RFC 1951 section 2: distances must not reach before the start. The body copies three bytes from
/// two bytes before the `a`; its checksums match a decoder that finds zeros there.
#[test]
fn nothing_is_copied_from_before_the_start() {
    let bare = b"\x4b\x04\x42\0";
    let head = b"\x1f\x8b\x08\0\0\0\0\0\0\xff";
    let gzip = [&head[..], bare, b"\x9c\x15\x38\xde\x04\0\0\0"].concat();
    let zlib = [b"\x78\x9c", &bare[..], b"\x02\x4a\0\xc3"].concat();
    for (coding, coded) in [
        (Coding::Deflate, &bare[..]),
        (Coding::Deflate, &zlib),
        (Coding::Gzip, &gzip),
    ] {
        for size in [1, coded.len()] {
            let decoded = decode(coding.name(), coded.chunks(size), LIMIT);
            assert_eq!(decoded, Err(Error::Decode(coding)));
        }
    }
}

#[test]
fn what_follows_the_end_is_an_error() {
    for coding in CODINGS {
        for garbage in [&b"\0"[..], b"garbage and more garbage"] {
            let coded = [&encode(coding, b"hello")[..], garbage].concat();
            for size in [1, coded.len()] {
                let decoded = decode(coding.name(), coded.chunks(size), LIMIT);
                assert_eq!(
                    decoded,
                    Err(Error::Decode(coding)),
                    "{garbage:?} in pieces of {size}"
                );
            }
        }
    }
}

#[test]
fn a_cut_body_is_an_error_wherever_it_is_cut() {
    for coding in CODINGS {
        let coded = encode(coding, b"hello hello hello hello");
        for length in 1..coded.len() {
            let decoded = decode(coding.name(), [&coded[..length]], LIMIT);
            assert_eq!(
                decoded,
                Err(Error::Decode(coding)),
                "cut to {length} of {}",
                coded.len()
            );
        }
        // An empty body counts as no content; it is not an error.
        assert_eq!(decode(coding.name(), [], LIMIT), Ok(Vec::new()));
        assert_eq!(decode(coding.name(), [&b""[..]], LIMIT), Ok(Vec::new()));
    }
}

#[test]
fn the_limit_is_exact_and_final() {
    let body = text();
    let length = body.len() as u64;
    for coding in CODINGS {
        let coded = encode(coding, &body);
        assert_eq!(
            decode(coding.name(), coded.chunks(10), length).as_ref(),
            Ok(&body)
        );
        let mut decoder = Decoder::new(coding.name().as_bytes(), length - 1)
            .expect("known")
            .expect("a coding");
        let mut count = 0;
        let mut push =
            |decoder: &mut Decoder| decoder.push(&coded, &mut |bytes| count += bytes.len());
        assert_eq!(push(&mut decoder), Err(Error::Limit));
        assert_eq!(push(&mut decoder), Err(Error::Limit), "it stays");
        assert_eq!(decoder.finish(), Err(Error::Limit));
        assert!(
            (count as u64) < length,
            "nothing beyond the limit is given on"
        );
    }
}

#[test]
fn a_bomb_is_stopped_between_layers_too() {
    // 64 MiB of zeros, compressed with gzip once and twice.
    let zeros = encode::gzip_of_zeros(64 << 20);
    assert_eq!(decode("gzip", [&zeros[..]], LIMIT), Err(Error::Limit));
    let twice = encode(Coding::Gzip, &zeros);
    assert_eq!(decode("gzip, gzip", [&twice[..]], LIMIT), Err(Error::Limit));
    // The bytes between the layers exceed the limit; the output would not.
    let mut empty = Vec::new();
    for _ in 0..10_000 {
        empty.extend_from_slice(&encode(Coding::Gzip, b""));
    }
    let twice = encode(Coding::Gzip, &empty);
    assert_eq!(decode("gzip, gzip", [&twice[..]], 1000), Err(Error::Limit));
}

#[test]
fn a_window_beyond_8_mib_is_refused() {
    let coded = encode::zstd_of_window(24);
    assert_eq!(
        decode("zstd", [&coded[..]], u64::MAX),
        Err(Error::Decode(Coding::Zstd))
    );
    let coded = encode::zstd_of_window(23);
    assert!(decode("zstd", [&coded[..]], u64::MAX).is_ok());
}

#[test]
fn every_field_of_a_gzip_header_is_passed_over() {
    let plain = encode(Coding::Gzip, b"hello");
    let deflated_and_trailer = &plain[10..];
    let head = |flags: u8, rest: &[u8]| {
        let fixed = [0x1f, 0x8b, 8, flags, 0, 0, 0, 0, 0, 255];
        [&fixed[..], rest].concat()
    };
    let decoded = |head: Vec<u8>, size: usize| {
        let coded = [&head[..], deflated_and_trailer].concat();
        decode("gzip", coded.chunks(size), LIMIT)
    };
    let extra = &b"\x03\0abc"[..];
    let mut checked = head(0b1_1110, &[extra, b"name\0comment\0"].concat());
    let mut crc = flate2::Crc::new();
    crc.update(&checked);
    checked.extend_from_slice(&(crc.sum() as u16).to_le_bytes());
    let mut wrong = checked.clone();
    *wrong.last_mut().expect("a checksum") ^= 1;
    for size in [1, 3, 1000] {
        let hello = Ok(b"hello".to_vec());
        assert_eq!(decoded(head(0, b""), size), hello);
        assert_eq!(decoded(head(1, b""), size), hello, "FTEXT changes nothing");
        assert_eq!(decoded(head(0b100, extra), size), hello);
        assert_eq!(decoded(head(0b100, b"\0\0"), size), hello);
        assert_eq!(decoded(head(0b1000, b"name\0"), size), hello);
        assert_eq!(decoded(head(0b1_0000, b"comment\0"), size), hello);
        assert_eq!(decoded(checked.clone(), size), hello);
        let error = Err(Error::Decode(Coding::Gzip));
        assert_eq!(decoded(wrong.clone(), size), error);
        assert_eq!(decoded(head(0b10_0000, b""), size), error, "reserved");
    }
}

#[test]
fn cases_of_the_corpus_that_do_not_decode() {
    let cases = drumfire_corpus::all();
    let damaged = cases
        .iter()
        .filter(|case| case.expected.when_compressed.as_deref() == Some("decode"));
    let mut count = 0;
    for case in damaged {
        let body = case.expected.content.as_deref().expect("a body");
        let coding = match case.name.contains("zstd") {
            true => Coding::Zstd,
            false => Coding::Gzip,
        };
        let result = decode(coding.name(), [body], LIMIT);
        assert_eq!(result, Err(Error::Decode(coding)), "{}", case.name);
        count += 1;
    }
    assert!(count > 0, "the corpus has such cases");
}

proptest! {
    #[test]
    fn what_is_encoded_comes_back(
        coding in prop::sample::select(&CODINGS[..]),
        body in prop::collection::vec(any::<u8>(), 0..2000),
        size in 1usize..300,
    ) {
        let coded = encode(coding, &body);
        prop_assert_eq!(decode(coding.name(), coded.chunks(size), LIMIT), Ok(body));
    }

    /// Damaged bodies give errors or are harmless, never panic, and never depend on the pieces.
    #[test]
    fn damage_reads_the_same_in_every_cut(
        coding in prop::sample::select(&CODINGS[..]),
        body in prop::collection::vec(prop::sample::select(&b"abc"[..]), 0..300),
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
        size in 1usize..20,
    ) {
        let mut coded = encode(coding, &body);
        let at = at.index(coded.len());
        coded[at] = byte;
        let whole = decode(coding.name(), [&coded[..]], LIMIT);
        prop_assert_eq!(decode(coding.name(), coded.chunks(size), LIMIT), whole);
    }
}
