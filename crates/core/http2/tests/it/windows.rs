//! Flow control against a server that keeps its own accounts: neither side ever sends more than it
//! may, all credit comes back, and every upload completes.

use drumfire_http2::{
    Connection, EndStream, ErrorCode, Event, Head, Indexing, Settings, StreamRef,
};
use proptest::prelude::*;
use std::collections::BTreeMap;

const CONNECTION_WINDOW: i64 = 70_000;
const STREAM_WINDOW: i64 = 3_000;
const WINDOW_DEFAULT: i64 = 65_535;

#[derive(Clone, Debug)]
enum Do {
    Open,
    /// Queues bytes of a body, and ends it.
    Upload(prop::sample::Index, u32, bool),
    Give(prop::sample::Index),
    /// A frame of the server.
    Head(prop::sample::Index),
    Data(prop::sample::Index, u32, u8, bool),
    Grant(Option<prop::sample::Index>, u32),
    Initial(u32),
    Abort(prop::sample::Index),
}

fn step() -> impl Strategy<Value = Do> {
    let any = any::<prop::sample::Index>;
    prop_oneof![
        2 => Just(Do::Open),
        3 => (any(), 0_u32..60_000, prop::bool::weighted(0.2)).prop_map(|(at, count, end)| Do::Upload(at, count, end)),
        1 => any().prop_map(Do::Give),
        2 => any().prop_map(Do::Head),
        6 => (any(), 0_u32..3000, 0_u8..=255, prop::bool::weighted(0.1))
            .prop_map(|(at, length, padding, end)| Do::Data(at, length, padding, end)),
        3 => (prop::option::of(any()), 1_u32..50_000).prop_map(|(at, increment)| Do::Grant(at, increment)),
        1 => (0_u32..70_000).prop_map(Do::Initial),
        1 => any().prop_map(Do::Abort),
    ]
}

/// A stream in the server's accounts.
#[derive(Debug)]
struct Account {
    /// The windows of the client and of the server.
    incoming: i64,
    outgoing: i64,
    received: u64,
    head_sent: bool,
    /// Whether each side has ended it.
    client_ended: bool,
    server_ended: bool,
}

/// The client's part of a stream.
#[derive(Debug)]
struct Upload {
    stream: StreamRef,
    queued: u64,
    end: bool,
    waiting: bool,
    done: bool,
    given: u64,
}

#[derive(Debug)]
struct Lab {
    connection: Connection,
    head: Head,
    streams: BTreeMap<u32, Account>,
    uploads: BTreeMap<u32, Upload>,
    /// The id of each token.
    tokens: Vec<u32>,
    incoming: i64,
    outgoing: i64,
    initial: i64,
    /// Where the next piece of input is split.
    cut: usize,
}

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u32).to_be_bytes();
    let mut bytes = vec![length[1], length[2], length[3], kind, flags];
    bytes.extend_from_slice(&stream.to_be_bytes());
    bytes.extend_from_slice(payload);
    bytes
}

impl Lab {
    fn new(cut: usize) -> Self {
        let settings = Settings {
            streams: 1000,
            stream_window: STREAM_WINDOW as u32,
            connection_window: CONNECTION_WINDOW as u32,
            ..Settings::default()
        };
        let field = |name: &'static str, value: &'static str| {
            (name.as_bytes(), value.as_bytes(), Indexing::Allowed)
        };
        let head = Head::new([
            field(":method", "POST"),
            field(":scheme", "http"),
            field(":path", "/"),
        ]);
        let mut lab = Self {
            connection: Connection::new(&settings),
            head: head.expect("a head"),
            streams: BTreeMap::new(),
            uploads: BTreeMap::new(),
            tokens: Vec::new(),
            incoming: WINDOW_DEFAULT,
            outgoing: WINDOW_DEFAULT,
            initial: WINDOW_DEFAULT,
            cut,
        };
        let preface = 24;
        lab.connection.output_sent(preface);
        lab.serve(&frame(4, 0, 0, &[]));
        lab
    }

