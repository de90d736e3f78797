//! Heads and trailers of a server: a row for each case, played in one piece, byte by byte, and
//! split in two at every place.

use crate::peer::{
    ACK, Act, CONTINUATION, END_HEADERS, END_STREAM, HEADERS, PADDED, PING, PRIORITY, PUSH_PROMISE,
    SETTINGS, WITH_PRIORITY, block, check, check_all, check_fatal, check_malformed, concat, data,
    frame, goaway, headers, ok, settings, tight,
};
use drumfire_http2::{Connection, Head, Indexing, Settings};

#[test]
fn responses_that_are_right() {
    check("no body", ok(1, END_STREAM), "1 head 200 end", "");
    check(
        "a body",
        concat(&[
            headers(
                1,
                0,
                &[(":status", "200"), ("content-length", "5"), ("a", "b")],
            ),
            data(1, 0, b"he"),
            data(1, END_STREAM, b"llo"),
        ]),
        "1 head 200 content-length=5 a=b; 1 data 5 end",
        "",
    );
    check(
        "an empty end",
        concat(&[ok(1, 0), data(1, 0, b"x"), data(1, END_STREAM, b"")]),
        "1 head 200; 1 data 1 end",
        "",
    );
    check(
        "trailers",
        concat(&[
            ok(1, 0),
            data(1, 0, b"x"),
            headers(1, END_STREAM, &[("grpc-status", "0")]),
        ]),
        "1 head 200; 1 data 1; 1 trailers grpc-status=0",
        "",
    );
    check(
        "interim heads",
        concat(&[
            headers(1, 0, &[(":status", "103"), ("link", "x")]),
            headers(1, 0, &[(":status", "100")]),
            headers(
                1,
                END_STREAM,
                &[(":status", "204"), ("content-length", "7")],
            ),
        ]),
        "1 interim 103; 1 interim 100; 1 head 204 content-length=7 end",
        "",
    );
    check(
        "an invalid status is the caller's",
        concat(&[headers(1, END_STREAM, &[(":status", "99")])]),
        "1 head 99 end",
        "",
    );
}

#[test]
fn heads_in_pieces_with_padding_and_with_what_means_nothing() {
    let whole = block(&[(":status", "200"), ("a", "b"), ("c", "d")]);
    check(
        "CONTINUATION",
        concat(&[
            frame(HEADERS, END_STREAM, 1, &whole[..3]),
            frame(CONTINUATION, 0, 1, &whole[3..9]),
            frame(CONTINUATION, 0, 1, &[]),
            frame(CONTINUATION, END_HEADERS, 1, &whole[9..]),
        ]),
        "1 head 200 a=b c=d end",
        "",
    );
    check(
        "padding and priority",
        concat(&[
            frame(
                HEADERS,
                END_HEADERS | PADDED | WITH_PRIORITY,
                1,
                &[
                    &[3, 0, 0, 0, 3, 9][..],
                    &block(&[(":status", "200")]),
                    &[0; 3],
                ]
                .concat(),
            ),
            frame(PRIORITY, 0, 1, &[0, 0, 0, 3, 9]),
            data(1, PADDED, &[2, b'h', b'i', 0, 0]),
            data(1, PADDED | END_STREAM, &[4, 0, 0, 0, 0]),
        ]),
        "1 head 200; 1 data 2 end",
        "",
    );
    check(
        "unknown frames, settings and flags",
        concat(&[
            frame(0xbe, 0xff, 0x8000_0001, b"anything"),
            settings(&[(0xbeef, 7), (8, 1), (6, 9)]),
            frame(PING, 0xfe, 0, b"12345678"),
            frame(HEADERS, 0xd5, 1, &block(&[(":status", "200")])),
        ]),
        "1 head 200 end",
        "SETTINGS ACK; PING ACK",
    );
}

#[test]
fn what_is_not_http2() {
    let first = |name: &str, bytes: &[u8], seen: &str| {
        let acts = [Act::Serve(bytes.to_vec()), Act::End];
        check_all(
            name,
            &Settings::default(),
            &acts,
            seen,
            "GOAWAY PROTOCOL_ERROR",
        );
    };
    let line = "error: not HTTP/2 (the peer answered HTTP/1.1 400 Bad Request)";
    first(
        "HTTP/1.1",
        b"HTTP/1.1 400 Bad Request\r\nServer: x\r\n\r\n",
        line,
    );
    first("HTTP/1.1, cut", b"HTTP/1.1 400 Bad Request", line);
    first(
        "TLS alert",
        b"\x15\x03\x03\0\x02\x02\x28",
        "error: not HTTP/2 (the peer speaks TLS)",
    );
    first(
        "banner",
        b"SSH-2.0-x\r\n",
        "error: not HTTP/2 (the peer sent SSH-2.0-x)",
    );
    first(
        "binary",
        b"\x01\x02",
        "error: not HTTP/2 (the answer is binary)",
    );
    first(
        "zeros of no frame",
        &[0, 0, 0, 0x77, 0, 0, 0, 0, 0],
        "error: not HTTP/2 (the answer is binary)",
    );
    first(
        "large frame",
        &[0, 0xff, 0, 4, 0, 0, 0, 0, 0],
        "error: not HTTP/2 (the answer is binary)",
    );
}

