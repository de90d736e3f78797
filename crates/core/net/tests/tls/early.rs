//! A server's bytes in the packet that ends a TLS handshake: text, its end, or half a record. The
//! peer is rustls's own server side, on loopback.

use crate::peer::{SLOT, Server, connect, driver, wait};
use drumfire_net::{Io, Native, Progress, Received};
use rustls::version::{TLS12, TLS13};
use rustls::{ServerConnection, SupportedProtocolVersion};
use std::io::Write;
use std::os::unix::net::UnixStream;

/// The server's next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Then {
    /// Sends no more.
    Stays,
    /// Sends close_notify in the same packet.
    Closes,
    /// Holds the packet's last bytes back for a while.
    KeepsBack,
}

/// One case: a version, the length of the text, the server's next step, and how much text is
/// requested at a time.
#[derive(Clone, Copy, Debug)]
struct Case {
    version: &'static SupportedProtocolVersion,
    length: usize,
    then: Then,
    portion: usize,
}

/// The server's end of one connection.
struct Peer {
    socket: UnixStream,
    tls: ServerConnection,
    /// The server's first text, until it is sent.
    text: Option<Vec<u8>>,
    then: Then,
    kept_back: Vec<u8>,
}

impl Peer {
    /// Reads once, and answers in one packet.
    fn turn(&mut self) {
        if self.tls.is_handshaking() {
            self.tls.read_tls(&mut self.socket).expect("the client's");
            self.tls.process_new_packets().expect("a handshake");
        }
        // In TLS 1.3 a server may send text after its own Finished (RFC 8446 section 4.4.4), in TLS
        // 1.2 after both; in both cases that packet completes the client's handshake.
        let is_early = self.tls.protocol_version() == Some(TLS13.version);
        let mut packet = Vec::new();
        let speaks = is_early || !self.tls.is_handshaking();
        let text = if speaks { self.text.take() } else { None };
        if let Some(text) = &text {
            self.tls.writer().write_all(text).expect("room");
            if self.then == Then::Closes {
                self.tls.send_close_notify();
            }
        }
        while self.tls.wants_write() {
            self.tls.write_tls(&mut packet).expect("memory");
        }
        if text.is_some() && self.then == Then::KeepsBack {
            self.kept_back = packet.split_off(packet.len() - 3);
        }
        self.socket.write_all(&packet).expect("it is sent");
    }

    /// Sends the bytes that were held back; returns whether there were any.
    fn go_on(&mut self) -> bool {
        let rest = std::mem::take(&mut self.kept_back);
        self.socket.write_all(&rest).expect("it is sent");
        !rest.is_empty()
    }
}

/// Receives like the engine, until the expected text has come, and the end if one is expected;
/// after the last bytes for now it waits for an event.
fn receive(io: &mut Native, peer: &mut Peer, case: &Case) -> Vec<u8> {
    let mut seen = Vec::new();
    let mut buffer = vec![0; case.portion];
    for _ in 0..2 * case.length + 10 {
        let drained = match io.receive(SLOT, &mut buffer).expect("it is sound") {
            Received::Bytes {
                length, drained, ..
            } => {
                assert!(length > 0);
                seen.extend_from_slice(&buffer[..length]);
                drained
            }
            Received::Nothing => true,
            Received::End => {
                assert_eq!(case.then, Then::Closes, "{case:?}");
                return seen;
            }
        };
        if seen.len() == case.length && case.then != Then::Closes {
            return seen;
        }
        if drained {
            peer.go_on();
            wait(io);
        }
    }
    panic!("{} bytes have come: {case:?}", seen.len());
}

fn check(case: Case) {
    let mut io = driver();
    let text: Vec<u8> = (0..case.length).map(|n| (n % 251) as u8).collect();
    let mut peer = Peer {
        socket: connect(&mut io),
        tls: Server {
            version: case.version,
            names: 1,
            record: None,
        }
        .connection(),
        text: Some(text.clone()),
        then: case.then,
        kept_back: Vec::new(),
    };
    let mut progress = io.start_tls(SLOT, 0).expect("it begins");
    for _ in 0..4 {
        if progress == Progress::Done {
            break;
        }
        peer.turn();
        wait(&mut io);
        progress = io.handshake(SLOT).expect("a handshake");
    }
    assert_eq!(progress, Progress::Done, "{case:?}");
    assert_eq!(peer.text, None, "it has spoken before: {case:?}");
    let seen = receive(&mut io, &mut peer, &case);
    assert!(seen == text, "other bytes: {case:?}");
    io.close(SLOT);
}

#[test]
fn text_that_comes_with_the_end_of_a_handshake_is_handed_out() {
    for version in [&TLS12, &TLS13] {
        for then in [Then::Stays, Then::Closes, Then::KeepsBack] {
            for (length, portion) in [(5, 65_536), (5, 2), (40_000, 65_536), (40_000, 20_000)] {
                check(Case {
                    version,
                    length,
                    then,
                    portion,
                });
            }
        }
    }
}
