//! Servers that answer a schema request late, never, or with something else.

use crate::support::program::{LIMIT, words};
use crate::support::script::Peer;
use crate::support::{Folder, Process, Run, Script, Serve, drumfire, in_time, punctually};
use std::io::Read as _;
use std::time::{Duration, Instant};

/// Frame types and flags of RFC 9113 section 6.
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;
const ACK: u8 = 1;

/// `:status: 200` and `content-type: application/grpc` in HPACK (RFC 7541).
const OK: &[u8] = b"\x88\x0f\x10\x10application/grpc";
/// `:status: 404` and `content-type: text/html`.
const NOT_FOUND: &[u8] = b"\x8d\x0f\x10\x09text/html";
/// `grpc-status: 0`.
const STATUS_OK: &[u8] = b"\x00\x0bgrpc-status\x010";

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    let mut frame = length[1..].to_vec();
    frame.extend([kind, flags]);
    frame.extend(stream.to_be_bytes());
    frame.extend(payload);
    frame
}

/// A field of a protobuf message, whose value is bytes.
fn field(number: u8, value: &[u8]) -> Vec<u8> {
    let mut field = vec![number << 3 | 2, u8::try_from(value.len()).unwrap()];
    field.extend(value);
    field
}

/// Answers each stream after its end. `answer` computes the response from the stream's number on
/// this server.
fn after_the_end(peer: &mut Peer, answer: &dyn Fn(u32) -> Vec<u8>) {
    let mut preface = [0; 24];
    if peer.stream.read_exact(&mut preface).is_err() {
        return;
    }
    peer.send(frame(SETTINGS, 0, 0, b""));
    loop {
        let mut head = [0; 9];
        if peer.stream.read_exact(&mut head).is_err() {
            return;
        }
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
        let mut payload = vec![0; length as usize];
        if peer.stream.read_exact(&mut payload).is_err() {
            return;
        }
        let (kind, flags) = (head[3], head[4]);
        let stream = u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
        match kind {
            SETTINGS if flags & ACK == 0 => {
                peer.send(frame(SETTINGS, ACK, 0, b""));
            }
            DATA | HEADERS if flags & END_STREAM != 0 => {
                peer.send(answer(stream));
            }
            _ => {}
        }
    }
}

/// Runs the program to list a server's services.
fn list(port: u16) -> (Run, Duration) {
    let line = format!("grpc 127.0.0.1:{port} --plaintext --list");
    let begun = Instant::now();
    let run = Process::start(&mut drumfire(words(&line))).finish(LIMIT);
    (run, begun.elapsed())
}

/// A proxy that reads the whole request before it forwards it can answer only one request per
/// stream.
#[test]
fn a_server_that_waits_for_the_end_has_it() {
    punctually(SLACK, waits_for_the_end);
}

/// The maximum delay of an answer that takes a second or three.
const SLACK: Duration = Duration::from_secs(2);

fn waits_for_the_end() -> Result<(), String> {
    use std::sync::atomic::{AtomicU32, Ordering};
    let asked = AtomicU32::new(0);
    let server = Script::new(move |peer| {
        after_the_end(peer, &|stream| {
            // A list with one service, then the file that contains the service.
            let service = field(6, &field(1, &field(1, b"a.B")));
            let file = [
                field(1, b"a.proto"),
                field(2, b"a"),
                field(6, &field(1, b"B")),
            ]
            .concat();
            let message = match asked.fetch_add(1, Ordering::Relaxed) {
                0 => service,
                _ => field(4, &field(1, &file)),
            };
            let mut body = vec![0, 0, 0, 0, u8::try_from(message.len()).unwrap()];
            body.extend(message);
            [
                frame(HEADERS, END_HEADERS, stream, OK),
                frame(DATA, 0, stream, &body),
                frame(HEADERS, END_HEADERS | END_STREAM, stream, STATUS_OK),
            ]
            .concat()
        });
    });
    let (run, took) = list(server.port());
    let none = "the schema has no methods\n";
    assert_eq!((run.code, &*run.stderr), (Some(0), none), "{}", run.stdout);
    assert_eq!(server.connections(), 2, "a stream for each question");
    in_time(took < Duration::from_secs(6), || format!("{took:?}"))
}

#[test]
fn what_is_no_server_of_grpc_is_named_soon() {
    let web = Script::new(|peer| {
        after_the_end(peer, &|stream| {
            frame(HEADERS, END_HEADERS | END_STREAM, stream, NOT_FOUND)
        });
    });
    let old = Script::new(|peer| {
        let _request = peer.request();
        peer.send("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        peer.shut_down_write();
    });
    let silent = Script::new(Peer::hold);
    for (server, says) in [(web, "404"), (old, "HTTP/1"), (silent, "sends nothing")] {
        punctually(SLACK, || {
            let (run, took) = list(server.port());
            assert_eq!(run.code, Some(1), "{says}: {}", run.stderr);
            assert!(run.stderr.contains(says), "{says}: {}", run.stderr);
            in_time(took < Duration::from_secs(6), || {
                format!("{says}: {took:?}")
            })
        });
    }
}

#[test]
fn another_server_than_the_one_that_is_called_may_be_asked() {
    // The server that receives the calls would never answer the schema request.
    let called = Script::new(Peer::hold);
    let asked = Serve::new("--grpc");
    let folder = Folder::new();
    let plan = |reflection: &str| {
        let port = called.port();
        format!(
            "drumfire: 1\npools:\n  calls:\n    target: 127.0.0.1:{port}\n    plaintext: true\n    \
             timeout: 300ms\n    connect_timeout: 2s\n    users: 1\n    stop: {{ requests: 1 }}\n    \
             {reflection}requests: [ {{ call: helloworld.Greeter/SayHello }} ]\n"
        )
    };
    let other = format!(
        "reflection: {{ target: '127.0.0.1:{}' }}\n    ",
        asked.port()
    );
    let run = |text: String| {
        let path = folder.write("plan.yaml", text);
        Process::start(&mut drumfire(["run", &path, "--json", "-"])).finish(LIMIT)
    };
    let known = run(plan(&other));
    assert!(
        known.stdout.contains("helloworld.Greeter/SayHello"),
        "{}",
        known.stderr
    );
    let unknown = run(plan(""));
    assert!(
        unknown.stderr.contains("could not fetch the schema"),
        "{}",
        unknown.stderr
    );
}