#[test]
fn the_first_frame_is_settings() {
    for (name, bytes) in [
        ("PING", frame(PING, 0, 0, &[0; 8])),
        ("SETTINGS ACK", frame(SETTINGS, ACK, 0, &[])),
        ("HEADERS", ok(1, END_STREAM)),
    ] {
        let seen = "error: PROTOCOL_ERROR (the first frame is not SETTINGS)";
        let acts = [Act::Serve(bytes)];
        check_all(
            name,
            &Settings::default(),
            &acts,
            seen,
            "GOAWAY PROTOCOL_ERROR",
        );
    }
}

/// A server that shuts down may begin with GOAWAY, as Jetty does with two. SETTINGS must still
/// follow.
#[test]
fn a_goaway_may_come_before_settings() {
    let going = concat(&[goaway(0, 0, b""), goaway(0, 11, b"busy")]);
    let heard = "goaway NO_ERROR ; goaway ENHANCE_YOUR_CALM busy";
    let row = |name: &str, next: Vec<u8>, seen: &str, sent: &str| {
        let acts = [Act::Serve(concat(&[going.clone(), next]))];
        let seen = format!("{heard}; {seen}");
        check_all(name, &Settings::default(), &acts, &seen, sent);
    };
    row("then SETTINGS", settings(&[]), "ready", "SETTINGS ACK");
    row(
        "then PING",
        frame(PING, 0, 0, &[0; 8]),
        "error: PROTOCOL_ERROR (the first frame is not SETTINGS)",
        "GOAWAY PROTOCOL_ERROR",
    );
}

/// The setting counts a name, a value and 32 bytes for each field (RFC 9113 section 6.5.2).
#[test]
fn the_size_of_a_head_is_comparable_with_the_server_s_bound() {
    let mut connection = Connection::new(&Settings::default());
    assert_eq!(connection.header_list_max_peer(), u32::MAX);
    let bound = frame(SETTINGS, 0, 0, &[0, 6, 0, 0, 0x20, 0]);
    let _ready = connection.handle_input(&bound).expect("SETTINGS");
    assert_eq!(connection.header_list_max_peer(), 8192);
    let fields = [(&b":method"[..], &b"GET"[..]), (b"x-a", b"12345")];
    let fields = fields.map(|(name, value)| (name, value, Indexing::Allowed));
    let head = Head::new(fields).expect("a head");
    assert_eq!(head.list_bytes(), 7 + 3 + 32 + 3 + 5 + 32);
}

#[test]
fn settings_need_no_acknowledgement() {
    let twice = concat(&[frame(SETTINGS, ACK, 0, &[]), frame(SETTINGS, ACK, 0, &[])]);
    check("never", ok(1, END_STREAM), "1 head 200 end", "");
    check(
        "twice",
        concat(&[twice, ok(1, END_STREAM)]),
        "1 head 200 end",
        "",
    );
}

/// The status that most of them have.
const STATUS: (&str, &str) = (":status", "200");