    /// The server sends frames in two pieces; then it reads the client's answer.
    fn serve(&mut self, bytes: &[u8]) {
        let (first, second) = bytes.split_at(self.cut % (bytes.len() + 1));
        for mut rest in [first, second, &[]] {
            loop {
                let step = self.connection.handle_input(rest).expect("no violation");
                rest = &rest[step.consumed..];
                match step.event {
                    Event::NeedInput => break,
                    Event::Writable { token } => {
                        let id = self.tokens[token as usize];
                        self.uploads.get_mut(&id).expect("an upload").waiting = false;
                    }
                    Event::StreamFailed { token, error } => {
                        panic!("stream {token}: {error}");
                    }
                    _ => {}
                }
            }
        }
        self.read();
    }

    /// The server reads all of the client's output, and counts it.
    fn read(&mut self) {
        let output = self.connection.output().to_vec();
        self.connection.output_sent(output.len());
        let mut rest = &output[..];
        while let Some((header, after)) = rest.split_first_chunk::<9>() {
            let length = u32::from_be_bytes([0, header[0], header[1], header[2]]);
            let stream = u32::from_be_bytes([header[5], header[6], header[7], header[8]]);
            let (payload, after) = after.split_at(length as usize);
            rest = after;
            self.book(header[3], header[4], stream, payload);
        }
        assert!(rest.is_empty());
        // At least half of the window is always available.
        assert!(self.outgoing <= CONNECTION_WINDOW && self.outgoing > CONNECTION_WINDOW / 2 - 1);
    }

    fn book(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
        let ends = flags & 1 != 0;
        match kind {
            0 => {
                let length = payload.len() as i64;
                self.incoming -= length;
                let account = self.streams.get_mut(&stream).expect("a stream");
                assert!(!account.client_ended, "DATA after the end");
                account.incoming -= length;
                assert!(
                    length == 0 || self.incoming >= 0 && account.incoming >= 0,
                    "overrun"
                );
                account.received += length as u64;
                account.client_ended |= ends;
            }
            1 => {
                let account = Account {
                    incoming: self.initial,
                    outgoing: STREAM_WINDOW,
                    received: 0,
                    head_sent: false,
                    client_ended: ends,
                    server_ended: false,
                };
                assert!(self.streams.insert(stream, account).is_none());
            }
            3 => {
                let account = self.streams.get_mut(&stream).expect("a stream");
                account.client_ended = true;
                account.server_ended = true;
            }
            8 => {
                let increment = i64::from(u32::from_be_bytes(payload.try_into().expect("four")));
                if stream == 0 {
                    self.outgoing += increment;
                } else {
                    let account = self.streams.get_mut(&stream).expect("a stream");
                    account.outgoing += increment;
                    assert!(account.outgoing <= STREAM_WINDOW, "more than was taken");
                }
            }
            _ => {}
        }
    }

    /// Sends as much of an upload as the window allows.
    fn push(&mut self, id: u32) {
        let Some(upload) = self.uploads.get_mut(&id) else {
            return;
        };
        if upload.done || upload.waiting {
            return;
        }
        let end = if upload.end {
            EndStream::Yes
        } else {
            EndStream::No
        };
        let bytes = vec![0; upload.queued as usize];
        match self.connection.send_data(upload.stream, &bytes, end) {
            Ok(taken) => {
                upload.given += taken as u64;
                upload.queued -= taken as u64;
                upload.waiting = upload.queued > 0;
                upload.done = upload.queued == 0 && upload.end;
            }
            Err(_) => upload.done = true,
        }
        self.read();
    }

    fn push_all(&mut self) {
        for id in self.uploads.keys().copied().collect::<Vec<_>>() {
            self.push(id);
        }
    }

    /// Chooses an id among the streams that the server has not ended.
    fn pick(&self, at: prop::sample::Index) -> Option<u32> {
        let open = self
            .streams
            .iter()
            .filter(|(_, account)| !account.server_ended);
        let ids: Vec<u32> = open.map(|(id, _)| *id).collect();
        (!ids.is_empty()).then(|| *at.get(&ids))
    }

    fn open(&mut self) {
        let token = self.tokens.len() as u32;
        let opened = self.connection.open(token, &self.head, &[], EndStream::No);
        let stream = opened.expect("room");
        self.tokens.push(stream.id());
        self.uploads.insert(
            stream.id(),
            Upload {
                stream,
                queued: 0,
                end: false,
                waiting: false,
                done: false,
                given: 0,
            },
        );
        self.read();
    }

