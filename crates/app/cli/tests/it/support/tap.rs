//! A relay to an HTTP/2 server that records when messages arrive and when streams are cancelled.

use super::script::Script;
use std::collections::HashMap;
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// The length of the client's preface (RFC 9113 section 3.4).
const PREFACE: usize = 24;
/// Types of frames, and the error code of a cancelled stream (RFC 9113 sections 6, 7).
const DATA: u8 = 0;
const RST_STREAM: u8 = 3;
const CANCEL: [u8; 4] = [0, 0, 0, 8];

/// A relay to a server that reads both directions as they pass.
#[derive(Debug)]
pub(crate) struct Tap {
    script: Script,
    cancels: Arc<Mutex<Vec<Duration>>>,
}

impl Tap {
    /// Listens, and relays to `server`. For each stream, the tap records the time at which the
    /// client had `messages` messages.
    pub(crate) fn new(server: SocketAddr, messages: u64) -> Self {
        let cancels = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&cancels);
        let script = Script::new(move |peer| {
            let near = peer.stream.get_ref().try_clone().unwrap();
            let far = TcpStream::connect(server).unwrap();
            let enough = Mutex::new(HashMap::new());
            thread::scope(|scope| {
                scope.spawn(|| hand_down(&far, &near, messages, &enough));
                hand_up(&near, &far, &enough, &noted);
            });
        });
        Self { script, cancels }
    }

    pub(crate) fn port(&self) -> u16 {
        self.script.port()
    }

    /// The time from enough messages to the cancellation, for each stream that was cancelled.
    pub(crate) fn cancels(&self) -> Vec<Duration> {
        self.cancels.lock().unwrap().clone()
    }
}

/// The times at which streams had enough messages, by stream id.
type Enough = Mutex<HashMap<u32, Instant>>;

/// Relays from the server to the client.
fn hand_down(mut from: &TcpStream, mut to: &TcpStream, messages: u64, enough: &Enough) {
    let mut frames = Frames::default();
    // For each stream: the rest of a message or its prefix so far, and the number of complete
    // messages.
    let mut streams: HashMap<u32, (Vec<u8>, u64)> = HashMap::new();
    let mut piece = vec![0; 1 << 16];
    while let Ok(length @ 1..) = from.read(&mut piece) {
        // Record the time before relaying, because the client's reaction could otherwise come
        // first.
        let now = Instant::now();
        frames.feed(&piece[..length], |kind, stream, payload| {
            if kind != DATA {
                return;
            }
            let (rest, whole) = streams.entry(stream).or_default();
            rest.extend_from_slice(payload);
            while let Some(size) = message(rest) {
                rest.drain(..size);
                *whole += 1;
                if *whole == messages {
                    enough.lock().unwrap().insert(stream, now);
                }
            }
        });
        if to.write_all(&piece[..length]).is_err() {
            break;
        }
    }
    let _ended = to.shutdown(Shutdown::Both);
}

/// Relays from the client to the server.
fn hand_up(
    mut from: &TcpStream,
    mut to: &TcpStream,
    enough: &Enough,
    cancels: &Mutex<Vec<Duration>>,
) {
    let mut frames = Frames {
        skipped: PREFACE,
        ..Frames::default()
    };
    let mut piece = vec![0; 1 << 16];
    while let Ok(length @ 1..) = from.read(&mut piece) {
        if to.write_all(&piece[..length]).is_err() {
            break;
        }
        frames.feed(&piece[..length], |kind, stream, payload| {
            if kind != RST_STREAM || payload != CANCEL {
                return;
            }
            if let Some(at) = enough.lock().unwrap().remove(&stream) {
                cancels.lock().unwrap().push(at.elapsed());
            }
        });
    }
    let _ended = to.shutdown(Shutdown::Both);
}

/// The length of the message at the beginning of these bytes, if it is complete.
fn message(bytes: &[u8]) -> Option<usize> {
    let length = bytes.get(1..5)?.try_into().unwrap();
    let size = 5 + u32::from_be_bytes(length) as usize;
    (bytes.len() >= size).then_some(size)
}

/// Splits bytes into frames.
#[derive(Default)]
struct Frames {
    bytes: Vec<u8>,
    /// The number of bytes before the first frame.
    skipped: usize,
}

impl Frames {
    /// Calls `each` for the complete frames: type, stream, payload. None of these servers pads.
    fn feed(&mut self, bytes: &[u8], mut each: impl FnMut(u8, u32, &[u8])) {
        self.bytes.extend_from_slice(bytes);
        let mut at = 0;
        if self.skipped > 0 {
            if self.bytes.len() < self.skipped {
                return;
            }
            at = std::mem::take(&mut self.skipped);
        }
        while let Some(&[a, b, c, kind, _, d, e, f, g]) = self.bytes[at..].first_chunk::<9>() {
            let length = u32::from_be_bytes([0, a, b, c]) as usize;
            let Some(payload) = self.bytes.get(at + 9..at + 9 + length) else {
                break;
            };
            each(kind, u32::from_be_bytes([d & 0x7f, e, f, g]), payload);
            at += 9 + length;
        }
        self.bytes.drain(..at);
    }
}
