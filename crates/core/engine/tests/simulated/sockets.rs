//! WebSockets: messages that are answered and messages that come unasked, with exact times, and
//! servers that refuse, close or break the protocol.

use crate::programs::send;
use crate::{close, failures, ms, run, secs, seen};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use drumfire_measure::{Closing, Outcome};
use drumfire_plan::{
    Affinity, Body, Deflate, Inspection, KeepAlive, MessageKind, Mismatch, MismatchKind, OnFailure,
    Pause, Program, Receive, ReceiveUntil, Response, SocketAct, Step, Taken, WebSocket,
};
use drumfire_testkit::{Answer, Draft, Request, Server, Simulated, World, closed, open};
use drumfire_units::{ByteSize, Nanos};
use drumfire_websocket::Key;
use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// An unmasked frame of a server.
fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![first];
    match payload.len() {
        length @ 0..=125 => bytes.push(length as u8),
        length => {
            bytes.push(126);
            bytes.extend_from_slice(&(length as u16).to_be_bytes());
        }
    }
    bytes.extend_from_slice(payload);
    bytes
}

fn text(payload: &[u8]) -> Vec<u8> {
    frame(0x81, payload)
}

/// The answer to a handshake.
fn accepted(request: &Request<'_>) -> Vec<u8> {
    let key = request.header("sec-websocket-key").expect("a key");
    let random = STANDARD.decode(key).expect("base64");
    let key = Key::new(random.try_into().expect("16 bytes"));
    let accept = String::from_utf8(key.accept().to_vec()).expect("ASCII");
    format!(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {accept}\r\n\r\n"
    )
    .into_bytes()
}

