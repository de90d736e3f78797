//! Arbitrary bytes as what a server sends on a WebSocket: no panic, the events of a naive reader,
//! the same in every cut, and limits; with compression, too. Answers to a handshake.
//!
//! The first byte of the input selects the size of the slices, and the second the kept bytes and
//! whether messages may be compressed.

#![no_main]

use drumfire_websocket::{Agreed, DeflateOffer, Key, Offer};
use libfuzzer_sys::fuzz_target;

#[expect(dead_code, reason = "the tests of websocket use more of it")]
#[path = "../../crates/core/websocket/tests/it/seen.rs"]
mod seen;

#[path = "../../crates/core/websocket/tests/it/naive.rs"]
mod naive;

use seen::{DEFLATE, LIMIT, Seen, read};

fuzz_target!(|data: &[u8]| {
    let [size, choice, stream @ ..] = data else {
        return;
    };
    let size = usize::from(*size) + 1;
    let (agreed, keep) = match choice % 2 {
        0 => (Agreed::default(), usize::from(*choice)),
        _ => (DEFLATE, usize::from(*choice)),
    };
    let whole = read(&agreed, keep, [stream]);
    assert_eq!(read(&agreed, keep, stream.chunks(size)), whole);
    assert_eq!(read(&agreed, keep, stream.chunks(1)), whole);
    for event in &whole.0 {
        if let Seen::Message(_, kept, length, ..) = event {
            assert!(*length <= LIMIT);
            assert_eq!(kept.len() as u64, (*length).min(keep as u64));
        }
    }
    if agreed == Agreed::default() {
        assert_eq!(whole.0, naive::read(stream, keep));
    }
    handshake(stream);
});

/// Arbitrary bytes as the values of an answer's fields.
fn handshake(bytes: &[u8]) {
    let offer = Offer::new(vec!["chat".to_owned()], Some(DeflateOffer::default()));
    let offer = offer.expect("valid");
    let names = ["sec-websocket-extensions", "sec-websocket-protocol", "connection", "upgrade"];
    let values = bytes.split(|byte| *byte == b'\n');
    let fields = names.into_iter().cycle().zip(values);
    if let Ok(agreed) = offer.check_http2(200, fields.clone()) {
        assert!(agreed.protocol.is_none_or(|protocol| protocol == 0));
    }
    if let Err(refusal) = offer.check_http1(&Key::new([0; 16]), 101, fields) {
        let text = refusal.to_string();
        assert!(text.bytes().all(|byte| (0x20..0x7f).contains(&byte)), "{text}");
    }
}
