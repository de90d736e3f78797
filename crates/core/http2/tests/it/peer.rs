//! A server made of bytes: frames for it to send, and a connection's events for them, in words.

use drumfire_http2::{
    Connection, EndStream, Error, ErrorCode, Event, Head, Indexing, Limits, Settings, Whole,
};
use std::fmt::Write as _;

pub(crate) const DATA: u8 = 0;
pub(crate) const HEADERS: u8 = 1;
pub(crate) const PRIORITY: u8 = 2;
pub(crate) const RST_STREAM: u8 = 3;
pub(crate) const SETTINGS: u8 = 4;
pub(crate) const PUSH_PROMISE: u8 = 5;
pub(crate) const PING: u8 = 6;
pub(crate) const GOAWAY: u8 = 7;
pub(crate) const WINDOW_UPDATE: u8 = 8;
pub(crate) const CONTINUATION: u8 = 9;

pub(crate) const END_STREAM: u8 = 1;
pub(crate) const ACK: u8 = 1;
pub(crate) const END_HEADERS: u8 = 4;
pub(crate) const PADDED: u8 = 8;
pub(crate) const WITH_PRIORITY: u8 = 0x20;

/// A frame.
pub(crate) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u32).to_be_bytes();
    let mut bytes = vec![length[1], length[2], length[3], kind, flags];
    bytes.extend_from_slice(&stream.to_be_bytes());
    bytes.extend_from_slice(payload);
    bytes
}

/// The server's SETTINGS with these entries.
pub(crate) fn settings(entries: &[(u16, u32)]) -> Vec<u8> {
    let mut payload = Vec::new();
    for (identifier, value) in entries {
        payload.extend_from_slice(&identifier.to_be_bytes());
        payload.extend_from_slice(&value.to_be_bytes());
    }
    frame(SETTINGS, 0, 0, &payload)
}

/// A header block of literals that do not enter the table.
pub(crate) fn block(fields: &[(&str, &str)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (name, value) in fields {
        bytes.push(0);
        for text in [name, value] {
            assert!(text.len() < 127, "one byte of length");
            bytes.push(text.len() as u8);
            bytes.extend_from_slice(text.as_bytes());
        }
    }
    bytes
}

/// HEADERS in one frame.
pub(crate) fn headers(stream: u32, flags: u8, fields: &[(&str, &str)]) -> Vec<u8> {
    frame(HEADERS, END_HEADERS | flags, stream, &block(fields))
}

/// The head of an ordinary response.
pub(crate) fn ok(stream: u32, flags: u8) -> Vec<u8> {
    headers(stream, flags, &[(":status", "200")])
}

/// DATA.
pub(crate) fn data(stream: u32, flags: u8, bytes: &[u8]) -> Vec<u8> {
    frame(DATA, flags, stream, bytes)
}

/// A frame that contains one number.
pub(crate) fn number(kind: u8, stream: u32, number: u32) -> Vec<u8> {
    frame(kind, 0, stream, &number.to_be_bytes())
}

/// GOAWAY.
pub(crate) fn goaway(last: u32, code: u32, debug: &[u8]) -> Vec<u8> {
    let payload = [&last.to_be_bytes()[..], &code.to_be_bytes(), debug].concat();
    frame(GOAWAY, 0, 0, &payload)
}

/// The head of a request with this method.
pub(crate) fn request(method: &str) -> Head {
    let field = |name: &'static str, value| (name.as_bytes(), value, Indexing::Allowed);
    Head::new([
        field(":method", method.as_bytes()),
        field(":scheme", b"http"),
        field(":authority", b"localhost"),
        field(":path", b"/"),
    ])
    .expect("a head")
}

/// One step of a conversation.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    /// The server sends frames.
    Serve(Vec<u8>),
    /// A request without a body; tokens count from 1, ids are 1, 3, 5 and so on.
    Get,
    /// A request for the head alone.
    GetHead,
    /// A request with a body, which follows.
    Post,
    /// Bytes of the body of the n-th stream.
    Send(u32, usize, EndStream),
    /// The n-th stream is reset.
    Reset(u32),
    /// All output is written.
    Write,
    /// The server closes its side.
    End,
}

/// A conversation: events and output, a word or a few for each.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Transcript {
    pub(crate) seen: Vec<String>,
    pub(crate) sent: Vec<String>,
    /// The bytes of the frames that brought responses.
    pub(crate) frame_bytes: usize,
    pub(crate) error: Option<Error>,
}