/// A server that answers handshakes, closes, and messages as `answer` says.
fn server(answer: impl Fn(&Request<'_>) -> Answer + Send + Sync + 'static) -> Server {
    Server::new().answers(move |request| match (request.head, request.frame) {
        ("", 0x88) => Answer::raw(&frame(0x88, request.body)).then_closes(Nanos::ZERO),
        ("", 0x8a) => Answer::raw(b""),
        ("", _) => answer(request),
        _ => Answer::raw(&accepted(request)),
    })
}

/// A server that returns each message after 5 ms.
fn echo() -> Server {
    server(|request| Answer::raw(&frame(request.frame, request.body)).after(ms(5)))
}

const ONE: Receive = Receive {
    until: ReceiveUntil::Count(1),
    gap: Nanos::MAX,
};

fn socket(act: SocketAct, opens: bool) -> Option<Arc<WebSocket>> {
    Some(Arc::new(WebSocket {
        act,
        opens,
        subprotocols: Vec::new(),
        deflate: Deflate::No,
    }))
}

const fn message(send: bool, receive: Option<Receive>) -> SocketAct {
    SocketAct::Message {
        send: match send {
            true => Some(MessageKind::Text),
            false => None,
        },
        receive,
    }
}

/// A plan whose requests open their connections and do this.
fn on_demand(plan: Draft, act: SocketAct) -> Draft {
    plan.with(|pool| {
        for request in &mut pool.requests {
            request.socket = socket(act.clone(), true);
            request.body = Body(Some(Arc::from(&b"hello"[..])));
        }
    })
}

/// A plan of iterations with these steps: an action on the user's WebSocket, or a pause.
fn talk(plan: Draft, steps: Vec<Result<SocketAct, Nanos>>) -> Draft {
    let urls = vec!["http://sut/chat"; steps.len()];
    plan.to(&urls).with(|pool| {
        pool.connections.affinity = Affinity::User;
        let mut program = Vec::new();
        for ((index, step), request) in (0..).zip(steps).zip(&mut pool.requests) {
            request.step = format!("step {index}");
            request.body = Body(Some(Arc::from(&b"hello"[..])));
            match step {
                Ok(act) => {
                    let opens = act == SocketAct::Connect;
                    request.socket = socket(act, opens);
                    let Step::Request { takes, retry, .. } = send(index) else {
                        unreachable!("a request");
                    };
                    program.push(Step::Request {
                        request: index,
                        retry,
                        on_failure: OnFailure::EndIteration,
                        takes,
                    });
                }
                Err(time) => {
                    request.socket = socket(SocketAct::Connect, true);
                    let pause = Pause::Even {
                        from: time,
                        to: time,
                    };
                    program.push(Step::Pause(pause));
                }
            }
        }
        pool.program = Program::of_steps(program);
    })
}

const CLOSE: SocketAct = SocketAct::Close {
    code: Some(1000),
    reason: String::new(),
};

/// The messages of the whole run: sent and received.
fn counts(result: &Simulated) -> (u64, u64) {
    let messages = &result.summary.total.messages;
    (messages.sent, messages.received)
}

#[test]
fn an_answered_message_is_measured_by_its_exchange() {
    let plan = on_demand(closed(1).requests(100), message(true, Some(ONE)));
    let result = run(plan, World::new(echo()));
    failures(&result.summary, &[]);
    assert_eq!(result.log.connections, 1, "the connection is kept");
    assert_eq!(counts(&result), (100, 100));
    let total = &result.summary.total;
    assert_eq!(total.messages.gap.count(), 0, "answers have no gaps");
    assert!(total.latency.service_time.min() >= ms(5) && total.latency.service_time.max() <= ms(6));
}

#[test]
fn a_message_counts_from_when_it_was_due() {
    // Every second, the server works for only half of it: at 10/s, every other half second of
    // messages waits behind the one that is stalled.
    let stalled = echo().stalls(ms(500), secs(1));
    let plan = on_demand(
        open("const(10/s,10s)").connections(1),
        message(true, Some(ONE)),
    );
    let result = run(plan, World::new(stalled));
    failures(&result.summary, &[]);
    let total = &result.summary.total;
    assert_eq!(total.counts.intended, 100);
    assert!(
        total.latency.response_time.max() >= ms(450),
        "{}",
        total.latency.response_time.max()
    );
    let waited = total.latency.response_time.mean();
    let served = total.latency.service_time.mean();
    assert!(waited > served, "waiting counts: {waited} and {served}");
}

#[test]
fn every_cut_of_the_servers_bytes_is_the_same() {
    for cut in 1..170 {
        let server = Server::new().answers(move |request| {
            let bytes = match request.head {
                "" => [
                    frame(0x89, b"are you there"),
                    text(request.body),
                    text(b"more"),
                ]
                .concat(),
                _ => accepted(request),
            };
            let bytes = match request.frame {
                0x88 => frame(0x88, request.body),
                0x8a => Vec::new(),
                _ => bytes,
            };
            Answer::raw(&bytes).cut_at(&[cut], ms(10))
        });
        let plan = on_demand(closed(1).requests(3), message(true, Some(ONE)));
        let result = run(plan, World::new(server));
        failures(&result.summary, &[]);
        let (sent, received) = counts(&result);
        assert_eq!(sent, 3, "{cut}");
        assert!(
            (5..=6).contains(&received),
            "{received} with a cut at {cut}"
        );
    }
}

#[test]
fn a_ping_is_answered_at_once() {
    let pongs = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&pongs);
    let server = Server::new().answers(move |request| match (request.head, request.frame) {
        ("", 0x8a) => {
            assert_eq!(request.body, b"ping");
            counted.fetch_add(1, Ordering::Relaxed);
            Answer::raw(b"")
        }
        ("", _) => Answer::raw(&[frame(0x89, b"ping"), text(b"x")].concat()),
        _ => Answer::raw(&accepted(request)),
    });
    let plan = on_demand(closed(1).requests(10), message(true, Some(ONE)));
    let result = run(plan.thinks(ms(50)), World::new(server));
    failures(&result.summary, &[]);
    assert_eq!(pongs.load(Ordering::Relaxed), 10);
}

#[test]
fn the_steps_of_a_user_share_a_connection_that_ends_with_the_iteration() {
    let steps = vec![
        Ok(SocketAct::Connect),
        Ok(message(true, Some(ONE))),
        Err(ms(20)),
        Ok(message(true, Some(ONE))),
    ];
    let plan = talk(closed(3).connections(3).iterations(30), steps.clone());
    let result = run(plan, World::new(echo()));
    failures(&result.summary, &[]);
    assert_eq!(result.log.connections, 30);
    assert_eq!(counts(&result), (60, 60));
    let mut with_close = steps;
    with_close.push(Ok(CLOSE));
    let plan = talk(closed(3).connections(3).iterations(30), with_close);
    let result = run(plan, World::new(echo()));
    failures(&result.summary, &[]);
    assert_eq!(result.log.connections, 30);
    let left = Closing::ALL.iter().position(|why| *why == Closing::Left);
    assert_eq!(result.summary.total.connections.closed[left.unwrap()], 30);
}

