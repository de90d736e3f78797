//! Compressed bodies: decoded, broken, and larger than they look.

use crate::{failures, ms, run, us};
use drumfire_measure::Outcome;
use drumfire_plan::Compressed;
use drumfire_testkit::{Answer, Draft, Law, Network, Server, World, closed};
use drumfire_units::ByteSize;
use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};
use std::io::Write;

const TEXT: &[u8] = &[b'a'; 20_000];
const LIMIT: u64 = 50_000;

fn gzip(body: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(body).expect("memory takes it");
    encoder.finish().expect("memory takes it")
}

fn deflate(body: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(body).expect("memory takes it");
    encoder.finish().expect("memory takes it")
}

fn zstandard(body: &[u8]) -> Vec<u8> {
    let mut encoder = zstd::Encoder::new(Vec::new(), 3).expect("memory takes it");
    encoder.include_checksum(true).expect("memory takes it");
    encoder.write_all(body).expect("memory takes it");
    encoder.finish().expect("memory takes it")
}

fn decoding() -> Draft {
    closed(3)
        .requests(60)
        .with(|plan| plan.http.compressed = Compressed::Decode(ByteSize(LIMIT)))
}

fn saying(coding: &str, body: &[u8]) -> Answer {
    Answer::with(200, &format!("Content-Encoding: {coding}\r\n"), body)
}

fn world(answer: Answer) -> World {
    World::new(Server::new().takes(Law::Const(us(100))).says(answer))
        .network(Network::each_way(us(20)))
}

/// Every coding of one text.
fn encoded(text: &[u8]) -> [(&'static str, Vec<u8>); 4] {
    [
        ("gzip", gzip(text)),
        ("x-gzip", gzip(text)),
        ("deflate", deflate(text)),
        ("zstd", zstandard(text)),
    ]
}

#[test]
fn what_decodes_is_ok_in_any_pieces() {
    for (coding, body) in encoded(TEXT) {
        for size in [usize::MAX >> 1, 1, 7] {
            let answer = saying(coding, &body).dripping(size, us(1));
            let result = run(decoding(), world(answer));
            failures(&result.summary, &[]);
            assert_eq!(result.log.connections, 3, "{coding}: connections are kept");
            assert!(
                result.summary.total.bytes.received < 60 * 2000,
                "as they came"
            );
        }
    }
}

#[test]
fn what_is_cut_or_broken_does_not_decode() {
    for (coding, body) in encoded(TEXT) {
        let mut broken = body.clone();
        let middle = broken.len() / 2;
        broken[middle] ^= 0x55;
        broken[middle + 1] ^= 0x55;
        for wrong in [
            &body[..body.len() - 3],
            &broken[..],
            b"plain text",
            b"\x1f\x8b",
        ] {
            let result = run(decoding(), world(saying(coding, wrong)));
            failures(&result.summary, &[(Outcome::Decode, 60)]);
        }
    }
}

#[test]
fn a_bomb_is_bounded() {
    let zeros = vec![0; 20_000_000];
    for (coding, body) in encoded(&zeros) {
        assert!(body.len() < 100_000, "{coding}: {}", body.len());
        let result = run(decoding(), world(saying(coding, &body)));
        failures(&result.summary, &[(Outcome::LimitDecoded, 60)]);
    }
}

#[test]
fn the_limit_is_exact() {
    let at = vec![b'x'; LIMIT as usize];
    let above = vec![b'x'; LIMIT as usize + 1];
    for (coding, body) in encoded(&at) {
        failures(&run(decoding(), world(saying(coding, &body))).summary, &[]);
    }
    for (coding, body) in encoded(&above) {
        let result = run(decoding(), world(saying(coding, &body)));
        failures(&result.summary, &[(Outcome::LimitDecoded, 60)]);
    }
}

#[test]
fn an_unknown_coding_does_not_decode_and_none_is_none() {
    let result = run(decoding(), world(saying("rot13", b"uryyb")));
    failures(&result.summary, &[(Outcome::Decode, 60)]);
    let result = run(decoding(), world(saying("identity", b"hello")));
    failures(&result.summary, &[]);
}

#[test]
fn nothing_is_decoded_unless_the_plan_says_so() {
    let result = run(closed(3).requests(60), world(saying("gzip", b"plain text")));
    failures(&result.summary, &[]);
}

#[test]
fn large_bodies_are_counted_to_the_byte() {
    let body = vec![b'x'; 1_000_000];
    for size in [10_000_000, 1448, 65_536, 64 * 1024 - 1] {
        let answer = Answer::with(200, "", &body).dripping(size, us(1));
        let length = "HTTP/1.1 200 Scripted\r\nContent-Length: 1000000\r\n\r\n".len() + body.len();
        let result = run(closed(2).requests(20), world(answer));
        failures(&result.summary, &[]);
        assert_eq!(result.summary.total.bytes.received, 20 * length as u64);
        assert!(result.summary.total.latency.service_time.max() < ms(2));
    }
}
