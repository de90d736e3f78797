//! Writes the seeds of every target to `corpus/<target>/`: the conformance cases, and texts from
//! the manual.

use drumfire_corpus::{Case, Request, StreamEnd};
use std::fs;
use std::io;
use std::path::Path;

/// Longer cases try limits, and are slow to mutate.
const CASE_BYTES_MAX: usize = 4096;

const SEQUENCES: [&str; 8] = [
    "500/s",
    "0.2/s",
    "const(90/m, 1h)",
    "line(5,200,60s) const(200,5m)",
    "step(10/s, 100/s, 10/s, 30s)",
    "sine(100/s, 50/s, 1m, 10m)",
    "once(1000) unlimited(10s)",
    "unlimited",
];

const THRESHOLDS: [&str; 9] = [
    "p99<50ms",
    "p99.9 <= 1s",
    "avg<20ms",
    "max<2s",
    "rate>=995/s",
    "failed<0.1%",
    "status(500)==0",
    "lag.p99<1ms",
    "step(login).p95<200ms over 60s",
];

const URLS: [&str; 9] = [
    "http://localhost:8080/plaintext",
    "https://example.org",
    "http://user:p%40ss@[::1]:81/a/../b?c=d&e#f\n../g?h",
    "http://127.0.0.1/?a b",
    "HTTP://EXAMPLE.org:80/\u{e4}?\u{fc}\nhttp://u:p@other.example/\u{e4}",
    "http://example.org/\n//other/b",
    "http://example.org/a?b\nfile:///etc/passwd",
    "http://example.org/a?b\n?c",
    "http://a:1/b/c/d;p?q\n../../../g;x=1/../y",
];

/// Bodies of `hello`: by gzip, zlib, bare deflate, br (uncompressed), zstd (raw block).
const CODED: [(u8, &[u8]); 5] = [
    (
        0,
        b"\x1f\x8b\x08\0\0\0\0\0\0\xff\xcb\x48\xcd\xc9\xc9\x07\0\x86\xa6\x10\x36\x05\0\0\0",
    ),
    (1, b"\x78\x9c\xcb\x48\xcd\xc9\xc9\x07\0\x06\x2c\x02\x15"),
    (1, b"\xcb\x48\xcd\xc9\xc9\x07\0"),
    (2, b"\x0b\x02\x80hello\x03"),
    (3, b"\x28\xb5\x2f\xfd\x20\x05\x29\0\0hello"),
];

/// Replies to calls: one plain message, two, one by gzip (stored), one that the server refuses.
const REPLIES: [&[u8]; 4] = [
    b"\0\x02\x02\0\0\0\0\x05hello",
    b"\x01\x02\x02trace-bin:AQI\ngrpc-status:0\n\0\0\0\0\0\0\0\0\0\x01a",
    b"\x03\x02\x02\ngrpc-status:0\n\x01\0\0\0\x19\x1f\x8b\x08\0\0\0\0\0\0\xff\xcb\x48\xcd\xc9\xc9\x07\0\x86\xa6\x10\x36\x05\0\0\0",
    b"\0\x02\0grpc-status:5,grpc-message:no%20luck,grpc-status-details-bin:CAU\n\n",
];

/// The first two bytes that `http1_response` reads: its choice and the seed of its cuts.
fn choice(case: &Case) -> [u8; 2] {
    let request = match case.request {
        Request::Get => 0,
        Request::Head => 1,
        Request::Connect => 2,
        Request::Close => 4,
    };
    let end = match case.end {
        StreamEnd::Open => 0,
        StreamEnd::Fin => 1,
        StreamEnd::Rst => 2,
    };
    let tight = if case.limits.is_empty() { 0 } else { 8 };
    [request | tight | end << 4, 1]
}

fn write(target: &str, name: &str, bytes: &[u8]) -> io::Result<()> {
    let folder = Path::new("corpus").join(target);
    fs::create_dir_all(&folder)?;
    fs::write(folder.join(name), bytes)
}

fn main() -> io::Result<()> {
    for case in drumfire_corpus::all() {
        let bytes = case.bytes();
        if bytes.len() <= CASE_BYTES_MAX {
            write(
                "http1_response",
                &case.name,
                &[&choice(&case)[..], &bytes].concat(),
            )?;
        }
    }
    for (target, texts) in [
        ("sequence", &SEQUENCES[..]),
        ("threshold", &THRESHOLDS[..]),
        ("url", &URLS[..]),
    ] {
        for (index, text) in texts.iter().enumerate() {
            write(target, &format!("seed-{index}"), text.as_bytes())?;
        }
    }
    for (index, (codings, coded)) in CODED.iter().enumerate() {
        write(
            "coding",
            &format!("seed-{index}"),
            &[&[*codings, 2][..], coded].concat(),
        )?;
    }
    for (index, reply) in REPLIES.iter().enumerate() {
        write("grpc_reply", &format!("seed-{index}"), reply)?;
    }
    write("chunked", "seed-0", &[7; 200])
}