#[test]
fn messages_between_two_steps_are_kept_for_the_next() {
    // The server greets in the bytes of its answer, and pushes two messages after each of ours.
    let server = Server::new().answers(|request| match (request.head, request.frame) {
        ("", 0x88) => Answer::raw(&frame(0x88, b"")),
        ("", _) => Answer::raw(&[text(b"a"), text(b"b"), text(b"c")].concat()),
        _ => Answer::raw(&[accepted(request), text(b"welcome")].concat()),
    });
    let three = Receive {
        until: ReceiveUntil::Count(3),
        gap: Nanos::MAX,
    };
    let steps = vec![
        Ok(SocketAct::Connect),
        Err(ms(10)),
        Ok(message(false, Some(ONE))),
        Ok(message(true, None)),
        Err(ms(10)),
        Ok(message(false, Some(three))),
    ];
    let plan = talk(closed(1).iterations(5), steps).with(|pool| {
        pool.timeouts.total = secs(1);
    });
    let result = run(plan, World::new(server));
    failures(&result.summary, &[]);
    assert_eq!(counts(&result).0, 5);
}

#[test]
fn messages_that_come_unasked_are_counted_with_their_gaps() {
    let server = Server::new().answers(|request| {
        let greeting = [accepted(request), text(b"1"), text(b"2"), text(b"3")].concat();
        let head = greeting.len() - 9;
        Answer::raw(&greeting).cut_at(&[head, head + 3, head + 6], ms(20))
    });
    let listen = Receive {
        until: ReceiveUntil::Time(ms(200)),
        gap: Nanos::MAX,
    };
    let plan = on_demand(closed(1).requests(1), message(false, Some(listen)));
    let result = run(plan, World::new(server));
    failures(&result.summary, &[]);
    let total = &result.summary.total;
    assert_eq!(counts(&result), (0, 3));
    assert_eq!(
        (total.messages.first.count(), total.messages.gap.count()),
        (1, 2)
    );
    let gap = total.messages.gap.min();
    assert!(gap >= ms(20) && gap <= ms(21), "{gap}");
    assert!(
        total.latency.service_time.max() >= ms(190),
        "{}",
        total.latency.service_time.max()
    );
}

#[test]
fn a_refused_handshake_has_a_name() {
    let status = |status| Server::new().says(Answer::status(status));
    let wrong = Server::new().answers(|request| {
        let text = String::from_utf8(accepted(request)).expect("ASCII");
        Answer::raw(text.replace("Accept: ", "Accept: x").as_bytes())
    });
    for (server, outcome) in [
        (status(403), Outcome::WebSocketRefused),
        (status(200), Outcome::WebSocketRefused),
        (wrong, Outcome::WebSocketHandshake),
        (
            Server::new().says(Answer::raw(b"SSH-2.0-x\r\n")),
            Outcome::ProtoNotHttp,
        ),
    ] {
        let plan = on_demand(closed(1).requests(3), message(true, Some(ONE)));
        let result = run(plan, World::new(server.clone()));
        failures(&result.summary, &[(outcome, 3)]);
        let steps = vec![Ok(SocketAct::Connect), Ok(message(true, Some(ONE)))];
        let result = run(talk(closed(1).iterations(3), steps), World::new(server));
        assert_eq!(seen(&result.summary, outcome), 3);
    }
}

/// A frame that announces this length, without its payload.
fn announced(first: u8, length: u64) -> Vec<u8> {
    let mut bytes = vec![first, 127];
    bytes.extend_from_slice(&length.to_be_bytes());
    bytes
}

