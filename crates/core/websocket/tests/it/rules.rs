//! The rules of RFC 6455, a row for each, read in one piece, byte by byte, and split in two at every
//! place.

use crate::naive;
use crate::seen::{LIMIT, Seen, frame, read};
use drumfire_websocket::{Agreed, Kind, Notice, Violation};

/// How much of a message is kept in these tests.
const KEEP: usize = 1 << 16;

/// Checks what is found in these bytes, for every cut.
fn check(bytes: &[u8], expected: &[Seen]) {
    let plain = Agreed::default();
    let (whole, notices) = read(&plain, KEEP, [bytes]);
    assert_eq!(whole, expected, "{}", bytes.escape_ascii());
    assert_eq!(
        naive::read(bytes, KEEP),
        expected,
        "{}",
        bytes.escape_ascii()
    );
    let dripped = read(&plain, KEEP, bytes.chunks(1));
    assert_eq!(dripped, (whole, notices), "dripped");
    for at in 0..bytes.len().min(1000) {
        let halves: [&[u8]; 2] = bytes.split_at(at).into();
        assert_eq!(read(&plain, KEEP, halves), dripped, "cut at {at}");
    }
}

fn text(text: &str, frames: u32) -> Seen {
    let length = text.len() as u64;
    Seen::Message(Kind::Text, text.into(), length, length, frames)
}

fn binary(bytes: &[u8], frames: u32) -> Seen {
    let length = bytes.len() as u64;
    Seen::Message(Kind::Binary, bytes.to_vec(), length, length, frames)
}

#[test]
fn the_examples_of_the_rfc() {
    // Section 5.7.
    check(b"\x81\x05Hello", &[text("Hello", 1)]);
    check(b"\x01\x03Hel\x80\x02lo", &[text("Hello", 2)]);
    check(b"\x89\x05Hello", &[Seen::Ping(b"Hello".to_vec())]);
    check(b"\x8a\x05Hello", &[Seen::Pong(b"Hello".to_vec())]);
    for length in [256, 65_536] {
        let payload: Vec<u8> = (0..length).map(|at: u32| at as u8).collect();
        check(&frame(0x82, &payload), &[binary(&payload, 1)]);
    }
}

#[test]
fn lengths_at_the_borders_of_their_forms() {
    for length in [0, 1, 124, 125, 126, 127, 65_535, 65_536] {
        let payload = vec![b'a'; length];
        let bytes = [frame(0x82, &payload), frame(0x81, b"x")].concat();
        check(&bytes, &[binary(&payload, 1), text("x", 1)]);
    }
}

#[test]
fn control_frames_come_between_fragments() {
    let bytes = b"\x01\x02ab\x89\x01p\x00\x00\x8a\x00\x00\x01c\x80\x00\x81\x01z";
    let ping = Seen::Ping(b"p".to_vec());
    let events = [ping, Seen::Pong(Vec::new()), text("abc", 4), text("z", 1)];
    check(bytes, &events);
    let long = vec![b'x'; 125];
    let bytes = [frame(0x02, b"12"), frame(0x89, &long), frame(0x80, b"3")].concat();
    check(&bytes, &[Seen::Ping(long), binary(b"123", 2)]);
}

#[test]
fn texts_are_checked_over_fragments() {
    let snowman = "a☃é🦀".as_bytes();
    for at in 0..=snowman.len() {
        let (first, second) = snowman.split_at(at);
        let bytes = [frame(0x01, first), frame(0x89, b""), frame(0x80, second)].concat();
        check(&bytes, &[Seen::Ping(Vec::new()), text("a☃é🦀", 2)]);
    }
    for wrong in [
        &b"\xff"[..],
        b"a\x80",
        b"\xc0\xaf",
        b"\xed\xa0\x80",
        b"\xf4\x90\x80\x80",
        b"\xe2\x98",
        b"ab\xf0\x9f\xa6",
    ] {
        check(&frame(0x81, wrong), &[Seen::Violation(Violation::Text)]);
        check(&frame(0x82, wrong), &[binary(wrong, 1)]);
    }
    // The first wrong byte is enough, although the frame is not complete.
    check(
        b"\x81\x7e\x01\x00ab\xc0",
        &[Seen::Violation(Violation::Text)],
    );
}

#[test]
fn what_a_server_must_not_send() {
    let rows: [(&[u8], Violation); 20] = [
        (b"\xa1\x00", Violation::ReservedBit),
        (b"\x91\x00", Violation::ReservedBit),
        (b"\xc1\x00", Violation::ReservedBit),
        (b"\xc9\x00", Violation::ReservedBit),
        (b"\x83\x00", Violation::Opcode(3)),
        (b"\x87\x00", Violation::Opcode(7)),
        (b"\x8b\x00", Violation::Opcode(11)),
        (b"\x8f\x00", Violation::Opcode(15)),
        (b"\x81\x81\0\0\0\0a", Violation::Masked),
        (b"\x89\x80\0\0\0\0", Violation::Masked),
        (b"\x09\x00", Violation::ControlFragmented),
        (b"\x89\x7e\x00\x7e", Violation::ControlTooLong),
        (b"\x88\x7f", Violation::ControlTooLong),
        (b"\x82\x7f\x80\0\0\0\0\0\0\0", Violation::Length),
        (b"\x80\x00", Violation::Continuation),
        (b"\x00\x01a", Violation::Continuation),
        (b"\x01\x01a\x81\x01b", Violation::Interrupted),
        (b"\x02\x00\x02\x00", Violation::Interrupted),
        (b"\x88\x01\x03", Violation::CloseLength),
        (b"\x88\x03\x03\xe8\xff", Violation::CloseReason),
    ];
    for (bytes, violation) in rows {
        check(bytes, &[Seen::Violation(violation)]);
        // What came before it counts.
        let after = [&b"\x81\x02ok"[..], bytes].concat();
        check(&after, &[text("ok", 1), Seen::Violation(violation)]);
    }
}

