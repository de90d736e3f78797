//! Streams and windows: a row for each case, played in one piece, byte by byte, and split in two at
//! every place.

use crate::peer::{
    Act, END_STREAM, PADDED, RST_STREAM, WINDOW_UPDATE, check, check_all, check_fatal,
    check_malformed, concat, data, goaway, number, ok, play, settings, tight,
};
use drumfire_http2::{EndStream, Settings};

#[test]
fn concurrency_is_the_servers_to_allow() {
    let acts = [
        Act::Serve(settings(&[(3, 0)])),
        Act::Get,
        Act::Serve(settings(&[(3, 2)])),
        Act::Get,
        Act::Get,
        Act::Get,
        Act::Serve(concat(&[settings(&[(3, 1)]), ok(1, END_STREAM)])),
        Act::Get,
        Act::Serve(ok(3, END_STREAM)),
        Act::Get,
        Act::Serve(settings(&[(3, 1)])),
    ];
    let full = "the connection has no room for a stream";
    check_all(
        "concurrency",
        &Settings::default(),
        &acts,
        &format!(
            "ready; {full}; capacity; {full}; capacity; 1 head 200 end; {full}; 2 head 200 end"
        ),
        "SETTINGS ACK; SETTINGS ACK; 1 HEADERS end; 3 HEADERS end; SETTINGS ACK; 5 HEADERS end; SETTINGS ACK",
    );
}

#[test]
fn uploads_wait_for_windows() {
    let acts = [
        Act::Serve(settings(&[(4, 0)])),
        Act::Post,
        Act::Send(1, 10, EndStream::Yes),
        Act::Serve(settings(&[(4, 4)])),
        Act::Send(1, 10, EndStream::Yes),
        // The window becomes negative: 4 - 4 + 1 - 4.
        Act::Serve(settings(&[(4, 1)])),
        Act::Serve(number(WINDOW_UPDATE, 1, 3)),
        Act::Send(1, 6, EndStream::Yes),
        Act::Serve(number(WINDOW_UPDATE, 1, 1)),
        Act::Send(1, 6, EndStream::Yes),
        Act::Serve(number(WINDOW_UPDATE, 1, 5)),
        Act::Send(1, 5, EndStream::Yes),
        Act::Send(1, 5, EndStream::Yes),
        Act::Serve(ok(1, END_STREAM)),
    ];
    check_all(
        "windows",
        &Settings::default(),
        &acts,
        "ready; took 0; 1 writable; took 4; took 0; 1 writable; took 1; 1 writable; the stream is closed; 1 head 200 end",
        "SETTINGS ACK; 1 HEADERS; SETTINGS ACK; 1 DATA 4; SETTINGS ACK; 1 DATA 1; 1 DATA 5 end",
    );
}

#[test]
fn uploads_wait_for_the_connections_window_and_for_the_output() {
    let half = 200_000;
    let acts = [
        Act::Serve(concat(&[
            settings(&[(4, 0x7fff_ffff), (5, 0xff_ffff)]),
            number(WINDOW_UPDATE, 0, 1_000_000),
        ])),
        Act::Post,
        Act::Post,
        Act::Send(1, half, EndStream::No),
        Act::Send(2, half, EndStream::No),
        Act::Write,
        Act::Send(2, half, EndStream::Yes),
    ];
    let transcript = play(&Settings::default(), &acts, |bytes| [bytes]);
    let took: Vec<_> = transcript
        .seen
        .iter()
        .filter(|seen| seen.starts_with("took"))
        .collect();
    assert_eq!(took.len(), 1, "{transcript:?}");
    assert_eq!(
        transcript.seen.last().map(String::as_str),
        Some("2 writable")
    );
    let acts = [
        Act::Serve(settings(&[(4, 100_000)])),
        Act::Post,
        Act::Post,
        Act::Send(1, 65_535, EndStream::No),
        Act::Send(1, 1, EndStream::No),
        Act::Send(2, 5, EndStream::No),
        Act::Serve(number(WINDOW_UPDATE, 0, 7)),
        Act::Send(2, 5, EndStream::No),
        Act::Send(1, 5, EndStream::No),
    ];
    check_all(
        "connection",
        &Settings::default(),
        &acts,
        "ready; took 0; took 0; 1 writable; 2 writable; took 2",
        "SETTINGS ACK; 1 HEADERS; 3 HEADERS; 1 DATA 16384; 1 DATA 16384; 1 DATA 16384; 1 DATA 16383; 3 DATA 5; 1 DATA 2",
    );
}