/// What a server sends instead of an answer before it closes, and how this is counted.
fn ends() -> Vec<(&'static str, Vec<u8>, Outcome)> {
    use Outcome::{LimitMessage, WebSocketClosed, WebSocketLost, WebSocketProtocol};
    let longest = 64 * 1024 * 1024;
    let long_parts = [frame(0x01, b"a"), announced(0x00, longest)].concat();
    let closes = [
        ("a close", frame(0x88, b"\x03\xe9")),
        ("a close with a reason", frame(0x88, b"\x0f\xa0enough")),
        ("a close without a code", frame(0x88, b"")),
    ];
    let cuts = [
        ("no close", Vec::new()),
        ("a cut header", vec![0x81]),
        ("a cut message", frame(0x81, b"hello")[..4].to_vec()),
        ("a cut fragment", frame(0x01, b"hello")),
    ];
    let too_long = [
        ("a frame that is too long", announced(0x82, longest + 1)),
        ("fragments that are too long", long_parts),
    ];
    let ends = closes.map(|(what, bytes)| (what, bytes, WebSocketClosed));
    let cuts = cuts.map(|(what, bytes)| (what, bytes, WebSocketLost));
    let too_long = too_long.map(|(what, bytes)| (what, bytes, LimitMessage));
    let wrong = violations().map(|(what, bytes)| (what, bytes, WebSocketProtocol));
    ends.into_iter()
        .chain(cuts)
        .chain(too_long)
        .chain(wrong)
        .collect()
}

/// Bytes that no server may send.
fn violations() -> [(&'static str, Vec<u8>); 14] {
    [
        ("a masked frame", b"\x81\x81\0\0\0\0x".to_vec()),
        ("a text that is not UTF-8", frame(0x81, b"\xff")),
        ("half a character", frame(0x81, b"\xe2\x82")),
        ("a reserved bit", frame(0xc1, b"x")),
        ("a reserved opcode", frame(0x83, b"x")),
        ("a reserved control opcode", frame(0x8b, b"x")),
        ("a fragmented ping", frame(0x09, b"x")),
        ("a long ping", frame(0x89, &[b'x'; 126])),
        ("a close of one byte", frame(0x88, b"\x03")),
        ("a code that is never sent", frame(0x88, b"\x03\xed")),
        ("a reason that is not UTF-8", frame(0x88, b"\x03\xe8\xff")),
        ("a continuation of nothing", frame(0x80, b"x")),
        (
            "a message in another",
            [frame(0x01, b"a"), text(b"b")].concat(),
        ),
        ("a length of 64 bits", announced(0x82, u64::MAX)),
    ]
}

#[test]
fn an_end_by_the_server_has_a_name() {
    for (what, bytes, outcome) in ends() {
        let third = move |request: &Request<'_>| match request.number {
            3 => Answer::raw(&bytes).then_closes(Nanos::ZERO),
            _ => Answer::raw(&text(request.body)),
        };
        let plan = on_demand(closed(1).requests(30), message(true, Some(ONE)));
        let result = run(plan, World::new(server(third)));
        // Each connection carries two messages, and fails with the third.
        assert_eq!(seen(&result.summary, outcome), 10, "{what}");
        assert_eq!(result.summary.total.counts.ok, 20, "{what}");
        assert_eq!(result.log.connections, 10, "{what}");
    }
}

/// A listener fails, too: a time that is not over is not a success, however many messages came.
#[test]
fn a_listener_whose_connection_ends_has_failed() {
    let listen = Receive {
        until: ReceiveUntil::Time(secs(1)),
        gap: Nanos::MAX,
    };
    for (what, bytes, outcome) in ends() {
        let server = Server::new().answers(move |request| match request.head {
            "" => Answer::raw(b""),
            _ => Answer::raw(&[accepted(request), text(b"1"), bytes.clone()].concat())
                .then_closes(ms(10)),
        });
        let plan = on_demand(closed(1).requests(3), message(false, Some(listen)));
        let result = run(plan, World::new(server));
        assert_eq!(seen(&result.summary, outcome), 3, "{what}");
        assert_eq!(result.summary.total.counts.ok, 0, "{what}");
        assert_eq!(counts(&result), (0, 3), "{what}");
    }
}

#[test]
fn a_reset_is_never_a_success() {
    let resets = |request: &Request<'_>| Answer::raw(&text(request.body)[..3]).then_resets(ms(1));
    let plan = on_demand(closed(1).requests(5), message(true, Some(ONE)));
    let result = run(plan, World::new(server(resets)));
    failures(&result.summary, &[(Outcome::WebSocketLost, 5)]);
}

#[test]
fn a_message_that_never_ends_fails_with_its_time() {
    // Fragments without content, with pings between them.
    let endless = |_: &Request<'_>| {
        let piece = [frame(0x00, b""), frame(0x89, b"x")].concat();
        Answer::raw(&[frame(0x01, b"a"), piece.repeat(20_000)].concat()).dripping(10_000, ms(10))
    };
    let plan = on_demand(closed(1).requests(3), message(true, Some(ONE)))
        .with(|pool| pool.timeouts.total = ms(50));
    let result = run(plan, World::new(server(endless)));
    failures(&result.summary, &[(Outcome::TimeoutTotal, 3)]);
    assert_eq!(counts(&result), (3, 0));
}

