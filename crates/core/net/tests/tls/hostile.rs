//! A server that splits, mixes and damages its TLS records according to a script, and a client that
//! reads and writes in between. The script comes from random numbers here, or from the fuzz target
//! `tls`.
//!
//! Records that are split, held back and mixed as TLS allows are honest: then every text must
//! arrive, on both sides. Otherwise the client may fail, but must not break.

use crate::peer::{Peer, SLOT, Server, driver};
use crate::pen::Pen;
use drumfire_net::{Io, IoError, Native, Progress, Received};
use rustls::ContentType;
use rustls::version::{TLS12, TLS13};
use std::io::Write;

/// The content type of handshake messages (RFC 8446 section 5.1).
const HANDSHAKE: u8 = 22;
/// The length of a record's header.
const HEADER: usize = 5;
/// More turns than any handshake has.
const TURNS: usize = 8;

/// Bytes that control the decisions; after their end, all bytes read as zeros.
pub(crate) struct Script<'a>(pub(crate) &'a [u8]);

impl<'a> Script<'a> {
    fn is_over(&self) -> bool {
        self.0.is_empty()
    }

    fn byte(&mut self) -> u8 {
        match self.0.split_first() {
            Some((byte, rest)) => {
                self.0 = rest;
                *byte
            }
            None => 0,
        }
    }

    /// As many bytes as are left, up to `count`.
    fn take(&mut self, count: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(count.min(self.0.len()));
        self.0 = rest;
        taken
    }

    /// The length of a piece: mostly short, sometimes long.
    fn length(&mut self) -> usize {
        match self.byte() {
            byte @ 0..=199 => 1 + usize::from(byte),
            byte => (usize::from(byte) - 199) * 997,
        }
    }

    fn server(&mut self) -> Server {
        let byte = self.byte();
        let version = if byte & 1 == 0 { &TLS13 } else { &TLS12 };
        // A long certificate takes time, and is not sent in the shortest records.
        let (names, records) = match byte & 0x0e {
            0x0e => (2500, [None, None, Some(512), Some(4096)]),
            _ => (1, [None, Some(32), Some(64), Some(512)]),
        };
        Server {
            version,
            names,
            record: records[usize::from(byte >> 6)],
        }
    }
}

/// The state of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Client {
    Handshake,
    Open,
    Gone,
}

/// Both sides of a connection.
struct Scene {
    io: Native,
    client: Client,
    /// Whether the server has complied with TLS so far.
    is_honest: bool,
    /// The text that the client has received and sent.
    received: Vec<u8>,
    sent: Vec<u8>,
}

/// Runs the script in these bytes.
pub(crate) fn run(bytes: &[u8]) {
    let mut script = Script(bytes);
    let server = script.server();
    let mut io = driver();
    let mut peer = Peer::new(&mut io, &server);
    let mut scene = Scene {
        io,
        client: Client::Handshake,
        is_honest: true,
        received: Vec::new(),
        sent: Vec::new(),
    };
    let started = scene.io.start_tls(SLOT, 0);
    scene.progress(started);
    scene.shake_hands(&mut peer, &mut script);
    if scene.client == Client::Open && !peer.tls.is_handshaking() {
        if script.byte() & 1 == 0 {
            scene.converse(&mut peer, &mut script);
        } else if scene.hear(&mut peer) {
            let tickets = peer.flight();
            scene.write_by_hand(Pen::new(peer), tickets, &mut script);
        }
    }
    scene.io.close(SLOT);
}

impl Scene {
    /// A handshake whose records the script splits, and perhaps changes.
    fn shake_hands(&mut self, peer: &mut Peer, script: &mut Script<'_>) {
        for _ in 0..TURNS {
            if self.client != Client::Handshake || !self.hear(peer) {
                return;
            }
            let mut flight = peer.flight();
            match script.byte() & 7 {
                0..=2 => flight = refragmented(&flight, script),
                3 if !flight.is_empty() => self.spoil(&mut flight, script),
                _ => {}
            }
            self.deliver(&mut peer.socket, &flight, script);
            if flight.is_empty() {
                return;
            }
        }
    }

    /// Texts in both directions, with new keys in between.
    fn converse(&mut self, peer: &mut Peer, script: &mut Script<'_>) {
        let mut said = Vec::new();
        while !script.is_over() {
            if !self.hear(peer) {
                return;
            }
            let step = script.byte();
            if step & 7 == 0 && peer.tls.protocol_version() == Some(TLS13.version) {
                peer.tls.refresh_traffic_keys().expect("an open connection");
            }
            let text: Vec<u8> = (0..script.length()).map(|n| (n % 251) as u8).collect();
            said.extend_from_slice(&text);
            let mut flight = peer.say(&text);
            if step & 0xf8 == 0xf8 {
                self.spoil(&mut flight, script);
            }
            self.deliver(&mut peer.socket, &flight, script);
            if self.client != Client::Open {
                return;
            }
        }
        self.receive(4096);
        if self.is_honest {
            assert!(self.received == said, "the client has another text");
            assert!(self.hear(peer));
            assert!(peer.heard == self.sent, "the server has another text");
        }
    }

