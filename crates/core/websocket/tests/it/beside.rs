//! Both directions beside tungstenite, a server that has no part of ours.

use crate::seen::{Seen, feed};
use drumfire_websocket::{
    Agreed, CloseCode, Closing, Ending, Key, Kind, Offer, Outgoing, Reader, Shared, Side, Writer,
};
use proptest::prelude::*;
use std::io::{self, Read, Write};
use std::num::NonZeroUsize;
use tungstenite::handshake::derive_accept_key;
use tungstenite::protocol::frame::CloseFrame;
use tungstenite::protocol::{Role, WebSocket};
use tungstenite::{Bytes, Message};

/// The bytes between both sides.
#[derive(Default)]
struct Wire {
    to_server: Vec<u8>,
    to_client: Vec<u8>,
}

impl Read for Wire {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.to_server.is_empty() {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let length = buffer.len().min(self.to_server.len());
        buffer[..length].copy_from_slice(&self.to_server[..length]);
        self.to_server.drain(..length);
        Ok(length)
    }
}

impl Write for Wire {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.to_client.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn server() -> WebSocket<Wire> {
    WebSocket::from_raw_socket(Wire::default(), Role::Server, None)
}

/// Everything that the server reads.
fn received(server: &mut WebSocket<Wire>) -> Vec<Message> {
    std::iter::from_fn(|| server.read().ok()).collect()
}

#[derive(Clone, Debug)]
enum Sent {
    Text(String),
    Binary(Vec<u8>),
    Ping(Vec<u8>),
}

fn sent() -> impl Strategy<Value = Vec<Sent>> {
    let bytes = prop_oneof![
        4 => prop::collection::vec(any::<u8>(), 0..200),
        1 => prop::collection::vec(any::<u8>(), 65_500..65_600),
    ];
    let one = prop_oneof![
        any::<String>().prop_map(Sent::Text),
        bytes.prop_map(Sent::Binary),
        prop::collection::vec(any::<u8>(), 0..=125).prop_map(Sent::Ping),
    ];
    prop::collection::vec(one, 0..8)
}

proptest! {
    #[test]
    fn messages_arrive_as_they_were_sent(
        sent in sent(),
        fragment in prop::option::of(1..300_usize),
        size in 1..300_usize,
        seed: u32,
    ) {
        let (mut server, agreed) = (server(), Agreed::default());
        let (mut reader, mut writer) = (Reader::new(&agreed, usize::MAX), Writer::new(&agreed));
        let (mut shared, mut state) = (Shared::default(), seed);
        let mut mask = || {
            state = state.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
            state
        };
        let fragment_bytes = fragment.and_then(NonZeroUsize::new);
        let (mut out, mut expected, mut events) = (Vec::new(), Vec::new(), Vec::new());
        for item in &sent {
            let mut message = |kind, payload| {
                let outgoing = Outgoing { fragment_bytes, ..Outgoing::new(kind, payload) };
                writer.message(&mut out, outgoing, &mut mask, &mut shared);
            };
            let (message, seen) = match item {
                Sent::Text(text) => {
                    message(Kind::Text, text.as_bytes());
                    let length = text.len() as u64;
                    let seen = Seen::Message(Kind::Text, text.clone().into(), length, length, 1);
                    (Message::text(text.clone()), seen)
                }
                Sent::Binary(bytes) => {
                    message(Kind::Binary, bytes);
                    let length = bytes.len() as u64;
                    let seen = Seen::Message(Kind::Binary, bytes.clone(), length, length, 1);
                    (Message::binary(bytes.clone()), seen)
                }
                Sent::Ping(payload) => {
                    prop_assert_eq!(Writer::ping(&mut out, payload, mask()), Ok(()));
                    (Message::Ping(Bytes::from(payload.clone())), Seen::Ping(payload.clone()))
                }
            };
            prop_assert!(server.send(message.clone()).is_ok());
            expected.push(message);
            events.push(seen);
        }
        let bytes = std::mem::take(&mut server.get_mut().to_client);
        let mut seen = Vec::new();
        for piece in bytes.chunks(size) {
            prop_assert_eq!(feed(&mut reader, &mut shared, piece, &mut seen), Ok(()));
        }
        prop_assert_eq!(seen, events);
        server.get_mut().to_server = out;
        prop_assert_eq!(received(&mut server), expected);
    }
}

#[test]
fn a_server_that_closes_first_is_answered_with_its_code() {
    let (mut server, mut shared) = (server(), Shared::default());
    let (mut reader, mut closing) = (Reader::new(&Agreed::default(), 0), Closing::new());
    let frame = CloseFrame {
        code: 4001.into(),
        reason: "enough".into(),
    };
    server.close(Some(frame)).expect("queued");
    let bytes = server.get_ref().to_client.clone();
    let mut seen = Vec::new();
    assert_eq!(feed(&mut reader, &mut shared, &bytes, &mut seen), Ok(()));
    assert_eq!(seen, [Seen::Close(Some(4001), "enough".to_owned())]);
    let code = Some(CloseCode(4001));
    let reply = closing.close_received(code).expect("a reply");
    let mut out = Vec::new();
    assert_eq!(Writer::close(&mut out, reply.code, "", 7), Ok(()));
    closing.close_sent();
    let first = Side::Server;
    assert_eq!(closing.ending(), Ending::Clean { first, code });
    server.get_mut().to_server = out;
    // The server sees its own code, and ends the connection.
    let answered = server.read().expect("the answer");
    let Message::Close(Some(answer)) = answered else {
        panic!("{answered:?}");
    };
    assert_eq!(u16::from(answer.code), 4001);
    assert!(matches!(
        server.read(),
        Err(tungstenite::Error::ConnectionClosed)
    ));
}

#[test]
fn a_close_of_ours_is_answered() {
    let (mut server, mut shared) = (server(), Shared::default());
    let (mut reader, mut closing) = (Reader::new(&Agreed::default(), 0), Closing::new());
    let mut out = Vec::new();
    let reason = "é".repeat(62);
    assert!(Writer::close(&mut out, Some(CloseCode::NORMAL), &reason, 1).is_err());
    assert!(out.is_empty());
    assert_eq!(
        Writer::close(&mut out, Some(CloseCode::NORMAL), "done", 1),
        Ok(())
    );
    closing.close_sent();
    server.get_mut().to_server = out;
    let frame = CloseFrame {
        code: 1000.into(),
        reason: "done".into(),
    };
    assert_eq!(received(&mut server), [Message::Close(Some(frame))]);
    let bytes = server.get_ref().to_client.clone();
    let mut seen = Vec::new();
    assert_eq!(feed(&mut reader, &mut shared, &bytes, &mut seen), Ok(()));
    let [Seen::Close(code, _)] = &seen[..] else {
        panic!("{seen:?}");
    };
    assert_eq!(closing.close_received(code.map(CloseCode)), None);
    let (first, code) = (Side::Client, Some(CloseCode::NORMAL));
    assert_eq!(closing.ending(), Ending::Clean { first, code });
}

#[test]
fn control_frames_have_at_most_125_bytes() {
    let mut out = Vec::new();
    assert!(Writer::ping(&mut out, &[0; 126], 0).is_err());
    assert!(Writer::pong(&mut out, &[0; 126], 0).is_err());
    assert!(out.is_empty());
    assert_eq!(Writer::pong(&mut out, &[1; 125], 0x0102_0304), Ok(()));
    assert_eq!(Writer::close(&mut out, None, "not sent", 0), Ok(()));
    let mut server = server();
    server.get_mut().to_server = out;
    let pong = Message::Pong(Bytes::from(vec![1; 125]));
    assert_eq!(received(&mut server), [pong, Message::Close(None)]);
}

proptest! {
    #[test]
    fn keys_have_the_answer_that_the_server_computes(random: [u8; 16]) {
        let key = Key::new(random);
        let accept = key.accept();
        let text = key.text();
        let expected = derive_accept_key(&text);
        prop_assert_eq!(expected.as_bytes(), &accept);
        let fields: [(&str, &[u8]); 3] = [
            ("Upgrade", b"websocket"),
            ("Connection", b"Upgrade"),
            ("Sec-WebSocket-Accept", &accept),
        ];
        prop_assert!(Offer::default().check_http1(&key, 101, fields).is_ok());
    }
}