/// Fields of malformed heads, and their mistakes.
#[rustfmt::skip]
const MALFORMED: [(&[(&str, &str)], &str); 27] = [
    (&[("a", "b")], "no :status"),
    (&[], "no :status"),
    (&[STATUS, STATUS], "two :status"),
    (&[(":status", "abc")], ":status that is not three digits"),
    (&[(":status", "")], ":status that is not three digits"),
    (&[(":status", "0200")], ":status that is not three digits"),
    (&[(":status", "+20")], ":status that is not three digits"),
    (&[("a", "b"), STATUS], "pseudo-field after other fields"),
    (&[STATUS, (":x", "y")], "pseudo-field not allowed in a response"),
    (&[STATUS, (":path", "/")], "pseudo-field not allowed in a response"),
    (&[STATUS, (":", "/")], "pseudo-field not allowed in a response"),
    (&[STATUS, ("Upper", "x")], "field name with a forbidden character"),
    (&[STATUS, ("", "x")], "field name with a forbidden character"),
    (&[STATUS, ("a b", "x")], "field name with a forbidden character"),
    (&[STATUS, ("a:", "x")], "field name with a forbidden character"),
    (&[STATUS, ("\u{e4}", "x")], "field name with a forbidden character"),
    (&[STATUS, ("connection", "close")], "connection-specific field of HTTP/1"),
    (&[STATUS, ("keep-alive", "1")], "connection-specific field of HTTP/1"),
    (&[STATUS, ("transfer-encoding", "chunked")], "connection-specific field of HTTP/1"),
    (&[STATUS, ("upgrade", "x")], "connection-specific field of HTTP/1"),
    (&[STATUS, ("te", "gzip")], "te other than trailers"),
    (&[STATUS, ("a", " b")], "field value with a forbidden character"),
    (&[STATUS, ("a", "b ")], "field value with a forbidden character"),
    (&[STATUS, ("a", "b\0c")], "field value with a forbidden character"),
    (&[STATUS, ("a", "b\r\nc: d")], "field value with a forbidden character"),
    (&[STATUS, ("a", "\x1b[2J")], "field value with a forbidden character"),
    (&[(":status", "101")], "status 101"),
];

#[test]
fn malformed_heads() {
    for (fields, what) in MALFORMED {
        check_malformed(&format!("{fields:?}"), headers(1, 0, fields), what);
        // A malformed head on one stream changes nothing for the next.
        let acts = [
            Act::Serve(settings(&[])),
            Act::Get,
            Act::Get,
            Act::Serve(concat(&[
                headers(1, 0, fields),
                data(1, END_STREAM, b"x"),
                ok(3, END_STREAM),
            ])),
        ];
        check_all(
            what,
            &Settings::default(),
            &acts,
            &format!("ready; 1 failed: PROTOCOL_ERROR ({what}); 2 head 200 end"),
            "SETTINGS ACK; 1 HEADERS end; 3 HEADERS end; 1 RST_STREAM PROTOCOL_ERROR",
        );
    }
}

#[test]
fn data_before_headers() {
    check_malformed("DATA", data(1, 0, b"x"), "DATA before HEADERS");
    check_malformed(
        "empty DATA",
        data(1, END_STREAM, b""),
        "DATA before HEADERS",
    );
    let after_interim = concat(&[headers(1, 0, &[(":status", "100")]), data(1, 0, b"x")]);
    let seen = "1 interim 100; 1 failed: PROTOCOL_ERROR (DATA before HEADERS)";
    check(
        "interim",
        after_interim,
        seen,
        "1 RST_STREAM PROTOCOL_ERROR",
    );
}

#[test]
fn the_body_is_as_long_as_declared() {
    let head = |flags, length| headers(1, flags, &[(":status", "200"), ("content-length", length)]);
    let reset = "1 RST_STREAM PROTOCOL_ERROR";
    let row = |name: &str, answer: &[Vec<u8>], seen: &str| {
        let sent = if seen.contains("failed") { reset } else { "" };
        check(
            name,
            concat(answer),
            &format!("1 head 200 content-length=5{seen}"),
            sent,
        );
    };
    row(
        "exact",
        &[head(0, "5"), data(1, END_STREAM, b"12345")],
        "; 1 data 5 end",
    );
    row(
        "short",
        &[head(0, "5"), data(1, END_STREAM, b"123")],
        "; 1 failed: truncated (the stream ended after 3 of 5 bytes)",
    );
    row(
        "short, empty end",
        &[head(0, "5"), data(1, 0, b"123"), data(1, END_STREAM, b"")],
        "; 1 data 3; 1 failed: truncated (the stream ended after 3 of 5 bytes)",
    );
    row(
        "short, trailers",
        &[head(0, "5"), headers(1, END_STREAM, &[("a", "b")])],
        "; 1 failed: truncated (the stream ended after 0 of 5 bytes)",
    );
    let long = "1 failed: PROTOCOL_ERROR (body longer than declared)";
    row(
        "long",
        &[head(0, "5"), data(1, END_STREAM, b"1234567")],
        &format!("; {long}"),
    );
    row(
        "long, later",
        &[head(0, "5"), data(1, 0, b"12345"), data(1, 0, b"6")],
        &format!("; 1 data 5; {long}"),
    );
    check(
        "no body at all",
        head(END_STREAM, "5"),
        "1 failed: truncated (the stream ended after 0 of 5 bytes)",
        reset,
    );
    for length in [
        "-5",
        "+5",
        "5abc",
        "0x5",
        "",
        "5, 5",
        "18446744073709551616",
    ] {
        check_malformed(length, head(0, length), "malformed content-length");
    }
    let twice = headers(
        1,
        0,
        &[
            (":status", "200"),
            ("content-length", "5"),
            ("content-length", "5"),
        ],
    );
    check_malformed("twice", twice, "two content-length");
}

