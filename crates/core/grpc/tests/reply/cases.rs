//! The table: a server's bytes, and how the call ends. Every case is played in one piece, byte by
//! byte, and split at every byte.

use crate::exchange::{Exchange, Fields, fields};
use drumfire_grpc::{Code, Keep, Replies, ReplySettings, Status, Violation};

const ONE: ReplySettings = ReplySettings {
    replies: Replies::One,
    receive_limit: 64,
    accepted: drumfire_grpc::Encoding::Gzip,
    keep: Keep::Payload,
};
const MANY: ReplySettings = ReplySettings {
    replies: Replies::Many,
    ..ONE
};

/// Plays the exchange with every split; returns how it ended, and the number of messages.
#[track_caller]
fn play(exchange: &Exchange, settings: &ReplySettings) -> (Status, usize) {
    let whole = exchange.play(settings);
    let dripped = exchange.play_cut(settings, |body| body.chunks(1).collect());
    assert_eq!(dripped, whole, "dripped");
    for at in 0..exchange.body.as_ref().map_or(0, Vec::len) {
        let cut = exchange.play_cut(settings, |body| {
            let (left, right) = body.split_at(at);
            vec![left, right]
        });
        assert_eq!(cut, whole, "cut at {at}");
    }
    let counted = exchange.play(&ReplySettings {
        keep: Keep::Length,
        ..*settings
    });
    assert_eq!(counted.status, whole.status, "when only counted");
    let lengths = |(_, length, sent): &(Vec<u8>, u32, u32)| (*length, *sent);
    let of = |messages: &[(Vec<u8>, u32, u32)]| messages.iter().map(lengths).collect::<Vec<_>>();
    assert_eq!(of(&counted.messages), of(&whole.messages));
    assert!(counted.messages.iter().all(|message| message.0.is_empty()));
    (whole.status, whole.messages.len())
}

/// The exchange must end with this violation and its code.
#[track_caller]
fn violates(exchange: &Exchange, settings: &ReplySettings, code: Code, violation: Violation) {
    let (status, _) = play(exchange, settings);
    assert_eq!((status.code, status.violation), (code, Some(violation)));
    assert!(!status.is_ok());
}

/// The exchange must end with a code from the server.
#[track_caller]
fn ends(exchange: &Exchange, settings: &ReplySettings, code: Code, messages: usize) {
    let (status, received) = play(exchange, settings);
    assert_eq!(
        (status.code, status.violation, received),
        (code, None, messages)
    );
}

fn head(fields_of: &[(&str, &str)], exchange: Exchange) -> Exchange {
    Exchange {
        head: fields(fields_of),
        ..exchange
    }
}

fn trailers(trailers: Fields, exchange: Exchange) -> Exchange {
    Exchange {
        trailers: Some(trailers),
        ..exchange
    }
}

fn trailers_only(http_status: u16, fields_of: &[(&str, &str)]) -> Exchange {
    Exchange {
        http_status,
        head: fields(fields_of),
        body: None,
        trailers: None,
    }
}

fn body(bytes: &[u8]) -> Exchange {
    Exchange {
        body: Some(bytes.to_vec()),
        ..Exchange::with_messages(&[])
    }
}

#[test]
fn good_replies() {
    ends(&Exchange::with_messages(&[b"hello"]), &ONE, Code::OK, 1);
    ends(&Exchange::with_messages(&[b""]), &ONE, Code::OK, 1);
    ends(&Exchange::with_messages(&[&[7; 64]]), &ONE, Code::OK, 1);
    ends(&Exchange::with_messages(&[]), &MANY, Code::OK, 0);
    ends(
        &Exchange::with_messages(&[b"a", b"", b"ccc"]),
        &MANY,
        Code::OK,
        3,
    );
    let only = trailers_only(
        200,
        &[("content-type", "application/grpc"), ("grpc-status", "0")],
    );
    ends(&only, &MANY, Code::OK, 0);
}

