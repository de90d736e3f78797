//! Frames and floods of them: a row for each case, played in one piece, byte by byte, and split in
//! two at every place.

use crate::peer::{
    ACK, Act, CONTINUATION, DATA, END_HEADERS, END_STREAM, GOAWAY, HEADERS, PADDED, PING, PRIORITY,
    RST_STREAM, SETTINGS, WINDOW_UPDATE, WITH_PRIORITY, block, check, check_all, check_fatal,
    check_malformed, concat, data, frame, goaway, number, ok, play, settings, tight,
};
use drumfire_http2::{Limits, Settings};

#[test]
fn continuation_floods_end_the_connection() {
    let row = |name: &str, before: &[u8], pieces: Vec<u8>, seen: &str, sent: &str| {
        let acts = [
            Act::Serve(settings(&[])),
            Act::Get,
            Act::Get,
            Act::Serve(concat(&[
                before.to_vec(),
                frame(HEADERS, 0, 1, &[0x88]),
                pieces,
            ])),
        ];
        let seen = format!("ready; {seen}");
        let sent =
            format!("SETTINGS ACK; 1 HEADERS end; 3 HEADERS end; {sent}GOAWAY ENHANCE_YOUR_CALM");
        check_all(name, &tight(), &acts, &seen, &sent);
    };
    row(
        "a byte each",
        &[],
        frame(CONTINUATION, 0, 1, &[0x88]).repeat(300),
        "1 failed: limit:head; error: limit:head",
        "1 RST_STREAM ENHANCE_YOUR_CALM; ",
    );
    row(
        "of a stream that is gone",
        &number(RST_STREAM, 1, 8),
        frame(CONTINUATION, 0, 1, &[0x88]).repeat(300),
        "1 failed: reset by the peer: CANCEL; error: limit:head",
        "",
    );
    row(
        "empty",
        &[],
        frame(CONTINUATION, 0, 1, &[]).repeat(10),
        "error: limit:frames",
        "",
    );
}

#[test]
fn a_stream_whose_head_is_too_long_is_not_among_those_that_the_connection_loses() {
    let mut connection = drumfire_http2::Connection::new(&tight());
    let mut transcript = crate::peer::Transcript::default();
    crate::peer::feed(&mut connection, &settings(&[]), &mut transcript);
    let get = crate::peer::request("GET");
    for token in 1..=3 {
        let end = drumfire_http2::EndStream::Yes;
        connection.open(token, &get, &[], end).expect("room");
    }
    let endless = frame(CONTINUATION, 0, 3, &[0x88; 150]).repeat(2);
    let input = concat(&[frame(HEADERS, 0, 3, &[0x88]), endless]);
    let step = connection.handle_input(&input).expect("an event first");
    let event = format!("{:?}", step.event);
    assert!(event.starts_with("StreamFailed { token: 2"), "{event}");
    // No stream is opened in between, and the error needs no input.
    assert!(connection.has_event() && connection.is_spent() && connection.capacity() == 0);
    assert!(connection.handle_input(&[]).is_err());
    let mut left: Vec<u32> = connection.tokens().collect();
    left.sort_unstable();
    assert_eq!(left, [1, 3]);
}

#[test]
fn floods_end_the_connection() {
    let row = |name: &str, flood: Vec<u8>, seen: &str, sent: &str| {
        let flood = concat(&[ok(1, 0), flood.repeat(6)]);
        let acts = [
            Act::Serve(settings(&[])),
            Act::Get,
            Act::Write,
            Act::Serve(flood),
        ];
        let seen = format!("ready; 1 head 200; {seen}error: limit:frames");
        let sent = format!("SETTINGS ACK; 1 HEADERS end; {sent}GOAWAY ENHANCE_YOUR_CALM");
        check_all(name, &tight(), &acts, &seen, &sent);
    };
    row("empty DATA", data(1, 0, b""), "", "");
    row("padded empty DATA", data(1, PADDED, &[0]), "", "");
    row("SETTINGS ACK", frame(SETTINGS, ACK, 0, &[]), "", "");
    row("PRIORITY", frame(PRIORITY, 0, 1, &[0, 0, 0, 3, 9]), "", "");
    row("WINDOW_UPDATE", number(WINDOW_UPDATE, 0, 1), "", "");
    row(
        "WINDOW_UPDATE of a stream",
        number(WINDOW_UPDATE, 1, 1),
        "",
        "",
    );
    row("unknown frames", frame(0xbe, 0, 0, b"x"), "", "");
    row(
        "PING",
        frame(PING, 0, 0, &[0; 8]),
        "",
        &"PING ACK; ".repeat(5),
    );
    row("SETTINGS", settings(&[]), "", &"SETTINGS ACK; ".repeat(5));
    let pongs = "pong \\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00; ".repeat(5);
    row("PING ACK", frame(PING, ACK, 0, &[0; 8]), &pongs, "");
    row(
        "GOAWAY",
        goaway(1, 0, b""),
        &"goaway NO_ERROR ; ".repeat(5),
        "",
    );
}