#[test]
fn close_frames_end_everything() {
    for (payload, code, reason) in [
        (&b""[..], None, ""),
        (b"\x03\xe8", Some(1000), ""),
        (b"\x0f\xa0bye \xc3\xa9", Some(4000), "bye é"),
    ] {
        let close = Seen::Close(code, reason.to_owned());
        let bytes = frame(0x88, payload);
        check(&bytes, std::slice::from_ref(&close));
        let (_, notices) = read(&Agreed::default(), KEEP, [&bytes[..]]);
        assert!(!notices.contains(Notice::Excess));
        // Bytes after it are discarded, whatever they are.
        let more = [&bytes[..], b"\x81\x01a\xff\xff"].concat();
        check(&more, &[close]);
        let (_, notices) = read(&Agreed::default(), KEEP, [&more[..]]);
        assert!(notices.contains(Notice::Excess));
    }
    for code in [
        0_u16, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000,
    ] {
        let violation = Violation::CloseCode(code);
        check(
            &frame(0x88, &code.to_be_bytes()),
            &[Seen::Violation(violation)],
        );
    }
}

#[test]
fn long_forms_of_lengths_are_tolerated_and_noticed() {
    for bytes in [
        &b"\x81\x7e\x00\x01a"[..],
        b"\x81\x7f\0\0\0\0\0\0\0\x01a",
        b"\x81\x7e\x00\x7d",
    ] {
        let (_, notices) = read(&Agreed::default(), KEEP, [bytes]);
        let names: Vec<_> = notices.iter().map(Notice::name).collect();
        assert_eq!(names, ["ws_long_length"], "{}", bytes.escape_ascii());
    }
    check(b"\x81\x7e\x00\x01a", &[text("a", 1)]);
    let (_, notices) = read(&Agreed::default(), KEEP, [&frame(0x81, &[b'a'; 126])[..]]);
    assert_eq!(notices.iter().count(), 0);
}

#[test]
fn a_message_has_a_limit_and_its_length_is_known_beyond_what_is_kept() {
    let too_long = [Seen::Violation(Violation::MessageTooLong)];
    // The header of a frame is enough.
    let length = (LIMIT + 1).to_be_bytes();
    check(&[&b"\x82\x7f"[..], &length].concat(), &too_long);
    let half = vec![0; LIMIT as usize / 2];
    let parts = [frame(0x02, &half), frame(0x00, &half), b"\x80\x01".to_vec()];
    let (seen, _) = read(&Agreed::default(), 0, [&parts.concat()[..]]);
    assert_eq!(seen, too_long);

    let bytes = [
        frame(0x01, b"hello "),
        frame(0x80, b"world"),
        frame(0x81, b"12345678"),
    ]
    .concat();
    for (keep, first, second) in [
        (0, "", ""),
        (5, "hello", "12345"),
        (8, "hello wo", "12345678"),
    ] {
        let expected = [
            Seen::Message(Kind::Text, first.into(), 11, 11, 2),
            Seen::Message(Kind::Text, second.into(), 8, 8, 1),
        ];
        for size in 1..=bytes.len() {
            let (seen, _) = read(&Agreed::default(), keep, bytes.chunks(size));
            assert_eq!(seen, expected, "keep {keep}, size {size}");
        }
    }
}

#[test]
fn a_message_that_has_begun_is_known() {
    use crate::seen::feed;
    use drumfire_websocket::{Reader, Shared, UnderWay};
    let mut reader = Reader::new(&Agreed::default(), KEEP);
    let (mut shared, mut seen) = (Shared::default(), Vec::new());
    let mut after = |piece: &[u8]| {
        assert_eq!(feed(&mut reader, &mut shared, piece, &mut seen), Ok(()));
        reader.under_way()
    };
    let kind = Kind::Binary;
    assert_eq!(after(b"\x02"), None);
    assert_eq!(after(b"\x05"), Some(UnderWay { kind, received: 0 }));
    assert_eq!(after(b"abc"), Some(UnderWay { kind, received: 3 }));
    assert_eq!(after(b"de"), Some(UnderWay { kind, received: 5 }));
    assert_eq!(after(b"\x89\x01"), Some(UnderWay { kind, received: 5 }));
    assert_eq!(after(b"p\x80\x02f"), Some(UnderWay { kind, received: 6 }));
    assert_eq!(after(b"g"), None);
}