#[test]
fn windows_do_not_overflow() {
    let rest = 0x7fff_ffff - 65_535;
    let update = |stream, increment| number(WINDOW_UPDATE, stream, increment);
    check(
        "just not",
        concat(&[update(0, rest), ok(1, END_STREAM)]),
        "1 head 200 end",
        "",
    );
    let code = "FLOW_CONTROL_ERROR";
    check_fatal(
        "connection",
        update(0, rest + 1),
        code,
        "WINDOW_UPDATE too large",
    );
    let twice = concat(&[update(0, 0x7fff_ffff), update(0, 0x7fff_ffff)]);
    check_fatal("twice", twice, code, "WINDOW_UPDATE too large");
    let seen = "1 failed: FLOW_CONTROL_ERROR (WINDOW_UPDATE too large)";
    check(
        "stream",
        update(1, rest + 1),
        seen,
        "1 RST_STREAM FLOW_CONTROL_ERROR",
    );
    check_fatal(
        "initial",
        settings(&[(4, 0x8000_0000)]),
        code,
        "INITIAL_WINDOW_SIZE too large",
    );
    let raised = concat(&[update(1, rest), settings(&[(4, 65_536)])]);
    check_fatal("raised", raised, code, "INITIAL_WINDOW_SIZE too large");
    check_malformed("by 0", update(1, 0), "WINDOW_UPDATE by 0");
    check_fatal(
        "connection by 0",
        update(0, 0),
        "PROTOCOL_ERROR",
        "WINDOW_UPDATE by 0",
    );
}

#[test]
fn goaway_gives_back_what_was_not_processed() {
    let get = |acts: &mut Vec<Act>, count| acts.extend((0..count).map(|_| Act::Get));
    let mut acts = vec![Act::Serve(settings(&[]))];
    get(&mut acts, 4);
    acts.push(Act::Serve(goaway(0x7fff_ffff, 0, b"soon")));
    get(&mut acts, 1);
    acts.push(Act::Serve(concat(&[
        goaway(3, 0xb, b"\x1b"),
        ok(3, END_STREAM),
        // These frames were already sent, and have no meaning.
        ok(5, END_STREAM),
        data(7, END_STREAM, b"x"),
        number(RST_STREAM, 7, 7),
        ok(1, END_STREAM),
    ])));
    get(&mut acts, 1);
    let spent = "the connection takes no further streams";
    check_all(
        "goaway",
        &Settings::default(),
        &acts,
        &format!(
            "ready; goaway NO_ERROR soon; {spent}; goaway ENHANCE_YOUR_CALM \\x1b; 3 unprocessed; 4 unprocessed; 2 head 200 end; 1 head 200 end; {spent}"
        ),
        "SETTINGS ACK; 1 HEADERS end; 3 HEADERS end; 5 HEADERS end; 7 HEADERS end",
    );
    let higher = concat(&[goaway(1, 0, b""), goaway(3, 0, b"")]);
    check(
        "higher",
        higher,
        "goaway NO_ERROR ; error: PROTOCOL_ERROR (GOAWAY with a higher last stream than before)",
        "GOAWAY PROTOCOL_ERROR",
    );
}

#[test]
fn resets_are_told_with_their_codes() {
    for (code, name) in [
        (0, "NO_ERROR"),
        (2, "INTERNAL_ERROR"),
        (7, "REFUSED_STREAM"),
        (0xd, "HTTP_1_1_REQUIRED"),
        (0xdead, "0xdead"),
    ] {
        let seen = format!("1 failed: reset by the peer: {name}");
        check(name, number(RST_STREAM, 1, code), &seen, "");
    }
    // After a complete response a reset only refuses the rest of the request.
    let acts = [
        Act::Serve(settings(&[])),
        Act::Post,
        Act::Send(1, 3, EndStream::No),
        Act::Serve(concat(&[ok(1, END_STREAM), number(RST_STREAM, 1, 0)])),
        Act::Send(1, 3, EndStream::Yes),
    ];
    check_all(
        "complete",
        &Settings::default(),
        &acts,
        "ready; 1 head 200 end; the stream is closed",
        "SETTINGS ACK; 1 HEADERS; 1 DATA 3",
    );
    // On each of many streams.
    let mut acts = vec![Act::Serve(settings(&[]))];
    let mut expected = vec!["ready".to_owned()];
    for n in 0..1000 {
        acts.push(Act::Get);
        acts.push(Act::Serve(number(RST_STREAM, 2 * n + 1, 8)));
        expected.push(format!("{} failed: reset by the peer: CANCEL", n + 1));
    }
    let transcript = play(&tight(), &acts, |bytes| [bytes]);
    assert_eq!((transcript.seen, transcript.error), (expected, None));
}

#[test]
fn a_response_may_end_before_its_request() {
    let acts = [
        Act::Serve(settings(&[])),
        Act::Post,
        Act::Serve(ok(1, END_STREAM)),
        Act::Send(1, 3, EndStream::No),
        Act::Send(1, 3, EndStream::Yes),
        Act::Send(1, 3, EndStream::Yes),
        Act::Post,
        Act::Serve(ok(3, END_STREAM)),
        Act::Reset(2),
        Act::Post,
        Act::Serve(concat(&[
            ok(5, END_STREAM),
            data(5, 0, b"x"),
            data(5, 0, b"x"),
        ])),
    ];
    check_all(
        "early",
        &Settings::default(),
        &acts,
        "ready; 1 head 200 end; the stream is closed; 2 head 200 end; 3 head 200 end",
        "SETTINGS ACK; 1 HEADERS; 1 DATA 3; 1 DATA 3 end; 3 HEADERS; 3 RST_STREAM CANCEL; 5 HEADERS; 5 RST_STREAM STREAM_CLOSED",
    );
}