    fn data(&mut self, id: u32, length: u32, padding: u8, end: bool) {
        let account = self.streams.get_mut(&id).expect("a stream");
        let room = account
            .outgoing
            .min(self.outgoing)
            .min(i64::from(length) + 256);
        let room = room - 1 - i64::from(padding);
        if !account.head_sent || room < 0 {
            return;
        }
        let mut payload = vec![padding];
        payload.resize(1 + room as usize + usize::from(padding), 0);
        account.outgoing -= payload.len() as i64;
        account.server_ended = end;
        self.outgoing -= payload.len() as i64;
        self.serve(&frame(0, 8 | u8::from(end), id, &payload));
    }

    fn apply(&mut self, step: Do) {
        match step {
            Do::Open => self.open(),
            Do::Upload(at, count, end) => {
                if let Some(id) = self.pick(at)
                    && let Some(upload) = self.uploads.get_mut(&id)
                    && !upload.end
                {
                    upload.queued += u64::from(count);
                    upload.end = end;
                    self.push(id);
                }
            }
            Do::Give(at) => {
                if let Some(id) = self.pick(at) {
                    let upload = self.uploads.get_mut(&id).expect("an upload");
                    upload.done = true;
                    self.connection.reset(upload.stream, ErrorCode::CANCEL);
                    // DATA that was already sent still counts for the connection.
                    let length = self.outgoing.min(500);
                    let head_sent = self.streams[&id].head_sent;
                    if head_sent && self.streams[&id].outgoing >= length {
                        self.outgoing -= length;
                        self.serve(&frame(0, 0, id, &vec![0; length as usize]));
                    }
                    self.read();
                }
            }
            Do::Head(at) => {
                if let Some(id) = self.pick(at)
                    && !self.streams[&id].head_sent
                {
                    self.streams.get_mut(&id).expect("a stream").head_sent = true;
                    self.serve(&frame(1, 4, id, &[0x88]));
                }
            }
            Do::Data(at, length, padding, end) => {
                if let Some(id) = self.pick(at) {
                    self.data(id, length, padding, end);
                }
            }
            Do::Grant(at, increment) => self.grant(at.and_then(|at| self.pick(at)), increment),
            Do::Initial(size) => {
                let change = i64::from(size) - self.initial;
                self.initial += change;
                self.streams
                    .values_mut()
                    .for_each(|account| account.incoming += change);
                self.serve(&frame(
                    4,
                    0,
                    0,
                    &[&[0, 4][..], &size.to_be_bytes()].concat(),
                ));
            }
            Do::Abort(at) => {
                if let Some(id) = self.pick(at)
                    && self.streams[&id].head_sent
                {
                    self.data(id, 0, 0, true);
                }
            }
        }
        self.push_all();
    }

    fn grant(&mut self, stream: Option<u32>, increment: u32) {
        match stream {
            None => self.incoming += i64::from(increment),
            Some(id) => {
                self.streams.get_mut(&id).expect("a stream").incoming += i64::from(increment);
            }
        }
        self.serve(&frame(
            8,
            0,
            stream.unwrap_or_default(),
            &increment.to_be_bytes(),
        ));
    }

    /// The server allows everything: then everything arrives.
    fn finish(&mut self) {
        for _ in 0..3 {
            self.grant(None, 100_000_000);
            for id in self.streams.keys().copied().collect::<Vec<_>>() {
                if !self.streams[&id].client_ended {
                    self.grant(Some(id), 100_000_000);
                }
            }
            // A large upload is accepted in several pieces.
            for _ in 0..100 {
                self.serve(&[]);
                self.push_all();
            }
        }
        for (id, upload) in &self.uploads {
            let account = &self.streams[id];
            assert_eq!(account.received, upload.given, "stream {id}");
            assert!(
                upload.done || upload.queued == 0,
                "stream {id} waits for ever"
            );
            assert!(
                !upload.done || account.client_ended,
                "stream {id} has no end"
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn windows_are_kept_and_given_back(
        steps in prop::collection::vec(step(), 0..120),
        cut in any::<usize>(),
    ) {
        let mut lab = Lab::new(cut);
        for step in steps {
            lab.apply(step);
        }
        lab.finish();
    }
}