#[test]
fn a_reply_without_trailers_is_never_ok() {
    let cut = Exchange {
        trailers: None,
        ..Exchange::with_messages(&[b"hello"])
    };
    violates(&cut, &ONE, Code::INTERNAL, Violation::TrailersMissing);
    violates(&cut, &MANY, Code::INTERNAL, Violation::TrailersMissing);
    // A status in the head has no meaning if there is a body.
    let early = head(
        &[("content-type", "application/grpc"), ("grpc-status", "0")],
        cut,
    );
    violates(&early, &ONE, Code::INTERNAL, Violation::TrailersMissing);
    let contradicted = head(
        &[("content-type", "application/grpc"), ("grpc-status", "8")],
        trailers(
            fields(&[("grpc-status", "9")]),
            Exchange::with_messages(&[]),
        ),
    );
    ends(&contradicted, &ONE, Code::FAILED_PRECONDITION, 0);
}

#[test]
fn the_number_of_messages_is_checked() {
    let none = Exchange::with_messages(&[]);
    violates(&none, &ONE, Code::UNIMPLEMENTED, Violation::MessageMissing);
    let only = trailers_only(
        200,
        &[("content-type", "application/grpc"), ("grpc-status", "0")],
    );
    violates(&only, &ONE, Code::UNIMPLEMENTED, Violation::MessageMissing);
    let two = Exchange::with_messages(&[b"a", b"b"]);
    violates(&two, &ONE, Code::UNIMPLEMENTED, Violation::MessageSurplus);
    let two_empty = Exchange::with_messages(&[b"", b""]);
    violates(
        &two_empty,
        &ONE,
        Code::UNIMPLEMENTED,
        Violation::MessageSurplus,
    );
    // A failure needs no message, and may follow one.
    let failed = |messages| {
        trailers(
            fields(&[("grpc-status", "5")]),
            Exchange::with_messages(messages),
        )
    };
    ends(&failed(&[]), &ONE, Code::NOT_FOUND, 0);
    ends(&failed(&[b"a"]), &ONE, Code::NOT_FOUND, 1);
}

#[test]
fn statuses_are_read() {
    for (values, code, violation) in [
        (&["0"][..], Code::OK, None),
        (&["00"], Code::OK, None),
        (&["013"], Code::INTERNAL, None),
        (&["16"], Code::UNAUTHENTICATED, None),
        (&["0", "0"], Code::OK, None),
        (&["0", "13"], Code::INTERNAL, None),
        (&["13", "0"], Code::INTERNAL, None),
        (&["5", "13"], Code::NOT_FOUND, None),
        (&["17"], Code::UNKNOWN, Some(Violation::StatusMalformed)),
        (&["99"], Code::UNKNOWN, Some(Violation::StatusMalformed)),
        (&["256"], Code::UNKNOWN, Some(Violation::StatusMalformed)),
        (
            &["99999999999999999999"],
            Code::UNKNOWN,
            Some(Violation::StatusMalformed),
        ),
        (&["abc"], Code::UNKNOWN, Some(Violation::StatusMalformed)),
        (&["-1"], Code::UNKNOWN, Some(Violation::StatusMalformed)),
        (&["+0"], Code::UNKNOWN, Some(Violation::StatusMalformed)),
        (&[" 0"], Code::UNKNOWN, Some(Violation::StatusMalformed)),
        (&[""], Code::UNKNOWN, Some(Violation::StatusMalformed)),
        (&["0", ""], Code::UNKNOWN, Some(Violation::StatusMalformed)),
        (
            &["abc", "0"],
            Code::UNKNOWN,
            Some(Violation::StatusMalformed),
        ),
        (&[], Code::UNKNOWN, Some(Violation::StatusMissing)),
    ] {
        let given: Vec<_> = values.iter().map(|value| ("grpc-status", *value)).collect();
        let (status, _) = play(
            &trailers(fields(&given), Exchange::with_messages(&[b"a"])),
            &ONE,
        );
        assert_eq!(
            (status.code, status.violation),
            (code, violation),
            "{values:?}"
        );
    }
}