#[test]
fn frames_that_bring_something_keep_floods_apart() {
    let pings = frame(PING, 0, 0, &[0; 8]).repeat(4);
    let answer = concat(&[
        pings.clone(),
        ok(1, 0),
        pings.clone(),
        data(1, 0, b"x"),
        pings,
        data(1, END_STREAM, b"x"),
    ]);
    let acts = [
        Act::Serve(settings(&[])),
        Act::Get,
        Act::Write,
        Act::Serve(answer),
    ];
    let settings = Settings {
        limits: Limits {
            output_bytes: 1000,
            ..crate::peer::TIGHT
        },
        ..Settings::default()
    };
    let sent = format!(
        "SETTINGS ACK; 1 HEADERS end; {}",
        ["PING ACK"; 12].join("; ")
    );
    check_all(
        "pings",
        &settings,
        &acts,
        "ready; 1 head 200; 1 data 2 end",
        &sent,
    );
}

#[test]
fn replies_that_are_not_read_are_bounded() {
    let settings_ = Settings {
        limits: Limits {
            idle_frames: 1000,
            ..crate::peer::TIGHT
        },
        ..Settings::default()
    };
    // 17 bytes each: five fit into 100, the sixth does not.
    let row = |count: usize, error: &str, goaway: &str| {
        let acts = [
            Act::Serve(settings(&[])),
            Act::Write,
            Act::Serve(frame(PING, 0, 0, &[0; 8]).repeat(count)),
        ];
        let sent = format!(
            "SETTINGS ACK; {}{goaway}",
            vec!["PING ACK"; count].join("; ")
        );
        check_all("pings", &settings_, &acts, &format!("ready{error}"), &sent);
    };
    row(5, "", "");
    row(6, "; error: limit:output", "; GOAWAY ENHANCE_YOUR_CALM");
    // Our resets: 13 bytes each.
    let mut acts = vec![Act::Serve(settings(&[]))];
    acts.extend((0..10).map(|_| Act::Get));
    acts.push(Act::Write);
    acts.extend((0..10).map(|n| Act::Serve(data(2 * n + 1, 0, b"x"))));
    let transcript = play(&settings_, &acts, |bytes| [bytes]);
    assert_eq!(
        transcript.error.map(|error| error.to_string()).as_deref(),
        Some("limit:output")
    );
    // The eighth exceeds the limit.
    let failed = transcript
        .seen
        .iter()
        .filter(|seen| seen.contains("failed"))
        .count();
    assert_eq!(failed, 7);
}

#[test]
fn frames_on_streams_that_are_not_open() {
    let ended = "a frame on a stream that has ended";
    let done = ok(1, END_STREAM);
    let row = |name: &str, next: Vec<u8>, what: &str| {
        let answer = concat(&[done.clone(), next]);
        let seen = format!("1 head 200 end; error: {what}");
        let code = what.split(' ').next().unwrap_or_default();
        check(name, answer, &seen, &format!("GOAWAY {code}"));
    };
    row(
        "DATA",
        data(1, 0, b"x"),
        &format!("STREAM_CLOSED ({ended})"),
    );
    row(
        "HEADERS",
        ok(1, END_STREAM),
        &format!("STREAM_CLOSED ({ended})"),
    );
    row(
        "idle DATA",
        data(3, 0, b"x"),
        "PROTOCOL_ERROR (DATA on an idle stream)",
    );
    row(
        "idle HEADERS",
        ok(3, 0),
        "PROTOCOL_ERROR (HEADERS on an idle stream)",
    );
    row(
        "idle RST_STREAM",
        number(RST_STREAM, 3, 0),
        "PROTOCOL_ERROR (RST_STREAM on an idle stream)",
    );
    row(
        "idle WINDOW_UPDATE",
        number(WINDOW_UPDATE, 3, 1),
        "PROTOCOL_ERROR (WINDOW_UPDATE on an idle stream)",
    );
    let late = concat(&[
        done.clone(),
        number(RST_STREAM, 1, 0),
        number(WINDOW_UPDATE, 1, 5),
        frame(PRIORITY, 0, 9, &[0; 5]),
    ]);
    check("what may come late", late, "1 head 200 end", "");
    let after_reset = concat(&[number(RST_STREAM, 1, 8), data(1, 0, b"x"), ok(1, 0)]);
    let reset = "1 RST_STREAM STREAM_CLOSED; 1 RST_STREAM STREAM_CLOSED";
    check(
        "after its reset",
        after_reset,
        "1 failed: reset by the peer: CANCEL",
        reset,
    );
}