#[test]
fn credit_comes_back_whatever_becomes_of_a_stream() {
    let settings_ = Settings {
        stream_window: 100,
        connection_window: 65_535,
        ..Settings::default()
    };
    // Half of a stream's window, padding included, then the rest of it without an end; the stream
    // is reset, and bytes in flight still count for the connection.
    let mut acts = vec![Act::Serve(settings(&[]))];
    let mut padded = vec![20];
    padded.extend_from_slice(&[b'x'; 79]);
    for n in 0..3000_u32 {
        acts.push(Act::Get);
        acts.push(Act::Serve(concat(&[
            ok(2 * n + 1, 0),
            data(2 * n + 1, PADDED, &padded),
            data(2 * n + 1, 0, &[b'x'; 100]),
        ])));
        acts.push(Act::Reset(n + 1));
        acts.push(Act::Serve(data(2 * n + 1, 0, &[b'x'; 50])));
        acts.push(Act::Write);
    }
    let transcript = play(&settings_, &acts, |bytes| [bytes]);
    assert_eq!(transcript.error, None);
    assert!(
        transcript.seen.contains(&"3000 data 159".to_owned()),
        "{:?}",
        transcript.seen.last()
    );
    let credit = |prefix: &str| -> u64 {
        let updates = transcript
            .sent
            .iter()
            .filter_map(|sent| sent.strip_prefix(prefix));
        updates
            .map(|number| number.parse::<u64>().expect("a number"))
            .sum()
    };
    let received = 3000 * 230;
    let returned = credit("0 WINDOW_UPDATE ");
    assert!(
        returned <= received && received - returned <= 65_535 / 2 + 1,
        "{returned} of {received}"
    );
    assert_eq!(credit("1 WINDOW_UPDATE "), 180, "80, and 100 with the next");
}

#[test]
fn windows_of_ours_are_not_to_be_overrun() {
    let settings_ = Settings {
        stream_window: 100,
        connection_window: 65_535,
        ..Settings::default()
    };
    let row = |name: &str, answer: Vec<u8>, seen: &str, sent: &str| {
        let acts = [
            Act::Serve(settings(&[])),
            Act::Get,
            Act::Serve(concat(&[ok(1, 0), answer])),
        ];
        let sent = format!("SETTINGS ACK; 1 HEADERS end{sent}");
        check_all(
            name,
            &settings_,
            &acts,
            &format!("ready; 1 head 200; {seen}"),
            &sent,
        );
    };
    row(
        "exact",
        data(1, END_STREAM, &[0; 100]),
        "1 data 100 end",
        "",
    );
    row(
        "a byte more",
        data(1, END_STREAM, &[0; 101]),
        "1 failed: FLOW_CONTROL_ERROR (more DATA than the stream's window)",
        "; 1 RST_STREAM FLOW_CONTROL_ERROR",
    );
    row(
        "returned",
        data(1, 0, &[0; 50]).repeat(3),
        "1 data 150",
        &"; 1 WINDOW_UPDATE 50".repeat(3),
    );
}

#[test]
fn streams_of_a_lost_connection_are_named() {
    let mut connection = drumfire_http2::Connection::new(&Settings::default());
    let mut transcript = crate::peer::Transcript::default();
    crate::peer::feed(&mut connection, &settings(&[]), &mut transcript);
    let head = crate::peer::request("GET");
    for token in 0..100 {
        connection
            .open(token, &head, &[], EndStream::Yes)
            .expect("room");
    }
    assert_eq!(connection.capacity(), 0);
    crate::peer::feed(&mut connection, &ok(9, END_STREAM), &mut transcript);
    assert!(connection.handle_end().is_ok());
    let mut tokens: Vec<u32> = connection.tokens().collect();
    tokens.sort_unstable();
    assert_eq!(
        tokens,
        (0..100).filter(|&token| token != 4).collect::<Vec<_>>()
    );
}

#[test]
fn ids_run_out_without_a_failure() {
    let settings_ = Settings {
        first_stream_id: 0x7fff_ffff - 200,
        ..Settings::default()
    };
    let mut connection = drumfire_http2::Connection::new(&settings_);
    let mut transcript = crate::peer::Transcript::default();
    crate::peer::feed(&mut connection, &settings(&[]), &mut transcript);
    let head = crate::peer::request("GET");
    let mut opened = 0;
    while connection.capacity() > 0 {
        assert!(!connection.is_spent());
        let stream = connection
            .open(opened, &head, &[], EndStream::Yes)
            .expect("promised");
        // Every seventh stays open, so that some ids are skipped.
        if opened % 7 != 0 {
            crate::peer::feed(
                &mut connection,
                &ok(stream.id(), END_STREAM),
                &mut transcript,
            );
        }
        opened += 1;
        assert!(opened <= 101);
    }
    assert!(connection.is_spent() && opened > 60, "{opened}");
    assert_eq!(transcript.error, None);
    assert!(connection.open(0, &head, &[], EndStream::Yes).is_err());
}