#[test]
fn messages_and_details_of_a_status_are_kept_within_bounds() {
    let long = "x".repeat(10_000);
    let details = "QUJD".repeat(30_000);
    for (given, message, details) in [
        (&[("grpc-message", "no%20luck")][..], Some("no luck"), None),
        (&[("grpc-message", "%")], Some("%"), None),
        (
            &[("grpc-message", "%zz %1b[2J")],
            Some("%zz \u{1b}[2J"),
            None,
        ),
        (&[("grpc-message", "%ff")], Some("\u{fffd}"), None),
        (&[("grpc-message", "")], None, None),
        (
            &[("grpc-message", long.as_str())],
            Some(&long[..8 * 1024]),
            None,
        ),
        (
            &[("grpc-status-details-bin", "CAU")],
            None,
            Some(&[8, 5][..]),
        ),
        (&[("grpc-status-details-bin", "CAU=")], None, Some(&[8, 5])),
        (&[("grpc-status-details-bin", "no base64")], None, None),
        (&[("grpc-status-details-bin", details.as_str())], None, None),
        (&[("other-bin", "no base64")], None, None),
    ] {
        let given = [&[("grpc-status", "5")], given].concat();
        let (status, _) = play(
            &trailers(fields(&given), Exchange::with_messages(&[])),
            &ONE,
        );
        assert_eq!((status.code, status.violation), (Code::NOT_FOUND, None));
        assert_eq!(status.message.as_deref(), message);
        assert_eq!(status.details.as_deref(), details);
    }
    let ok = [
        ("grpc-status", "0"),
        ("grpc-message", "fine"),
        ("grpc-status-details-bin", "CAU"),
    ];
    let (status, _) = play(
        &trailers(fields(&ok), Exchange::with_messages(&[b"a"])),
        &ONE,
    );
    assert_eq!(status, Status::OK);
}

#[test]
fn lengths_are_checked() {
    let too_long = Violation::MessageTooLong;
    violates(
        &Exchange::with_messages(&[&[7; 65]]),
        &ONE,
        Code::RESOURCE_EXHAUSTED,
        too_long,
    );
    let claimed = body(b"\0\xff\xff\xff\xff");
    violates(&claimed, &MANY, Code::RESOURCE_EXHAUSTED, too_long);
    for incomplete in [
        &b"\0"[..],
        b"\0\0\0\0",
        b"\0\0\0\0\x02",
        b"\0\0\0\0\x02a",
        b"\0\0\0\0\0\0\0",
    ] {
        violates(
            &body(incomplete),
            &MANY,
            Code::INTERNAL,
            Violation::MessageIncomplete,
        );
    }
    // A call that failed already keeps its own code.
    let failed = trailers(fields(&[("grpc-status", "14")]), body(b"\0\0\0"));
    ends(&failed, &MANY, Code::UNAVAILABLE, 0);
}

#[test]
fn flags_are_checked() {
    violates(
        &body(b"\x02\0\0\0\0"),
        &ONE,
        Code::INTERNAL,
        Violation::Flag,
    );
    violates(
        &body(b"\xff\0\0\0\x01a"),
        &ONE,
        Code::INTERNAL,
        Violation::Flag,
    );
    let gzip = b"\x01\0\0\0\x01a";
    let of = |encoding| {
        let given = [
            ("content-type", "application/grpc"),
            ("grpc-encoding", encoding),
        ];
        head(&given, body(gzip))
    };
    let refused = Violation::Compression;
    violates(&body(gzip), &ONE, Code::INTERNAL, refused);
    for encoding in ["identity", "foo", "zstd", "GZIP", "gzip, gzip", ""] {
        violates(&of(encoding), &ONE, Code::INTERNAL, refused);
    }
    violates(&of("gzip"), &ONE, Code::INTERNAL, Violation::Decompress);
    // An encoding that no message uses does no harm.
    let unused = head(
        &[
            ("content-type", "application/grpc"),
            ("grpc-encoding", "foo"),
        ],
        Exchange::with_messages(&[b"a"]),
    );
    ends(&unused, &ONE, Code::OK, 1);
}

