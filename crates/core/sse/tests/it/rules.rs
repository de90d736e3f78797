//! The rules of the standard as streams with their events, each cut everywhere.

use crate::naive;
use crate::seen::{Seen, events};
use drumfire_sse::Ending::{self, Cut, Forgiven, Whole};
use drumfire_sse::{Reader, TooLong, is_done};

/// The data of a stream's events, and how it ends.
const RULES: &[(&str, &[u8], &[&str], Ending)] = &[
    ("an event", b"data: a\n\n", &["a"], Whole),
    (
        "several events",
        b"data: a\n\ndata: b\n\n",
        &["a", "b"],
        Whole,
    ),
    ("nothing", b"", &[], Whole),
    // 1: UTF-8; one mark at the start is skipped.
    ("a mark", b"\xef\xbb\xbfdata: a\n\n", &["a"], Whole),
    (
        "two marks",
        b"\xef\xbb\xbf\xef\xbb\xbfdata: a\n\n",
        &[],
        Whole,
    ),
    (
        "a late mark",
        b"data: a\n\n\xef\xbb\xbfdata: b\n\ndata: \xef\xbb\xbfc\n\n",
        &["a", "\u{feff}c"],
        Whole,
    ),
    ("half a mark", b"\xef\xbbdata: a\n\n", &[], Whole),
    (
        "a mark before an empty line",
        b"\xef\xbb\xbf\ndata: a\n\n",
        &["a"],
        Whole,
    ),
    // 2: line ends.
    (
        "CR, LF and CRLF",
        b"data: a\r\ndata: b\r\r",
        &["a\nb"],
        Whole,
    ),
    (
        "CRLF",
        b"data: a\r\n\r\ndata: b\r\n\r\n",
        &["a", "b"],
        Whole,
    ),
    ("CR", b"data: a\r\rdata: b\r\r", &["a", "b"], Whole),
    (
        "a CR and a CRLF",
        b"data: a\r\r\ndata: b\n\r\n",
        &["a", "b"],
        Whole,
    ),
    (
        "an LF and a CR",
        b"data: a\n\rdata: b\n\r",
        &["a", "b"],
        Whole,
    ),
    // 3: an empty line dispatches what has data.
    ("no data", b"event: x\n\n", &[], Whole),
    ("empty lines", b"\n\n\r\n\rdata: a\n\n\n\n", &["a"], Whole),
    // 4: comments.
    ("a comment", b": ping\n\n", &[], Whole),
    (
        "a comment within",
        b"data: a\n:\n: data: b\n\n",
        &["a"],
        Whole,
    ),
    // 5: the field and its value.
    ("no blank", b"data:a\n\ndata: a\n\n", &["a", "a"], Whole),
    (
        "two blanks",
        b"data:  a\n\ndata: a \n\n",
        &[" a", "a "],
        Whole,
    ),
    ("a tab", b"data:\ta\n\n", &["\ta"], Whole),
    (
        "a colon in the value",
        b"data: a: b\n\ndata::\n\n",
        &["a: b", ":"],
        Whole,
    ),
    // 6: a line without a colon.
    ("a field alone", b"data\n\n", &[""], Whole),
    ("two fields alone", b"data\ndata\n\n", &["\n"], Whole),
    ("empty values", b"data:\n\ndata: \n\n", &["", ""], Whole),
    // 7: lines of data are joined.
    ("lines", b"data: a\ndata:\ndata: b\n\n", &["a\n\nb"], Whole),
    // 8: other fields are ignored.
    (
        "a blank in the name",
        b"data : x\n\n data: x\n\n",
        &[],
        Whole,
    ),
    (
        "an upper-case name",
        b"Data: x\n\ndatas: x\ndat: x\n\n",
        &[],
        Whole,
    ),
    // 9: an event without its empty line.
    (
        "DONE without a line",
        b"data: a\n\ndata: [DONE]",
        &["a", "[DONE]"],
        Forgiven,
    ),
    (
        "DONE with a line",
        b"data: a\n\ndata:  [DONE] \n",
        &["a", " [DONE] "],
        Forgiven,
    ),
    ("DONE with a CR", b"data: [DONE]\r", &["[DONE]"], Forgiven),
    (
        "an object without a line",
        b"data: {\"a\": [\"}\"]}",
        &["{\"a\": [\"}\"]}"],
        Forgiven,
    ),
    (
        "an object of two lines",
        b"data: {\ndata: }\n",
        &["{\n}"],
        Forgiven,
    ),
    (
        "half an object",
        b"data: a\n\ndata: {\"a\": [\"}\"]",
        &["a"],
        Cut,
    ),
    ("a text", b"data: a\n\ndata: b\n", &["a"], Cut),
    (
        "a text without its line",
        b"data: a\n\ndata: b",
        &["a"],
        Cut,
    ),
    ("half a name", b"data: a\n\nda", &["a"], Cut),
    ("a type alone", b"data: a\n\nevent: end\n", &["a"], Cut),
    ("half a comment", b"data: a\n\n: pi", &["a"], Whole),
    ("an id alone", b"data: a\n\nid: 4\n", &["a"], Whole),
    // 10: bytes that are not UTF-8.
    (
        "two bytes",
        "data: {\"c\":\"é\"}\n\n".as_bytes(),
        &["{\"c\":\"é\"}"],
        Whole,
    ),
    ("four bytes", "data: 😀\n\n".as_bytes(), &["😀"], Whole),
    (
        "wrong bytes",
        b"data: \xff\xc3\n\ndata: \xe2\x82a\n\n",
        &["\u{fffd}\u{fffd}", "\u{fffd}a"],
        Whole,
    ),
];