/// Frames that end the connection with FRAME_SIZE_ERROR.
#[rustfmt::skip]
const WRONG_SIZES: [(u8, u8, u32, usize, &str); 14] = [
    (PING, 0, 0, 7, "PING with a wrong size"),
    (PING, ACK, 0, 9, "PING with a wrong size"),
    (SETTINGS, 0, 0, 7, "SETTINGS with a wrong size"),
    (SETTINGS, ACK, 0, 6, "SETTINGS with a wrong size"),
    (RST_STREAM, 0, 1, 3, "RST_STREAM with a wrong size"),
    (GOAWAY, 0, 0, 7, "GOAWAY with a wrong size"),
    (WINDOW_UPDATE, 0, 1, 5, "WINDOW_UPDATE with a wrong size"),
    (PRIORITY, 0, 3, 4, "PRIORITY with a wrong size"),
    (HEADERS, END_HEADERS | WITH_PRIORITY, 1, 4, "HEADERS too short"),
    (HEADERS, END_HEADERS | PADDED, 1, 0, "padded HEADERS without a length"),
    (DATA, PADDED, 1, 0, "padded DATA without a length"),
    // Sizes that we have not allowed.
    (DATA, 0, 1, 16_385, "frame larger than allowed"),
    (0xbe, 0, 0, 16_385, "frame larger than allowed"),
    (DATA, 0, 1, 0xff_ffff, "frame larger than allowed"),
];

/// Frames on stream 0, or on another stream, that are not allowed there.
#[rustfmt::skip]
const WRONG_STREAMS: [(u8, u32, usize, &str); 8] = [
    (PING, 1, 8, "PING on a stream"),
    (SETTINGS, 1, 0, "SETTINGS on a stream"),
    (RST_STREAM, 0, 4, "RST_STREAM on stream 0"),
    (GOAWAY, 1, 8, "GOAWAY on a stream"),
    (PRIORITY, 0, 5, "PRIORITY on stream 0"),
    (HEADERS, 0, 1, "HEADERS on stream 0"),
    (DATA, 0, 1, "DATA on stream 0"),
    (DATA, 2, 1, "DATA on an idle stream"),
];

#[test]
fn frames_have_their_sizes() {
    for (kind, flags, stream, length, what) in WRONG_SIZES {
        let bytes = frame(kind, flags, stream, &vec![0; length]);
        check_fatal(what, bytes, "FRAME_SIZE_ERROR", what);
    }
    let seen = "1 failed: FRAME_SIZE_ERROR (PRIORITY with a wrong size)";
    let sent = "1 RST_STREAM FRAME_SIZE_ERROR";
    check("PRIORITY", frame(PRIORITY, 0, 1, &[0; 4]), seen, sent);
    for size in [16_383, 0x0100_0000] {
        let what = "MAX_FRAME_SIZE out of range";
        check_fatal(what, settings(&[(5, size)]), "PROTOCOL_ERROR", what);
    }
}

#[test]
fn frames_have_their_streams() {
    for (kind, stream, length, what) in WRONG_STREAMS {
        let bytes = frame(kind, END_HEADERS, stream, &vec![0; length]);
        check_fatal(what, bytes, "PROTOCOL_ERROR", what);
    }
    let itself = "a stream that depends on itself";
    let bytes = frame(PRIORITY, 0, 1, &[0, 0, 0, 1, 0]);
    check_malformed("PRIORITY on itself", bytes, itself);
    let head = [&[0, 0, 0, 1, 0][..], &block(&[(":status", "200")])].concat();
    let bytes = frame(HEADERS, END_HEADERS | WITH_PRIORITY, 1, &head);
    check_malformed("HEADERS on itself", bytes, itself);
}

#[test]
fn padding_is_part_of_its_frame() {
    let what = "more padding than payload";
    for payload in [&[4, 0, 0, 0][..], &[1], &[255; 255]] {
        let bytes = frame(DATA, PADDED, 1, payload);
        check_fatal(what, bytes, "PROTOCOL_ERROR", what);
    }
    let bytes = frame(HEADERS, END_HEADERS | PADDED, 1, &[2, 0x88]);
    check_fatal(what, bytes, "PROTOCOL_ERROR", what);
    let padded = [&[255][..], &[0; 255]].concat();
    let answer = [ok(1, 0), frame(DATA, PADDED | END_STREAM, 1, &padded)].concat();
    check("all padding", answer, "1 head 200; 1 data 0 end", "");
}

#[test]
fn pings_and_farewells_of_ours() {
    let mut connection = drumfire_http2::Connection::new(&Settings::default());
    let mut transcript = crate::peer::Transcript::default();
    crate::peer::feed(&mut connection, &settings(&[]), &mut transcript);
    connection.ping(*b"12345678");
    connection.go_away(drumfire_http2::ErrorCode::NO_ERROR);
    assert!(connection.is_spent() && connection.capacity() == 0);
    crate::peer::feed(
        &mut connection,
        &frame(PING, ACK, 0, b"12345678"),
        &mut transcript,
    );
    assert_eq!(transcript.seen, ["ready", "pong 12345678"]);
    let sent = crate::peer::describe_output(connection.output());
    assert_eq!(sent[2..], ["SETTINGS ACK", "PING", "GOAWAY NO_ERROR"]);
}