#[test]
fn content_types_are_checked() {
    for (value, violation) in [
        ("application/grpc", None),
        ("application/grpc+proto", None),
        ("Application/gRPC+Proto", None),
        ("application/grpc;charset=utf-8", None),
        ("application/grpc+proto ; a=b", None),
        ("application/grpc+json", Some(Violation::Subformat)),
        ("application/grpc+", Some(Violation::Subformat)),
        ("application/grpcfoo", Some(Violation::ContentType)),
        ("application/grpc-web", Some(Violation::ContentType)),
        ("application/grp", Some(Violation::ContentType)),
        ("text/html", Some(Violation::ContentType)),
        ("", Some(Violation::ContentType)),
    ] {
        let given = [("content-type", value)];
        let (status, _) = play(&head(&given, Exchange::with_messages(&[b"a"])), &ONE);
        assert_eq!(status.violation, violation, "{value}");
        assert_eq!(status.is_ok(), violation.is_none(), "{value}");
        let given = [("content-type", value), ("grpc-status", "0")];
        let (status, _) = play(&trailers_only(200, &given), &MANY);
        assert_eq!(status.violation, violation, "trailers only, {value}");
    }
}

#[test]
fn http_statuses_count_when_there_is_no_other() {
    let grpc = ("content-type", "application/grpc");
    for http_status in [400, 401, 403, 404, 429, 500, 502, 503, 504, 799] {
        let code = Code::of_http(http_status);
        let violation = Violation::HttpStatus(http_status);
        let html = Exchange {
            http_status,
            trailers: None,
            ..head(&[("content-type", "text/html")], body(b"<h1>Sorry</h1>"))
        };
        violates(&html, &ONE, code, violation);
        violates(&trailers_only(http_status, &[]), &ONE, code, violation);
        violates(&trailers_only(http_status, &[grpc]), &ONE, code, violation);
        for claimed in [
            Some(fields(&[("grpc-status", "0")])),
            Some(fields(&[])),
            None,
        ] {
            let odd = Exchange {
                http_status,
                trailers: claimed,
                ..Exchange::with_messages(&[b"a"])
            };
            violates(&odd, &ONE, code, violation);
        }
        // "If grpc-status was provided, it must be used."
        let given = [("grpc-status", "7")];
        ends(
            &trailers_only(http_status, &given),
            &ONE,
            Code::PERMISSION_DENIED,
            0,
        );
        let late = Exchange {
            http_status,
            ..trailers(fields(&given), Exchange::with_messages(&[]))
        };
        ends(&late, &ONE, Code::PERMISSION_DENIED, 0);
    }
}

#[test]
fn binary_metadata_is_base64() {
    let grpc = ("content-type", "application/grpc");
    for (value, is_right) in [
        ("AQI", true),
        ("AQI=", true),
        ("AQI,AQID", true),
        ("", true),
        ("!", false),
        ("A", false),
    ] {
        let begun = head(
            &[grpc, ("trace-bin", value)],
            Exchange::with_messages(&[b"a"]),
        );
        let given = [("grpc-status", "0"), ("trace-bin", value)];
        let ended = trailers(fields(&given), Exchange::with_messages(&[b"a"]));
        for exchange in [begun, ended] {
            if is_right {
                ends(&exchange, &ONE, Code::OK, 1);
            } else {
                violates(&exchange, &ONE, Code::INTERNAL, Violation::Metadata);
            }
        }
    }
    // HTTP/2 limits the number of entries to ten thousand; here they only have to be read.
    let many = vec![("x-many".to_owned(), b"v".to_vec()); 10_000];
    let with_status = [fields(&[("grpc-status", "0")]), many].concat();
    ends(
        &trailers(with_status, Exchange::with_messages(&[b"a"])),
        &ONE,
        Code::OK,
        1,
    );
}
