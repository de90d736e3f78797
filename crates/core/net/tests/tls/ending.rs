//! A server that ends the connection after records without text, within one event.

use crate::peer::{Peer, SLOT, Server, driver, wait};
use drumfire_net::{Io, IoError, Native, Progress, Received};
use rustls::version::TLS13;

/// How the server ends the connection after its session tickets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    /// The server closes before it has read the request: the system resets the connection.
    Reset,
    /// The server has read the request, and closes without close_notify.
    Closed,
    /// The server keeps the connection open.
    None,
}

const SERVER: Server = Server {
    version: &TLS13,
    names: 1,
    record: None,
};

/// Opens a connection and goes through its handshake; the server's session tickets are still to be
/// sent.
fn open(io: &mut Native) -> Peer {
    let peer = Peer::new(io, &SERVER);
    shake(io, peer)
}

/// Goes through the handshake with a peer.
fn shake(io: &mut Native, mut peer: Peer) -> Peer {
    let mut progress = io.start_tls(SLOT, 0).expect("it begins");
    while progress == Progress::Pending {
        peer.hear().expect("a handshake");
        let flight = peer.flight();
        peer.write_raw(&flight);
        wait(io);
        progress = io.handshake(SLOT).expect("a handshake");
    }
    peer.hear().expect("the client's last message");
    peer
}

fn check(ending: Ending, expected: &Result<Received, IoError>) {
    let mut io = driver();
    let mut peer = open(&mut io);
    let tickets = peer.flight();
    assert!(!tickets.is_empty(), "the server grants sessions");
    assert_eq!(io.send(SLOT, b"request"), Ok(7));
    if ending == Ending::Closed {
        peer.hear().expect("the request");
    }
    peer.write_raw(&tickets);
    let stays = (ending == Ending::None).then_some(peer);
    wait(&mut io);
    let received = io.receive(SLOT, &mut [0; 4096]);
    assert_eq!(&received, expected, "{ending:?}");
    drop(stays);
}

#[test]
fn a_server_that_asks_for_a_certificate_is_noted() {
    let mut io = driver();
    open(&mut io);
    assert!(!io.lacks_certificate(SLOT));
    io.close(SLOT);
    let mut peer = Peer::new(&mut io, &SERVER);
    peer.tls = SERVER.asking();
    shake(&mut io, peer);
    assert!(io.lacks_certificate(SLOT));
}

#[test]
fn an_end_behind_session_tickets_is_reported_at_once() {
    check(Ending::Reset, &Err(IoError::Reset));
    check(Ending::Closed, &Err(IoError::TlsNoCloseNotify));
    check(Ending::None, &Ok(Received::Nothing));
}
