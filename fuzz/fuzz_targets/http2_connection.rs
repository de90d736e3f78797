//! A connection as a state machine: a caller and a server act arbitrarily. Every stream ends
//! exactly once, windows are not exceeded, and counters are right.

#![no_main]

use drumfire_http2::{
    Connection, EndStream, ErrorCode, Event, Head, Indexing, Settings, StreamRef,
};
use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;
use std::collections::BTreeMap;

#[derive(Arbitrary, Debug)]
enum FuzzedDo {
    Open(bool),
    Send(u8, u16, bool),
    Reset(u8),
    Written(u16),
    Ping,
    /// A frame from the server: type, flags, stream and payload.
    Frame(u8, u8, u8, Vec<u8>),
    /// Valid frames.
    Settings(u8, u16),
    Respond(u8, u8, bool),
    Data(u8, u16, bool),
    Update(u8, u16),
    Abort(u8, u8),
    GoAway(u8),
}

/// The state of a stream, as the caller sees it.
#[derive(Debug, Default)]
struct Seen {
    head: bool,
    over: bool,
    given_up: bool,
}

struct Lab {
    connection: Connection,
    head: Head,
    streams: Vec<StreamRef>,
    seen: BTreeMap<u32, Seen>,
    failed: bool,
}

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u32).to_be_bytes();
    let mut bytes = vec![length[1], length[2], length[3], kind, flags];
    bytes.extend_from_slice(&stream.to_be_bytes());
    bytes.extend_from_slice(payload);
    bytes
}

impl Lab {
    fn new() -> Self {
        let field = |name: &'static str, value: &'static str| {
            (name.as_bytes(), value.as_bytes(), Indexing::Allowed)
        };
        let settings = Settings {
            streams: 5,
            stream_window: 1000,
            ..Settings::default()
        };
        let fields = [
            field(":method", "POST"),
            field(":path", "/x"),
            field("user-agent", "y"),
        ];
        Self {
            connection: Connection::new(&settings),
            head: Head::new(fields).expect("a head"),
            streams: Vec::new(),
            seen: BTreeMap::new(),
            failed: false,
        }
    }

    fn stream(&self, at: u8) -> Option<(u32, StreamRef)> {
        let at = usize::from(at).checked_rem(self.streams.len())?;
        Some((at as u32, self.streams[at]))
    }

    fn serve(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        loop {
            let Ok(step) = self.connection.handle_input(rest) else {
                assert!(!self.failed, "one error is all");
                self.failed = true;
                return;
            };
            rest = &rest[step.consumed..];
            assert!(!self.failed || matches!(step.event, Event::NeedInput));
            match step.event {
                Event::NeedInput => break,
                Event::Interim { token, .. } => {
                    let seen = self.outstanding(token);
                    assert!(!seen.head);
                }
                Event::Head {
                    token,
                    headers,
                    end,
                    ..
                } => {
                    assert!(headers.iter().all(|(name, _)| !name.starts_with(':')));
                    let seen = self.outstanding(token);
                    assert!(!seen.head);
                    seen.head = true;
                    seen.over = end;
                }
                Event::Data { token, bytes, end } => {
                    assert!(end || !bytes.is_empty());
                    let seen = self.outstanding(token);
                    assert!(seen.head);
                    seen.over = end;
                }
                Event::Trailers { token, .. } => {
                    let seen = self.outstanding(token);
                    assert!(seen.head);
                    seen.over = true;
                }
                Event::StreamFailed { token, .. } | Event::Unprocessed { token } => {
                    self.outstanding(token).over = true;
                }
                Event::Writable { token } => {
                    assert!(!self.seen[&token].given_up);
                }
                _ => {}
            }
        }
        assert!(rest.is_empty());
    }

    /// The state of a stream that may still have events.
    fn outstanding(&mut self, token: u32) -> &mut Seen {
        let seen = self.seen.get_mut(&token).expect("a token of ours");
        assert!(!seen.over && !seen.given_up, "the response was over");
        seen
    }

    fn open(&mut self, end: bool) {
        let end = if end { EndStream::Yes } else { EndStream::No };
        let room = self.connection.capacity() > 0;
        let token = self.streams.len() as u32;
        let opened = self
            .connection
            .open(token, &self.head, &[(b"a", b"b")], end);
        assert_eq!(opened.is_ok(), room);
        if let Ok(stream) = opened {
            self.streams.push(stream);
            self.seen.insert(token, Seen::default());
        }
    }

    fn act(&mut self, step: FuzzedDo) {
        let id = |at: u8| u32::from(at % 16) * 2 + 1;
        match step {
            FuzzedDo::Open(end) => self.open(end),
            FuzzedDo::Send(at, count, end) => {
                if let Some((_, stream)) = self.stream(at) {
                    let end = if end { EndStream::Yes } else { EndStream::No };
                    let bytes = vec![0; usize::from(count)];
                    let _ = self.connection.send_data(stream, &bytes, end);
                }
            }
            FuzzedDo::Reset(at) => {
                if let Some((token, stream)) = self.stream(at) {
                    self.connection.reset(stream, ErrorCode::CANCEL);
                    self.seen.get_mut(&token).expect("a token").given_up = true;
                }
            }
            FuzzedDo::Written(count) => {
                let count = usize::from(count).min(self.connection.output().len());
                self.connection.output_sent(count);
                self.serve(&[]);
            }
            FuzzedDo::Ping => self.connection.ping([7; 8]),
            FuzzedDo::Frame(kind, flags, at, payload) => {
                let stream = if at % 4 == 0 { 0 } else { u32::from(at) };
                self.serve(&frame(kind % 12, flags, stream, &payload));
            }
            FuzzedDo::Settings(identifier, value) => {
                let value = u32::from(value).to_be_bytes();
                self.serve(&frame(
                    4,
                    0,
                    0,
                    &[&[0, identifier % 8][..], &value].concat(),
                ));
            }
            FuzzedDo::Respond(at, status, end) => {
                self.serve(&frame(1, 4 | u8::from(end), id(at), &[0x88 + status % 7]));
            }
            FuzzedDo::Data(at, count, end) => {
                let payload = vec![0; usize::from(count % 1100)];
                self.serve(&frame(0, u8::from(end), id(at), &payload));
            }
            FuzzedDo::Update(at, by) => {
                let stream = if at % 4 == 0 { 0 } else { id(at) };
                self.serve(&frame(8, 0, stream, &u32::from(by).to_be_bytes()));
            }
            FuzzedDo::Abort(at, code) => self.serve(&frame(3, 0, id(at), &[0, 0, 0, code])),
            FuzzedDo::GoAway(at) => {
                let last = id(at).to_be_bytes();
                self.serve(&frame(7, 0, 0, &[&last[..], &[0; 4]].concat()));
            }
        }
        self.books();
    }

    /// Checks that the connection's counters agree with the events.
    fn books(&self) {
        let outstanding = self
            .seen
            .iter()
            .filter(|(_, seen)| !seen.over && !seen.given_up);
        let expected: Vec<u32> = outstanding.map(|(token, _)| *token).collect();
        let mut tokens: Vec<u32> = self.connection.tokens().collect();
        tokens.sort_unstable();
        assert!(self.failed || tokens == expected);
        assert!(self.connection.streams_open() <= 5 && self.connection.capacity() <= 5);
        assert!(!self.connection.is_spent() || self.connection.capacity() == 0);
    }
}

fuzz_target!(|steps: Vec<FuzzedDo>| {
    let mut lab = Lab::new();
    for step in steps {
        lab.act(step);
    }
});