#[test]
fn responses_without_a_body_may_declare_one() {
    let answer = |status| {
        headers(
            1,
            END_STREAM,
            &[(":status", status), ("content-length", "5")],
        )
    };
    let acts = |answer| [Act::Serve(settings(&[])), Act::GetHead, Act::Serve(answer)];
    let row = |answer, seen: &str, sent: &str| {
        let sent = format!("SETTINGS ACK; 1 HEADERS end{sent}");
        check_all(
            seen,
            &Settings::default(),
            &acts(answer),
            &format!("ready; {seen}"),
            &sent,
        );
    };
    row(answer("200"), "1 head 200 content-length=5 end", "");
    let with_body = concat(&[ok(1, 0), data(1, END_STREAM, b"x")]);
    let seen = "1 head 200; 1 failed: PROTOCOL_ERROR (a body in the response to HEAD)";
    row(with_body, seen, "; 1 RST_STREAM PROTOCOL_ERROR");
    check("304", answer("304"), "1 head 304 content-length=5 end", "");
    for status in ["204", "304"] {
        let head = headers(1, 0, &[(":status", status)]);
        check(
            status,
            concat(&[head, data(1, END_STREAM, b"x")]),
            &format!(
                "1 head {status}; 1 failed: PROTOCOL_ERROR (a body with a status that allows none)"
            ),
            "1 RST_STREAM PROTOCOL_ERROR",
        );
    }
}

#[test]
fn trailers_end_the_stream_and_have_no_pseudo_fields() {
    let row = |flags, fields: &[(&str, &str)], what: &str| {
        let answer = concat(&[ok(1, 0), headers(1, flags, fields)]);
        let seen = format!("1 head 200; 1 failed: PROTOCOL_ERROR ({what})");
        check(what, answer, &seen, "1 RST_STREAM PROTOCOL_ERROR");
    };
    row(0, &[("a", "b")], "trailers that do not end the stream");
    row(
        END_STREAM,
        &[(":status", "200")],
        "pseudo-field in trailers",
    );
    row(
        END_STREAM,
        &[("A", "b")],
        "field name with a forbidden character",
    );
}

#[test]
fn interim_responses_are_bounded() {
    let interim = |count: usize| headers(1, 0, &[(":status", "103")]).repeat(count);
    let row = |count, seen: &str, sent: &str| {
        let acts = [
            Act::Serve(settings(&[])),
            Act::Get,
            Act::Serve(concat(&[interim(count), ok(1, END_STREAM)])),
        ];
        let sent = format!("SETTINGS ACK; 1 HEADERS end{sent}");
        check_all("interim", &tight(), &acts, &format!("ready; {seen}"), &sent);
    };
    row(2, "1 interim 103; 1 interim 103; 1 head 200 end", "");
    let seen = "1 interim 103; 1 interim 103; 1 failed: limit:interim";
    row(3, seen, "; 1 RST_STREAM ENHANCE_YOUR_CALM");
    let end = headers(1, END_STREAM, &[(":status", "103")]);
    check_malformed("end", end, "the stream ends with an interim response");
}

#[test]
fn push_is_refused() {
    let push = frame(PUSH_PROMISE, END_HEADERS, 1, &[0, 0, 0, 2, 0x82]);
    check_fatal(
        "push",
        push,
        "PROTOCOL_ERROR",
        "PUSH_PROMISE, which is disabled",
    );
    check_fatal(
        "enabled",
        settings(&[(2, 1)]),
        "PROTOCOL_ERROR",
        "ENABLE_PUSH from a server",
    );
    let even = "HEADERS on an idle stream";
    check_fatal("a pushed stream", ok(2, END_STREAM), "PROTOCOL_ERROR", even);
}

#[test]
fn header_blocks_are_not_interrupted() {
    let begin = frame(HEADERS, 0, 1, &[0x88]);
    let row = |next: Vec<u8>, what| {
        check_fatal(what, concat(&[begin.clone(), next]), "PROTOCOL_ERROR", what);
    };
    row(data(1, 0, b"x"), "a frame within a header block");
    row(frame(0xbe, 0, 0, b""), "a frame within a header block");
    row(
        frame(HEADERS, END_HEADERS, 1, &[0x88]),
        "a frame within a header block",
    );
    row(
        frame(CONTINUATION, END_HEADERS, 3, &[0x88]),
        "CONTINUATION on another stream",
    );
    let alone = frame(CONTINUATION, END_HEADERS, 1, &[0x88]);
    check_fatal(
        "alone",
        alone,
        "PROTOCOL_ERROR",
        "CONTINUATION without HEADERS",
    );
}