/// Compares a stream with its events: whole, in single bytes, and cut once at every place.
fn check(name: &str, stream: &[u8], wanted: &[Seen], ending: Ending) {
    let wanted = (wanted.to_vec(), Ok(ending));
    assert_eq!(events([stream]), wanted, "{name}");
    assert_eq!(events(stream.chunks(1)), wanted, "{name} in bytes");
    for cut in 0..=stream.len() {
        let (first, second) = stream.split_at(cut);
        assert_eq!(events([first, second]), wanted, "{name} cut at {cut}");
        let empty = [first, b"", second];
        assert_eq!(events(empty), wanted, "{name} with nothing at {cut}");
    }
    let mut standard = wanted.0;
    if ending == Forgiven {
        standard.pop();
    }
    assert_eq!(naive::read(stream), standard, "{name} by the standard");
}

fn message(data: &str) -> Seen {
    Seen {
        kind: "message".to_owned(),
        data: data.to_owned(),
        id: String::new(),
        retry: None,
    }
}

#[test]
fn the_rules_hold_for_every_cut() {
    for (name, stream, data, ending) in RULES {
        let wanted: Vec<_> = data.iter().map(|data| message(data)).collect();
        check(name, stream, &wanted, *ending);
    }
}

#[test]
fn an_event_has_the_fields_of_its_block_and_the_last_id() {
    let stream = b"event: add\nid: 7\nretry: 250\ndata: a\n\n\
        data: b\nevent: x\nevent: y\n\n\
        event\nid\ndata: c\n\n\
        id: 8\0\nretry: 1s\nretry: -1\nretry\ndata: d\n\n\
        id: 9\nevent: lost\n\nretry: 99999999999999999999\ndata: e\n\n";
    let seen = |kind: &str, data: &str, id: &str, retry| Seen {
        kind: kind.to_owned(),
        data: data.to_owned(),
        id: id.to_owned(),
        retry: Some(retry),
    };
    let wanted = [
        seen("add", "a", "7", 250),
        seen("y", "b", "7", 250),
        seen("message", "c", "", 250),
        seen("message", "d", "", 250),
        seen("message", "e", "9", u64::MAX),
    ];
    check("fields", stream, &wanted, Whole);
}

#[test]
fn a_line_and_an_event_have_a_limit() {
    // The limit, a stream, and the number of events before the mistake; `None`: no mistake.
    let cases: [(usize, &[u8], Option<usize>); 8] = [
        (8, b"data: ab\n\n", None),
        (8, b"data: abc\n\n", Some(0)),
        (8, b"data: a\n\ndata: abc", Some(1)),
        (8, b":1234567\n\n", None),
        (8, b": 1234567\n\n", Some(0)),
        (8, b"data:abc\ndata:def\ndata\n\n", None),
        (8, b"data:abc\ndata:def\ndata:g\n\n", Some(0)),
        (8, b"data:\xff\xff\xff\n\n", Some(0)),
    ];
    for (limit, stream, before) in cases {
        for cut in 0..=stream.len() {
            let (first, second) = stream.split_at(cut);
            let mut reader = Reader::new(limit);
            let (seen, ending) = crate::seen::read(&mut reader, [first, second]);
            match before {
                None => assert_eq!(ending, Ok(Whole), "{limit} {stream:?} {cut}"),
                Some(before) => {
                    assert_eq!(ending, Err(TooLong), "{limit} {stream:?} {cut}");
                    assert_eq!(seen.len(), before);
                    let again = reader.push(b"\n\ndata: a\n\n", 0, |_| panic!("after a mistake"));
                    assert_eq!(again, Err(TooLong));
                    assert_eq!(reader.finish(|_| panic!("after a mistake")), Cut);
                }
            }
        }
    }
}

#[test]
fn done_may_have_blanks_around_it() {
    assert!(is_done("[DONE]") && is_done(" [DONE]\t"));
    assert!(!is_done("[done]") && !is_done("") && !is_done("[DONE] x"));
}
