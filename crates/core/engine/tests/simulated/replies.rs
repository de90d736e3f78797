//! Replies to gRPC calls that are broken or malicious: each is one failure with its name, does not
//! end its connection, and uses limited memory.

use crate::{failures, ms, run, secs};
use drumfire_grpc::{Compressor, Encoding};
use drumfire_measure::{GRPC_STATUS, Outcome};
use drumfire_plan::{CallKind, MessageCompression, ReplyCheck, ReplyError};
use drumfire_testkit::{
    Draft, Farewell, Http2Behaviour, LastId, Law, Reply, Said, Server, Simulated, World, closed,
};
use std::sync::Arc;

const HEADERS: u8 = 1;
/// END_STREAM and END_HEADERS.
const LAST: u8 = 1 | 4;
const INTERNAL: u16 = 13;
const RESOURCE_EXHAUSTED: u16 = 8;

/// A server without network delay.
fn world(script: Http2Behaviour) -> World {
    World::new(Server::http2(script).takes(Law::Const(ms(10))))
}

/// 20 calls of four users on one connection.
fn calls(kind: CallKind) -> Draft {
    let plan = closed(4).connections(1).http2(4).requests(20);
    plan.calls(kind, Said::once())
}

/// Checks that every call has this outcome and status, and that the connection stayed open.
#[track_caller]
fn fails(result: &Simulated, outcome: Outcome, status: u16, told: &str) {
    let seen: Vec<_> = result.summary.total.outcomes().failures().collect();
    assert_eq!(seen, [(outcome, 20)], "{told}");
    let seen: Vec<_> = result.summary.total.status().collect();
    assert_eq!(seen, [(GRPC_STATUS + status, 20)], "{told}");
    assert_eq!(result.log.connections, 1, "{told}");
}

/// The details of all failures, which must be equal.
fn words(result: &Simulated) -> String {
    let rows = result.summary.total.errors();
    assert_eq!(rows.len(), 1, "{rows:?}");
    rows[0].detail.to_string()
}

/// Accepts messages that begin with an `o`.
#[derive(Debug)]
struct Begins;

impl ReplyCheck for Begins {
    fn check(&self, message: &[u8]) -> Result<(), ReplyError> {
        match message {
            [b'o', ..] => Ok(()),
            _ => Err(ReplyError("no message of ours".to_owned())),
        }
    }
}

#[test]
fn a_message_that_is_none_ends_its_call() {
    let checked = |kind, compression| {
        calls(kind).calls_with(kind, Said::once(), |call| {
            call.reply_check = Some(Arc::new(Begins));
            call.compression = compression;
        })
    };
    let plain = MessageCompression::Identity;
    let unary = |bytes: &[u8]| Http2Behaviour::new().says(Reply::unary(bytes));
    for script in [
        unary(b"oh"),
        unary(&[b'o'; 40_000]),
        unary(b"oh").dripping(1, ms(1)),
    ] {
        let result = run(checked(CallKind::Unary, plain), world(script));
        failures(&result.summary, &[]);
        assert_eq!(result.summary.total.counts.ok, 20);
    }
    for script in [
        unary(b"hi"),
        unary(&[b'h'; 40_000]),
        unary(b"hi").dripping(1, ms(1)),
    ] {
        let result = run(checked(CallKind::Unary, plain), world(script));
        fails(&result, Outcome::Decode, INTERNAL, "unary");
        assert_eq!(words(&result), "no message of ours");
    }
    // A stream ends at the first undecodable message, and later bytes are not read.
    let stream = Reply::call().message(b"oh").pause(ms(5)).message(b"hi");
    let stream = stream.pause(ms(5)).for_ever(b"oh", ms(5));
    let plan = checked(CallKind::ServerStream, plain);
    let result = run(plan, world(Http2Behaviour::new().says(stream)));
    fails(&result, Outcome::Decode, INTERNAL, "stream");
    assert_eq!(result.summary.total.messages.received, 2 * 20);
    assert!(result.log.cancelled >= 16, "{}", result.log.cancelled);
    // The check reads the message as it was before compression.
    for (text, is_right) in [(&b"oh"[..], true), (b"hi", false)] {
        let reply = compressed("gzip", &gzip(text)).trailers("0", "");
        let plan = checked(CallKind::Unary, MessageCompression::Gzip);
        let result = run(plan, world(Http2Behaviour::new().says(reply)));
        let failed = if is_right { 0 } else { 20 };
        assert_eq!(crate::seen(&result.summary, Outcome::Decode), failed);
        assert_eq!(result.summary.total.counts.ok, 20 - failed);
    }
}

/// A stream that ends with a message has no trailers, and therefore no status: its call has ended,
/// and does not wait for its timeout.
#[test]
fn a_stream_that_ends_with_a_message_has_no_status() {
    let reply = Reply::call().message(b"oh").message(b"oh").ends();
    let plan = calls(CallKind::ServerStream);
    let result = run(plan, world(Http2Behaviour::new().says(reply.clone())));
    fails(&result, Outcome::GrpcInternal, INTERNAL, "no trailers");
    assert_eq!(result.summary.total.messages.received, 2 * 20);
    // The call has received everything that it requested.
    let kind = CallKind::ServerStream;
    let plan = calls(kind).calls_with(kind, Said::once(), |call| {
        call.streaming.receive = Some(2);
    });
    let result = run(plan, world(Http2Behaviour::new().says(reply)));
    failures(&result.summary, &[]);
    assert_eq!(result.log.resets, 0);
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut message = Vec::new();
    let written = Compressor::new(Encoding::Gzip).write_message(&mut message, text);
    assert_eq!(written, Ok(()));
    message
}

