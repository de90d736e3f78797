//! TLS messages that span several records, and records that arrive in several pieces. The client
//! resumes where it stopped, after any call in between.

use crate::peer::{Peer, SLOT, Server, driver};
use crate::pen::Pen;
use drumfire_net::{Io, IoError, Native, Progress, Received};
use rustls::version::{TLS12, TLS13};
use rustls::{AlertDescription, ContentType, Error, SupportedProtocolVersion};

/// The number of names that makes a certificate 37 kB long.
const MANY: usize = 2500;
/// A KeyUpdate that requests none in return (RFC 8446 section 4.6.3).
const KEY_UPDATE: [u8; 5] = [24, 0, 0, 1, 0];
/// Longer than any handshake message that is accepted.
const ENDLESS: usize = 400_000;

/// One handshake: how the server splits its messages into records, and these into pieces.
#[derive(Clone, Copy, Debug)]
struct Case {
    server: Server,
    piece: usize,
}

/// Goes through a handshake in which the server's bytes arrive in pieces.
fn secure(io: &mut Native, case: &Case) -> Peer {
    let mut peer = Peer::new(io, &case.server);
    let mut progress = io.start_tls(SLOT, 0).expect("it begins");
    for _ in 0..4 {
        peer.hear().expect("a sound client");
        for piece in peer.flight().chunks(case.piece) {
            assert_eq!(progress, Progress::Pending, "{case:?}");
            peer.write_raw(piece);
            progress = io.handshake(SLOT).expect("a sound server");
        }
        if progress == Progress::Done {
            return peer;
        }
    }
    panic!("the handshake does not end: {case:?}");
}

/// Receives the bytes that have arrived.
fn receive(io: &mut Native) -> Result<Vec<u8>, IoError> {
    let mut seen = Vec::new();
    let mut buffer = [0; 4096];
    for _ in 0..10_000 {
        match io.receive(SLOT, &mut buffer)? {
            Received::Bytes { length, .. } => seen.extend_from_slice(&buffer[..length]),
            Received::Nothing | Received::End => return Ok(seen),
        }
    }
    panic!("there is always more");
}

/// Sends a text, for which the socket must have room.
fn send(io: &mut Native, text: &[u8]) {
    assert_eq!(io.send(SLOT, text), Ok(text.len()));
}

fn check(case: Case) {
    let mut io = driver();
    let mut peer = secure(&mut io, &case);
    let text: Vec<u8> = (0..40_000).map(|n| (n % 251) as u8).collect();
    send(&mut io, b"a request");
    peer.hear().expect("a sound client");
    assert_eq!(peer.heard, b"a request");
    let mut seen = Vec::new();
    // In TLS 1.3 the tickets come first.
    for piece in peer.say(&text).chunks(case.piece) {
        peer.write_raw(piece);
        seen.extend(receive(&mut io).expect("a sound server"));
    }
    assert!(seen == text, "other bytes: {case:?}");
    io.close(SLOT);
    peer.hear().expect("a sound client");
}

#[test]
fn a_long_certificate_comes_in_small_records_and_pieces() {
    for version in [&TLS12, &TLS13] {
        for record in [None, Some(512), Some(64)] {
            for piece in [13, 511, 4096, 100_000] {
                let names = MANY;
                let server = Server {
                    version,
                    names,
                    record,
                };
                check(Case { server, piece });
            }
        }
    }
}

#[test]
fn every_byte_comes_alone() {
    for version in [&TLS12, &TLS13] {
        for record in [None, Some(40)] {
            let names = 1;
            let server = Server {
                version,
                names,
                record,
            };
            check(Case { server, piece: 1 });
        }
    }
}

/// A server of small records.
fn small(version: &'static SupportedProtocolVersion) -> Case {
    let server = Server {
        version,
        names: 1,
        record: Some(48),
    };
    Case {
        server,
        piece: 100_000,
    }
}