/// Plays a conversation in which the server's bytes arrive in the pieces that `cut` returns.
pub(crate) fn play<'a, C: IntoIterator<Item = &'a [u8]>>(
    settings: &Settings,
    acts: &'a [Act],
    mut cut: impl FnMut(&'a [u8]) -> C,
) -> Transcript {
    let mut connection = Connection::new(settings);
    let (mut transcript, mut streams, mut output) = (Transcript::default(), Vec::new(), Vec::new());
    for act in acts {
        match act {
            Act::Serve(bytes) => {
                for piece in cut(bytes) {
                    feed(&mut connection, piece, &mut transcript);
                }
            }
            Act::Get | Act::GetHead | Act::Post => {
                let head = request(match act {
                    Act::Get => "GET",
                    Act::GetHead => "HEAD",
                    _ => "POST",
                });
                let end = match act {
                    Act::Post => EndStream::No,
                    _ => EndStream::Yes,
                };
                let token = streams.len() as u32 + 1;
                let opened = connection.open(token, &head, &[], end);
                match opened {
                    Ok(stream) => streams.push(stream),
                    Err(error) => transcript.seen.push(error.to_string()),
                }
            }
            Act::Send(n, count, end) => {
                let stream = streams[*n as usize - 1];
                match connection.send_data(stream, &vec![0; *count], *end) {
                    Ok(taken) if taken == *count => {}
                    Ok(taken) => transcript.seen.push(format!("took {taken}")),
                    Err(error) => transcript.seen.push(error.to_string()),
                }
            }
            Act::Reset(n) => connection.reset(streams[*n as usize - 1], ErrorCode::CANCEL),
            Act::Write => {
                output.extend_from_slice(connection.output());
                connection.output_sent(connection.output().len());
                feed(&mut connection, &[], &mut transcript);
            }
            Act::End => {
                if let Err(error) = connection.handle_end() {
                    transcript.error = Some(error);
                }
            }
        }
    }
    output.extend_from_slice(connection.output());
    transcript.sent = describe_output(&output);
    transcript
}

/// Passes a piece of input to a connection and records its events.
pub(crate) fn feed(connection: &mut Connection, mut input: &[u8], transcript: &mut Transcript) {
    loop {
        if let Some(whole) = connection.whole(input) {
            note_whole(&whole, &mut transcript.seen);
            transcript.frame_bytes += whole.consumed;
            input = &input[whole.consumed..];
            continue;
        }
        let step = match connection.handle_input(input) {
            Ok(step) => step,
            Err(error) => {
                assert!(transcript.error.is_none(), "one error is all");
                transcript.error = Some(error);
                return;
            }
        };
        input = &input[step.consumed..];
        if let Event::NeedInput = step.event {
            assert!(input.is_empty(), "all is consumed");
            return;
        }
        if let Event::Head { .. } | Event::Data { .. } | Event::Trailers { .. } = step.event {
            transcript.frame_bytes += step.frame_bytes;
        }
        note(&step.event, &mut transcript.seen);
    }
}

/// Records a response that was read in one step, as the events to which it is equivalent.
fn note_whole(whole: &Whole<'_>, seen: &mut Vec<String>) {
    let token = whole.token;
    let head = Event::Head {
        token,
        status: whole.status,
        headers: whole.headers,
        end: false,
    };
    let data = Event::Data {
        token,
        bytes: whole.body,
        end: whole.trailers.is_none(),
    };
    let trailers = whole.trailers;
    let trailers = trailers.map(|headers| Event::Trailers { token, headers });
    for event in [head, data].into_iter().chain(trailers) {
        note(&event, seen);
    }
}

/// Records an event. Pieces of one body are merged.
fn note(event: &Event<'_>, seen: &mut Vec<String>) {
    let mut text = String::new();
    let fields = |headers: &drumfire_http2::Headers<'_>| {
        let mut text = String::new();
        for (name, value) in headers.iter() {
            let _ = write!(text, " {name}={}", value.escape_ascii());
        }
        text
    };
    let finish = |end: bool| if end { " end" } else { "" };
    let _ = match event {
        Event::NeedInput => return,
        Event::Ready => write!(text, "ready"),
        Event::Capacity => write!(text, "capacity"),
        Event::Interim { token, status } => write!(text, "{token} interim {status}"),
        Event::Head {
            token,
            status,
            headers,
            end,
        } => write!(
            text,
            "{token} head {status}{}{}",
            fields(headers),
            finish(*end)
        ),
        Event::Data { token, bytes, end } => {
            let before = format!("{token} data ");
            let mut length = bytes.len();
            if let Some(last) = seen.last()
                && let Some(count) = last.strip_prefix(&before)
                && let Ok(count) = count.parse::<usize>()
            {
                length += count;
                seen.pop();
            }
            write!(text, "{before}{length}{}", finish(*end))
        }
        Event::Trailers { token, headers } => write!(text, "{token} trailers{}", fields(headers)),
        Event::StreamFailed { token, error } => write!(text, "{token} failed: {error}"),
        Event::Unprocessed { token } => write!(text, "{token} unprocessed"),
        Event::GoAway { code, debug } => write!(text, "goaway {code} {}", debug.escape_ascii()),
        Event::Writable { token } => write!(text, "{token} writable"),
        Event::Pong { payload } => write!(text, "pong {}", payload.escape_ascii()),
    };
    seen.push(text);
}

