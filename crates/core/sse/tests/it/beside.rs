//! Random streams with the events that another reader found in them; conformance/sse/README.md has
//! its name and the form of the file.

use crate::seen::{Seen, events};
use drumfire_sse::Ending;

const STREAMS: &str = include_str!("../../../../../conformance/sse/eventsource-parser.txt");

/// The bytes of a hexadecimal text.
fn bytes(hex: &str) -> Vec<u8> {
    let pairs = hex.as_bytes().chunks(2);
    let pairs = pairs.map(|pair| std::str::from_utf8(pair).expect("ASCII"));
    let bytes = pairs.map(|pair| u8::from_str_radix(pair, 16).expect("a hexadecimal pair"));
    bytes.collect()
}

fn text(hex: &str) -> String {
    String::from_utf8(bytes(hex)).expect("the text of an event")
}

/// An event of the file.
fn seen(event: &str) -> Seen {
    let parts: Vec<&str> = event.split(',').collect();
    Seen {
        kind: text(parts[0]),
        data: text(parts[1]),
        id: text(parts[2]),
        retry: parts[3].parse().ok(),
    }
}

/// Reads every stream of a file, in slices of each of these sizes; returns the number of streams and
/// of events.
fn check(file: &str) -> (usize, usize) {
    let mut found = 0;
    for (number, line) in (1..).zip(file.lines()) {
        let mut parts = line.split(' ');
        let stream = bytes(parts.next().unwrap_or_default());
        let expected: Vec<Seen> = parts.map(seen).collect();
        for size in [1, 2, 7, usize::MAX] {
            let (mut events, ending) = events(stream.chunks(size));
            // The standard discards an event whose empty line is missing.
            if ending == Ok(Ending::Forgiven) {
                events.pop();
            }
            assert_eq!(events, expected, "line {number}, in slices of {size}");
        }
        found += expected.len();
    }
    (file.lines().count(), found)
}

#[test]
fn another_reader_finds_the_same_events() {
    let (streams, events) = check(STREAMS);
    assert_eq!(streams, 800);
    assert!(events > streams, "{events}");
}

#[test]
#[ignore = "needs a file that conformance/sse/beside.mjs has written"]
#[expect(clippy::disallowed_methods, reason = "the streams are a file")]
fn another_reader_finds_the_same_events_in_a_file() {
    let file = std::env::var("DRUMFIRE_SSE_STREAMS").expect("DRUMFIRE_SSE_STREAMS is a file");
    let file = std::fs::read_to_string(file).expect("the file is readable");
    let (streams, events) = check(&file);
    println!("{streams} streams, {events} events, 0 differences");
}