#[test]
fn a_small_message_that_becomes_long_has_a_limit() {
    let mut packed = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
    let chunk = vec![0; 1024 * 1024];
    for _ in 0..65 {
        packed.write_all(&chunk).expect("memory");
    }
    packed.flush().expect("memory");
    let packed = packed.get_ref().clone();
    let message_bytes = {
        let mut bytes = announced(0xc2, packed.len() as u64);
        bytes.extend_from_slice(&packed);
        bytes
    };
    let server = Server::new().answers(move |request| match request.head {
        "" => Answer::raw(&message_bytes),
        _ => {
            let text = String::from_utf8(accepted(request)).expect("ASCII");
            let extension = "\r\nSec-WebSocket-Extensions: permessage-deflate\r\n\r\n";
            Answer::raw(text.replace("\r\n\r\n", extension).as_bytes())
        }
    });
    let mut act = socket(message(true, Some(ONE)), true);
    if let Some(socket) = act.as_mut().and_then(Arc::get_mut) {
        socket.deflate = Deflate::Offer;
    }
    let plan = on_demand(closed(1).requests(2), message(true, Some(ONE)))
        .with(|pool| pool.requests[0].socket.clone_from(&act));
    let result = run(plan, World::new(server));
    failures(&result.summary, &[(Outcome::LimitMessage, 2)]);
}

/// A message that comes with the answer to the handshake answers nothing.
#[test]
fn a_greeting_is_not_an_answer() {
    let server = Server::new().answers(|request| match (request.head, request.frame) {
        ("", 0x88) => Answer::raw(&frame(0x88, request.body)),
        ("", _) => Answer::raw(&text(request.body)).after(ms(5)),
        _ => Answer::raw(&[accepted(request), text(b"welcome")].concat()),
    });
    let plan = on_demand(closed(1).requests(4), message(true, Some(ONE)))
        .with(|pool| pool.requests[0].inspection = Some(Arc::new(Says("hello"))));
    let result = run(plan, World::new(server));
    failures(&result.summary, &[]);
    assert_eq!(counts(&result), (4, 5));
    assert!(result.summary.total.latency.service_time.min() >= ms(5));
}

#[test]
fn a_step_after_the_end_fails_with_it() {
    let closes = |_: &Request<'_>| {
        Answer::raw(&[text(b"x"), frame(0x88, b"\x03\xe9bye")].concat()).then_closes(Nanos::ZERO)
    };
    let steps = vec![
        Ok(SocketAct::Connect),
        Ok(message(true, Some(ONE))),
        Err(ms(50)),
        Ok(message(true, Some(ONE))),
        Ok(message(true, Some(ONE))),
    ];
    let result = run(
        talk(closed(1).iterations(4), steps),
        World::new(server(closes)),
    );
    failures(&result.summary, &[(Outcome::WebSocketClosed, 4)]);
    let errors = format!("{:?}", result.summary.total.errors());
    assert!(
        errors.contains("1001") && errors.contains("bye"),
        "{errors}"
    );
    let steps = vec![Ok(message(true, Some(ONE)))];
    let result = run(talk(closed(1).iterations(4), steps), World::new(echo()));
    failures(&result.summary, &[(Outcome::WebSocketNotOpen, 4)]);
}

#[test]
fn a_late_answer_is_never_taken_for_the_next() {
    let late = |request: &Request<'_>| match request.number {
        2 => Answer::raw(&text(b"late")).after(secs(2)),
        _ => Answer::raw(&text(request.body)).after(ms(1)),
    };
    let plan = on_demand(closed(1).requests(10), message(true, Some(ONE)))
        .with(|pool| pool.timeouts.total = secs(1));
    let result = run(plan, World::new(server(late)));
    assert_eq!(seen(&result.summary, Outcome::TimeoutTotal), 5);
    assert_eq!(result.summary.total.counts.ok, 5);
    let service = &result.summary.total.latency.service_time;
    close(
        "the fastest answer",
        service.min().as_secs_f64(),
        0.0012,
        0.5,
    );
}