/// The frames of an output, in words.
pub(crate) fn describe_output(output: &[u8]) -> Vec<String> {
    let mut rest = output
        .strip_prefix(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
        .expect("the preface");
    let mut frames = Vec::new();
    while let Some((header, after)) = rest.split_first_chunk::<9>() {
        let length = u32::from_be_bytes([0, header[0], header[1], header[2]]) as usize;
        let stream = u32::from_be_bytes([header[5], header[6], header[7], header[8]]);
        let (payload, after) = after.split_at(length);
        rest = after;
        let tail = |at: usize| u32::from_be_bytes(payload[at..at + 4].try_into().expect("four"));
        let end = if header[4] & END_STREAM != 0 {
            " end"
        } else {
            ""
        };
        frames.push(match header[3] {
            DATA => format!("{stream} DATA {length}{end}"),
            HEADERS => format!("{stream} HEADERS{end}"),
            RST_STREAM => format!("{stream} RST_STREAM {}", ErrorCode(tail(0))),
            SETTINGS if header[4] & ACK != 0 => "SETTINGS ACK".to_owned(),
            SETTINGS => format!("SETTINGS {length}"),
            PING if header[4] & ACK != 0 => "PING ACK".to_owned(),
            PING => "PING".to_owned(),
            GOAWAY => format!("GOAWAY {}", ErrorCode(tail(4))),
            WINDOW_UPDATE => format!("{stream} WINDOW_UPDATE {}", tail(0)),
            CONTINUATION => format!("{stream} CONTINUATION"),
            other => format!("type {other}"),
        });
    }
    assert!(rest.is_empty(), "whole frames only");
    frames
}

/// Limits that a few frames reach.
pub(crate) const TIGHT: Limits = Limits {
    head_bytes: 200,
    header_count: 3,
    interim: 2,
    idle_frames: 5,
    output_bytes: 100,
};

pub(crate) fn tight() -> Settings {
    Settings {
        limits: TIGHT,
        ..Settings::default()
    }
}

/// Plays a conversation with every split, and compares the events and the output after the
/// handshake, written as words with a semicolon between them.
pub(crate) fn check_all(name: &str, settings_: &Settings, acts: &[Act], seen: &str, sent: &str) {
    let whole = play(settings_, acts, |bytes| [bytes]);
    let mut all = whole.seen.clone();
    all.extend(whole.error.as_ref().map(|error| format!("error: {error}")));
    assert_eq!(all.join("; "), seen, "{name}: seen");
    let skip = if settings_.connection_window > 65_535 {
        2
    } else {
        1
    };
    assert_eq!(whole.sent[skip..].join("; "), sent, "{name}: sent");
    let dripped = play(settings_, acts, |bytes| bytes.chunks(1));
    assert_eq!(dripped, whole, "{name}: dripped");
    let longest = acts
        .iter()
        .map(|act| match act {
            Act::Serve(bytes) => bytes.len(),
            _ => 0,
        })
        .max()
        .unwrap_or_default();
    for at in 0..longest.min(2000) {
        let halves = play(settings_, acts, |bytes| {
            let (first, second) = bytes.split_at(at.min(bytes.len()));
            [first, second]
        });
        assert_eq!(halves, whole, "{name}: cut at {at}");
    }
}

/// One GET, to which the server sends `answer`.
pub(crate) fn check(name: &str, answer: Vec<u8>, seen: &str, sent: &str) {
    let acts = [
        Act::Serve(settings(&[])),
        Act::Get,
        Act::Write,
        Act::Serve(answer),
    ];
    let seen = ["ready", seen].join("; ");
    let sent = ["SETTINGS ACK; 1 HEADERS end", sent].join("; ");
    check_all(
        name,
        &Settings::default(),
        &acts,
        seen.trim_end_matches("; "),
        sent.trim_end_matches("; "),
    );
}

/// A response that violates the protocol on its own stream.
pub(crate) fn check_malformed(name: &str, answer: Vec<u8>, what: &str) {
    let seen = format!("1 failed: PROTOCOL_ERROR ({what})");
    check(name, answer, &seen, "1 RST_STREAM PROTOCOL_ERROR");
}

/// An answer that ends the connection.
pub(crate) fn check_fatal(name: &str, answer: Vec<u8>, code: &str, what: &str) {
    let seen = format!("error: {code} ({what})");
    check(name, answer, &seen, &format!("GOAWAY {code}"));
}

pub(crate) fn concat(parts: &[Vec<u8>]) -> Vec<u8> {
    parts.concat()
}
