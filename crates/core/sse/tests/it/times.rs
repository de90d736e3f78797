//! The stamp of an event: that of the slice that completed its data.

use crate::seen::read;
use drumfire_sse::Reader;

/// The stamps of the events of these slices.
fn stamps(slices: &[&[u8]]) -> Vec<u64> {
    let (events, ending) = read(&mut Reader::new(1024), slices.iter().copied());
    assert!(ending.is_ok());
    events.into_iter().map(|(_, stamp)| stamp).collect()
}

#[test]
fn an_event_is_there_when_its_data_is() {
    let cases: [(&[&[u8]], &[u64]); 14] = [
        (&[b"data: a\n\n", b"data: b\n\n"], &[0, 1]),
        (&[b"data: a\n\ndata: b\n\n"], &[0, 0]),
        // The empty line is late.
        (&[b"data: a\n", b"\n"], &[0]),
        (&[b"data: a\r", b"\n", b"\r\n"], &[0]),
        (&[b"data: a\n", b"event: x\n", b": x\n", b"\n"], &[0]),
        (&[b"data: a\n", b"data: b", b"\n", b"\n"], &[2]),
        // The line's end is late: only a whole object is complete without it.
        (&[b"data: a", b"\n\n"], &[1]),
        (&[b"data: {\"a\":", b"\"}", b"\"}", b"\r", b"\n\r\n"], &[2]),
        (&[b"data: {}", b" \n\n"], &[1]),
        (&[b"\xef\xbb\xbfdata:{}", b"\n\n"], &[0]),
        (&[b"da", b"ta:", b" {}", b"\n\n"], &[2]),
        (&[b"event: {}", b"\ndata: a", b"\n\n"], &[2]),
        // The end of the stream is late.
        (&[b"data: {}", b"", b""], &[0]),
        (&[b"data: [DO", b"NE]", b""], &[1]),
    ];
    for (slices, wanted) in cases {
        assert_eq!(stamps(slices), wanted, "{slices:?}");
    }
}