    /// Records of any kind, with the right keys.
    fn write_by_hand(&mut self, mut pen: Pen, first: Vec<u8>, script: &mut Script<'_>) {
        self.deliver(&mut pen.socket, &first, script);
        self.is_honest = false;
        while !script.is_over() && self.client == Client::Open {
            let kind = match script.byte() {
                kind @ 20..=24 => ContentType::from(kind),
                byte if byte & 1 == 0 => ContentType::Handshake,
                byte if byte & 2 == 0 => ContentType::ApplicationData,
                byte => ContentType::from(byte),
            };
            let length = script.length().min(16_384);
            let mut payload = script.take(length.min(64)).to_vec();
            // Random bytes would hardly produce a ticket or an update of keys.
            match script.byte() {
                0..=31 => payload.splice(0..0, [4, 0, 0, 200]).for_each(drop),
                32..=63 => payload.splice(0..0, [24, 0, 0, 1, 0]).for_each(drop),
                64..=95 => payload.splice(0..0, [24, 0, 0, 1, 1]).for_each(drop),
                96..=127 => payload.resize(length, 0),
                _ => {}
            }
            let record = pen.record(kind, &payload);
            self.deliver(&mut pen.socket, &record, script);
        }
    }

    /// Damages bytes before they are sent.
    fn spoil(&mut self, flight: &mut Vec<u8>, script: &mut Script<'_>) {
        self.is_honest = false;
        let at = (usize::from(script.byte()) << 8 | usize::from(script.byte())) % flight.len();
        match script.byte() & 3 {
            0 => flight[at] ^= script.byte(),
            1 => flight.truncate(at),
            2 => flight
                .splice(at..at, script.take(40).iter().copied())
                .for_each(drop),
            _ => flight.drain(at..flight.len().min(at + 9)).for_each(drop),
        }
    }

    /// Sends bytes in pieces; between them the client does something.
    fn deliver(&mut self, socket: &mut impl Write, mut bytes: &[u8], script: &mut Script<'_>) {
        while !bytes.is_empty() && self.client != Client::Gone {
            // The rest is sent at once when the script has ended.
            let length = if script.is_over() {
                bytes.len()
            } else {
                script.length().min(bytes.len())
            };
            let (piece, rest) = bytes.split_at(length);
            let Ok(written) = socket.write(piece) else {
                // The client does not read.
                self.is_honest = false;
                return;
            };
            bytes = if written == length {
                rest
            } else {
                &bytes[written..]
            };
            self.act(script.byte());
        }
    }

    /// The client's next step.
    fn act(&mut self, what: u8) {
        if self.client == Client::Handshake {
            let progress = self.io.handshake(SLOT);
            self.progress(progress);
            return;
        }
        let size = 1 + usize::from(what >> 2) * 37;
        match what & 3 {
            0 | 1 => self.receive(size),
            2 if self.client == Client::Open => self.send(size),
            _ if self.client == Client::Open && what == 0xff => {
                self.io.close(SLOT);
                self.client = Client::Gone;
            }
            _ => {}
        }
    }

    fn progress(&mut self, progress: Result<Progress, IoError>) {
        match progress {
            Ok(Progress::Done) => self.client = Client::Open,
            Ok(Progress::Pending) => {}
            Err(error) => self.fail(&error),
        }
    }

    /// Receives until nothing is left.
    fn receive(&mut self, size: usize) {
        let mut buffer = vec![0; size];
        while self.client == Client::Open {
            match self.io.receive(SLOT, &mut buffer) {
                Ok(Received::Bytes { length, .. }) => {
                    assert!((1..=size).contains(&length));
                    self.received.extend_from_slice(&buffer[..length]);
                }
                Ok(Received::Nothing) => return,
                Ok(Received::End) => self.client = Client::Gone,
                Err(error) => self.fail(&error),
            }
        }
    }

    fn send(&mut self, size: usize) {
        let text = vec![b'x'; size];
        match self.io.send(SLOT, &text) {
            Ok(taken) => self.sent.extend_from_slice(&text[..taken]),
            Err(error) => self.fail(&error),
        }
    }

    /// The connection is lost, which must be the server's fault. A caller may notice it late.
    fn fail(&mut self, error: &IoError) {
        assert!(!self.is_honest, "{error:?}");
        let mut buffer = [0; 16];
        let _lost = self.io.send(SLOT, b"x");
        let _lost = self.io.receive(SLOT, &mut buffer);
        let _lost = self.io.handshake(SLOT);
        self.io.close(SLOT);
        self.client = Client::Gone;
    }

    /// The server reads; returns whether it continues.
    fn hear(&self, peer: &mut Peer) -> bool {
        match peer.hear() {
            Ok(()) => true,
            Err(error) => {
                assert!(!self.is_honest, "the client has erred: {error}");
                false
            }
        }
    }
}

/// Copies a flight, but splits its unencrypted handshake messages into other records.
fn refragmented(mut flight: &[u8], script: &mut Script<'_>) -> Vec<u8> {
    let mut records = Vec::new();
    let mut is_clear = true;
    // The client limits the memory for a long message in very short records.
    let least = if flight.len() > 8192 { 64 } else { 1 };
    while let [kind, major, minor, high, low, rest @ ..] = flight {
        let length = usize::from(u16::from_be_bytes([*high, *low]));
        let (mut payload, _) = rest.split_at(length);
        is_clear &= *kind == HANDSHAKE;
        if !is_clear {
            records.extend_from_slice(&flight[..HEADER + length]);
        }
        while is_clear && !payload.is_empty() {
            let length = script.length().max(least).min(payload.len());
            let (part, after) = payload.split_at(length);
            records.extend_from_slice(&[*kind, *major, *minor]);
            records.extend_from_slice(&(part.len() as u16).to_be_bytes());
            records.extend_from_slice(part);
            payload = after;
        }
        flight = &flight[HEADER + length..];
    }
    records
}