#[test]
fn header_compression_is_strict() {
    let rows: [(&str, &[u8], &str); 11] = [
        ("index 0", &[0x80], "index 0 in a header block"),
        (
            "index past the table",
            &[0xbe],
            "index past the dynamic table",
        ),
        (
            "name past the table",
            &[0x7e, 0x01, b'x'],
            "index past the dynamic table",
        ),
        (
            "size above the limit",
            &[0x3f, 0xe2, 0x1f],
            "table size update above the limit",
        ),
        (
            "size in the middle",
            &[0x88, 0x20],
            "table size update within a header block",
        ),
        (
            "padding of zeros",
            &[0x08, 0x81, 0x18],
            "malformed Huffman code",
        ),
        (
            "padding of a byte",
            &[0x08, 0x82, 0x1f, 0xff],
            "malformed Huffman code",
        ),
        (
            "end-of-string",
            &[0x08, 0x84, 0xff, 0xff, 0xff, 0xff],
            "malformed Huffman code",
        ),
        (
            "endless integer",
            &[0xff, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01],
            "malformed integer in a header block",
        ),
        (
            "cut integer",
            &[0xff],
            "malformed integer in a header block",
        ),
        (
            "cut string",
            &[0x08, 0x05, b'2'],
            "string past the end of a header block",
        ),
    ];
    for (name, bytes, what) in rows {
        let answer = frame(HEADERS, END_HEADERS, 1, bytes);
        check_fatal(name, answer, "COMPRESSION_ERROR", what);
    }
    let good = frame(
        HEADERS,
        END_HEADERS | END_STREAM,
        1,
        &[0x20, 0x3f, 0xe1, 0x1f, 0x88],
    );
    check("sizes at the start", good, "1 head 200 end", "");
}

#[test]
fn heads_are_bounded_by_what_they_decode_to() {
    // 32 + 1 + 31 bytes, put into the table; then referenced.
    let mut bomb = vec![0x88, 0x40, 1, b'a', 31];
    bomb.extend_from_slice(&[b'x'; 31]);
    let row = |references: usize, sent: &str| {
        let bytes = [&bomb[..], &vec![0xbe; references]].concat();
        let acts = [
            Act::Serve(settings(&[])),
            Act::Get,
            Act::Get,
            Act::Serve(concat(&[
                frame(HEADERS, END_HEADERS | END_STREAM, 1, &bytes),
                // The table is still correct after a head that was too long.
                frame(HEADERS, END_HEADERS | END_STREAM, 3, &[0x88, 0xbe]),
            ])),
        ];
        let value = "x".repeat(31);
        let first = match references {
            1 => format!("1 head 200 a={value} a={value} end"),
            _ => "1 failed: limit:head".to_owned(),
        };
        let sent = format!("SETTINGS ACK; 1 HEADERS end; 3 HEADERS end{sent}");
        let seen = format!("ready; {first}; 2 head 200 a={value} end");
        check_all("bomb", &tight(), &acts, &seen, &sent);
    };
    // 42 for the status and 64 for each field: 170 of 200, then 234.
    row(1, "");
    row(2, "; 1 RST_STREAM ENHANCE_YOUR_CALM");
    row(16_000, "; 1 RST_STREAM ENHANCE_YOUR_CALM");
}

#[test]
fn limits_of_heads_hold_to_the_field_and_byte() {
    let row = |fields: &[(&str, &str)], seen: &str, sent: &str| {
        let acts = [
            Act::Serve(settings(&[])),
            Act::Get,
            Act::Serve(headers(1, END_STREAM, fields)),
        ];
        let sent = format!("SETTINGS ACK; 1 HEADERS end{sent}");
        check_all(seen, &tight(), &acts, &format!("ready; {seen}"), &sent);
    };
    let calm = "; 1 RST_STREAM ENHANCE_YOUR_CALM";
    let status = (":status", "200");
    row(
        &[status, ("a", ""), ("b", ""), ("c", "")],
        "1 head 200 a= b= c= end",
        "",
    );
    row(
        &[status, ("a", ""), ("b", ""), ("c", ""), ("d", "")],
        "1 failed: limit:header_count",
        calm,
    );
    let value = "x".repeat(92);
    row(
        &[status, ("a", ""), ("b", &value)],
        &format!("1 head 200 a= b={value} end"),
        "",
    );
    row(
        &[status, ("aa", ""), ("b", &value)],
        "1 failed: limit:head",
        calm,
    );
}