#[test]
fn a_gap_has_its_own_limit() {
    let slow = |request: &Request<'_>| {
        let bytes = [text(request.body), text(b"2"), text(b"3")].concat();
        let first = bytes.len() - 6;
        Answer::raw(&bytes).cut_at(&[first, first + 3], ms(300))
    };
    for (gap, outcome) in [(ms(200), Some(Outcome::TimeoutGap)), (ms(400), None)] {
        let three = Receive {
            until: ReceiveUntil::Count(3),
            gap,
        };
        let plan = on_demand(closed(1).requests(2), message(true, Some(three)));
        let result = run(plan, World::new(server(slow)));
        let expected: Vec<_> = outcome.map(|outcome| (outcome, 2)).into_iter().collect();
        failures(&result.summary, &expected);
    }
}

/// Accepts a message with this text.
#[derive(Debug)]
struct Says(&'static str);

impl Inspection for Says {
    fn fields(&self) -> &[String] {
        &[]
    }

    fn body_max(&self) -> Option<ByteSize> {
        Some(ByteSize(100))
    }

    fn inspect(&self, response: &Response<'_>, _: &mut Taken) -> Result<(), Mismatch> {
        match response.body == self.0.as_bytes() {
            true => Ok(()),
            false => Err(Mismatch {
                kind: MismatchKind::Body,
                reason: String::from_utf8_lossy(response.body).into_owned(),
            }),
        }
    }
}

#[test]
fn checks_see_the_messages() {
    let pushes = |_: &Request<'_>| {
        Answer::raw(&[text(b"a"), text(b"b"), text(b"ready"), text(b"c")].concat())
    };
    let receive = |until| {
        message(
            true,
            Some(Receive {
                until,
                gap: Nanos::MAX,
            }),
        )
    };
    for (until, says, outcome) in [
        (ReceiveUntil::Match, "ready", Outcome::Ok),
        (ReceiveUntil::Count(1), "a", Outcome::Ok),
        (ReceiveUntil::Count(1), "b", Outcome::AssertBody),
        (ReceiveUntil::Count(2), "a\nb", Outcome::Ok),
        (ReceiveUntil::Match, "never", Outcome::TimeoutTotal),
    ] {
        let plan = on_demand(closed(1).requests(2), receive(until)).with(|pool| {
            pool.timeouts.total = secs(1);
            pool.requests[0].inspection = Some(Arc::new(Says(says)));
        });
        let result = run(plan, World::new(server(pushes)));
        assert_eq!(seen(&result.summary, outcome), 2, "{until:?} {says}");
    }
    let long = |_: &Request<'_>| Answer::raw(&text(&[b'x'; 300]));
    let plan = on_demand(closed(1).requests(1), message(true, Some(ONE)))
        .with(|pool| pool.requests[0].inspection = Some(Arc::new(Says("x"))));
    let result = run(plan, World::new(server(long)));
    failures(&result.summary, &[(Outcome::LimitBody, 1)]);
}

#[test]
fn a_connection_carries_as_many_messages_as_the_plan_allows() {
    let plan = on_demand(closed(1).requests(30), message(true, Some(ONE)))
        .with(|pool| pool.connections.keep_alive = KeepAlive::AtMost(10));
    let result = run(plan, World::new(echo()));
    failures(&result.summary, &[]);
    assert_eq!(result.log.connections, 3);
}

#[test]
fn a_message_that_waits_for_room_is_sent_whole() {
    let lengths =
        |request: &Request<'_>| Answer::raw(&text(request.body.len().to_string().as_bytes()));
    let plan = on_demand(closed(1).requests(5), message(true, Some(ONE))).with(|pool| {
        pool.requests[0].body = Body(Some(vec![b'x'; 50_000].into()));
        pool.requests[0].inspection = Some(Arc::new(Says("50000")));
    });
    let result = run(plan, World::new(server(lengths).window(1000)));
    failures(&result.summary, &[]);
    assert_eq!(counts(&result), (5, 5));
}

#[test]
fn messages_without_an_answer_do_not_stop_the_schedule() {
    let quiet = |_: &Request<'_>| Answer::raw(b"");
    let plan = on_demand(open("const(1000/s,2s)").connections(4), message(true, None));
    let result = run(plan, World::new(server(quiet)));
    failures(&result.summary, &[]);
    assert_eq!(counts(&result), (2000, 0));
}