#[test]
fn a_client_sends_while_it_has_half_a_ticket() {
    let whole = {
        let mut io = driver();
        let mut peer = secure(&mut io, &small(&TLS13));
        peer.hear().expect("a sound client");
        peer.flight().len()
    };
    assert!(
        whole > 3 * 48,
        "no ticket of several records: {whole} bytes"
    );
    for cut in (1..whole).step_by(7) {
        let mut io = driver();
        let mut peer = secure(&mut io, &small(&TLS13));
        peer.hear().expect("a sound client");
        let tickets = peer.flight();
        let (first, second) = tickets.split_at(cut);
        peer.write_raw(first);
        assert_eq!(receive(&mut io), Ok(Vec::new()), "cut at {cut}");
        send(&mut io, b"one ");
        send(&mut io, b"two ");
        peer.write_raw(second);
        assert_eq!(receive(&mut io), Ok(Vec::new()), "cut at {cut}");
        send(&mut io, b"three");
        let answer = peer.say(b"answer");
        peer.write_raw(&answer);
        assert_eq!(receive(&mut io), Ok(b"answer".to_vec()), "cut at {cut}");
        peer.hear().expect("a sound client");
        assert_eq!(peer.heard, b"one two three", "cut at {cut}");
    }
}

#[test]
fn a_client_sends_and_closes_while_it_has_half_a_message() {
    for cut in 1..KEY_UPDATE.len() {
        let mut io = driver();
        let mut peer = secure(&mut io, &small(&TLS13));
        peer.hear().expect("a sound client");
        let tickets = peer.flight();
        peer.write_raw(&tickets);
        let mut pen = Pen::new(peer);
        for part in [&KEY_UPDATE[..cut], &KEY_UPDATE[cut..]] {
            let record = pen.record(ContentType::Handshake, part);
            pen.write_raw(&record);
            assert_eq!(receive(&mut io), Ok(Vec::new()), "cut at {cut}");
            send(&mut io, b"a request");
        }
        io.close(SLOT);
    }
    let mut io = driver();
    let mut peer = secure(&mut io, &small(&TLS13));
    peer.hear().expect("a sound client");
    let tickets = peer.flight();
    peer.write_raw(&tickets[..60]);
    assert_eq!(receive(&mut io), Ok(Vec::new()));
    io.close(SLOT);
    peer.hear().expect("a farewell, and no nonsense");
    let state = peer.tls.process_new_packets().expect("a sound client");
    assert!(state.peer_has_closed(), "it says goodbye");
}

#[test]
fn a_client_answers_an_update_of_keys_before_it_goes_on() {
    let mut io = driver();
    let mut peer = secure(&mut io, &small(&TLS13));
    peer.hear().expect("a sound client");
    peer.tls.refresh_traffic_keys().expect("an open connection");
    let update = peer.say(b"by new keys");
    for piece in update.chunks(5) {
        peer.write_raw(piece);
        let _text = receive(&mut io).expect("a sound server");
        send(&mut io, b"x");
    }
    peer.hear().expect("every record in its place");
    assert_eq!(peer.heard.len(), update.chunks(5).len());
}

#[test]
fn a_message_without_end_has_a_limit_with_a_name() {
    let mut io = driver();
    let mut peer = secure(&mut io, &small(&TLS13));
    peer.hear().expect("a sound client");
    let tickets = peer.flight();
    peer.write_raw(&tickets);
    let mut pen = Pen::new(peer);
    // A ticket of 65,535 bytes (RFC 8446 section 4), with one byte in each record.
    let mut message = vec![4, 0, 255, 255];
    message.resize(ENDLESS, 0);
    let mut taken = 0;
    for byte in message.chunks(1) {
        let record = pen.record(ContentType::Handshake, byte);
        pen.write_raw(&record);
        taken += record.len();
        match receive(&mut io) {
            Ok(text) => assert_eq!(text, b""),
            Err(IoError::TlsProtocol(text)) => {
                assert!(text.contains("handshake message"), "{text}");
                assert!(taken < ENDLESS, "{taken} bytes are held");
                io.close(SLOT);
                return;
            }
            Err(error) => panic!("{error:?}"),
        }
    }
    panic!("it is never refused");
}

#[test]
fn a_peer_that_errs_hears_why() {
    let mut io = driver();
    let mut peer = secure(&mut io, &small(&TLS13));
    peer.hear().expect("a sound client");
    let mut tickets = peer.flight();
    tickets[10] ^= 1;
    peer.write_raw(&tickets);
    assert!(matches!(receive(&mut io), Err(IoError::TlsProtocol(_))));
    io.close(SLOT);
    let alert = Error::AlertReceived(AlertDescription::BadRecordMac);
    assert_eq!(peer.hear(), Err(alert));
}