/// A reply's head with this encoding, and these bytes of a body.
fn compressed(encoding: &str, body: &[u8]) -> Reply {
    let fields = [
        ("content-type", "application/grpc"),
        ("grpc-encoding", encoding),
    ];
    Reply::head(200, &fields).data(body)
}

#[test]
fn what_can_not_be_decompressed_is_a_failure() {
    let internal = (Outcome::GrpcInternal, INTERNAL);
    let exhausted = (Outcome::LimitMessage, RESOURCE_EXHAUSTED);
    let bomb = gzip(&vec![0; 16 << 20]);
    assert!(bomb.len() < 32_000, "{}", bomb.len());
    for (name, reply, (outcome, status)) in [
        (
            "no encoding",
            Reply::call().data(&[1, 0, 0, 0, 1, 1]),
            internal,
        ),
        (
            "unknown",
            compressed("snappy", &[1, 0, 0, 0, 1, 1]),
            internal,
        ),
        (
            "not offered",
            compressed("zstd", &[1, 0, 0, 0, 1, 1]),
            internal,
        ),
        ("flag", compressed("gzip", &[2, 0, 0, 0, 1, 1]), internal),
        ("garbage", compressed("gzip", &[1, 0, 0, 0, 1, 1]), internal),
        ("bomb", compressed("gzip", &bomb), exhausted),
    ] {
        let kind = CallKind::Unary;
        let plan = calls(kind).calls_with(kind, Said::once(), |call| {
            call.compression = MessageCompression::Gzip;
        });
        let reply = reply.trailers("0", "");
        let result = run(plan, world(Http2Behaviour::new().says(reply)));
        fails(&result, outcome, status, name);
    }
}

#[test]
fn words_of_a_server_are_read_leniently_and_cut() {
    let long = "x".repeat(15_000);
    for (given, told) in [
        ("100%25", "100%"),
        ("%", "%"),
        ("%zz%41", "%zzA"),
        ("%ff%fe", "\u{fffd}\u{fffd}"),
        // Characters that control a terminal are escaped.
        ("%1b[2J", "\\u{1b}[2J"),
        (&long, &long[..200]),
    ] {
        let reply = Reply::call().trailers("9", given);
        let result = run(
            calls(CallKind::Unary),
            world(Http2Behaviour::new().says(reply)),
        );
        fails(&result, Outcome::GrpcFailedPrecondition, 9, given);
        let words = words(&result);
        assert!(words.len() <= 203 && words.starts_with(told), "{words:?}");
    }
}

/// OK, and a field that occurs `count` times.
fn fields(count: usize) -> Vec<u8> {
    let mut block = Vec::new();
    // Literals, of which the second is put into the table, and then its index (RFC 7541 section 6).
    for (form, name, value) in [(0, "grpc-status", "0"), (0x40, "a", "b")] {
        block.extend([form, name.len() as u8]);
        block.extend(name.as_bytes());
        block.push(value.len() as u8);
        block.extend(value.as_bytes());
    }
    block.resize(block.len() + count - 1, 0xbe);
    block
}

#[test]
fn metadata_is_checked_and_bounded() {
    let trailed = |block: &[u8]| Reply::call().message(b"hi").frame(HEADERS, LAST, block);
    let unary = |name: &str, value: &str| {
        let fields = [("grpc-status", "0"), (name, value)];
        Reply::call().message(b"hi").fields(&fields)
    };
    let many = Http2Behaviour::new().says(trailed(&fields(900)));
    let result = run(calls(CallKind::Unary), world(many));
    failures(&result.summary, &[]);
    let begun = |name: &str| {
        let fields = [("content-type", "application/grpc"), (name, "***")];
        Reply::head(200, &fields).message(b"hi").trailers("0", "")
    };
    for (name, reply, outcome, status) in [
        (
            "many",
            trailed(&fields(10_000)),
            Outcome::LimitHeaderCount,
            RESOURCE_EXHAUSTED,
        ),
        ("begun", begun("x-bin"), Outcome::GrpcInternal, INTERNAL),
        (
            "ended",
            unary("x-bin", "***"),
            Outcome::GrpcInternal,
            INTERNAL,
        ),
        (
            "capital",
            unary("X-Name", "a"),
            Outcome::H2StreamProtocolError,
            INTERNAL,
        ),
        (
            "Grpc-",
            begun("Grpc-Status"),
            Outcome::H2StreamProtocolError,
            INTERNAL,
        ),
    ] {
        let result = run(
            calls(CallKind::Unary),
            world(Http2Behaviour::new().says(reply)),
        );
        fails(&result, outcome, status, name);
    }
}

#[test]
fn a_server_that_goes_away_is_quoted_and_dialed_ever_less_often() {
    const ENHANCE_YOUR_CALM: u32 = 11;
    let script = Http2Behaviour::new()
        .says(Reply::never())
        .says_why("too_many_pings");
    let script = script.goes_away(1, LastId::Come, ENHANCE_YOUR_CALM, Farewell::AtOnce);
    let plan = closed(1).connections(1).http2(1).lasts(secs(10));
    let result = run(plan.calls(CallKind::Unary, Said::once()), world(script));
    let count = result.summary.total.counts.failed;
    failures(
        &result.summary,
        &[(Outcome::H2ConnectionEnhanceYourCalm, count)],
    );
    assert_eq!(words(&result), "too_many_pings");
    // Pauses that double up to 100 ms: ten a second, and a few more in the first second.
    let dials = result.log.dials;
    assert!((98..=112).contains(&dials), "{dials}");
}
