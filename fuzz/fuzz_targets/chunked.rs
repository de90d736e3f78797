//! Valid chunked bodies with arbitrary chunks, extensions and trailers: the decoder returns them in
//! full, with the expected notices.

#![no_main]

use drumfire_corpus::StreamEnd;
use drumfire_http1::{Limits, Notice, Persistence, RequestKind, Shared};
use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;

#[expect(dead_code, reason = "the tests of http1 use more of it")]
#[path = "../../crates/core/http1/tests/it/replay.rs"]
mod replay;

use replay::{Setting, replay};

#[derive(Arbitrary, Debug)]
struct Body {
    chunks: Vec<ChunkCopy>,
    last: Line,
    trailers: Vec<(u8, Vec<u8>)>,
    excess: bool,
    piece: u8,
}

#[derive(Arbitrary, Debug)]
struct ChunkCopy {
    data: Vec<u8>,
    line: Line,
}

/// The bytes before and after a size.
#[derive(Arbitrary, Debug)]
struct Line {
    zeros: u8,
    upper: bool,
    spaces: u8,
    extension: Option<Vec<u8>>,
}

impl Line {
    fn write(&self, size: usize, out: &mut Vec<u8>) {
        out.extend(std::iter::repeat_n(b'0', usize::from(self.zeros)));
        let size = if self.upper {
            format!("{size:X}")
        } else {
            format!("{size:x}")
        };
        out.extend_from_slice(size.as_bytes());
        out.extend(std::iter::repeat_n(b' ', usize::from(self.spaces % 4)));
        if let Some(extension) = &self.extension {
            out.push(b';');
            out.extend(extension.iter().map(text));
        }
        out.extend_from_slice(b"\r\n");
    }

    fn has_space(&self) -> bool {
        !self.spaces.is_multiple_of(4)
    }
}

/// Converts any byte to one that is allowed in a value.
fn text(byte: &u8) -> u8 {
    if byte.is_ascii_control() { b'x' } else { *byte }
}

impl Body {
    fn write(&self) -> (Vec<u8>, Vec<u8>) {
        let mut out = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
        let mut content = Vec::new();
        for chunk in self.chunks.iter().filter(|chunk| !chunk.data.is_empty()) {
            chunk.line.write(chunk.data.len(), &mut out);
            out.extend_from_slice(&chunk.data);
            out.extend_from_slice(b"\r\n");
            content.extend_from_slice(&chunk.data);
        }
        self.last.write(0, &mut out);
        for (name, value) in &self.trailers {
            out.extend_from_slice(&[b'a' + name % 26, b':']);
            out.extend(value.iter().map(text));
            out.extend_from_slice(b"\r\n");
        }
        out.extend_from_slice(b"\r\n");
        if self.excess {
            out.push(b'x');
        }
        (out, content)
    }
}

fuzz_target!(|body: Body| {
    let (stream, content) = body.write();
    // Limits above anything that one input can contain.
    let limits = Limits {
        header_count: 1 << 20,
        chunk_extension_bytes: 1 << 20,
        ..Limits::default()
    };
    let setting = Setting {
        kind: RequestKind::Normal,
        persistence: Persistence::KeepAlive,
        limits,
        end: StreamEnd::Open,
        at_once: false,
    };
    let mut shared = Shared::new(limits);
    let size = usize::from(body.piece) + 1;
    let seen = replay(stream.chunks(size), setting, &mut shared);
    assert_eq!(seen.error, None);
    assert_eq!(seen.body, content);
    let end = seen.end.expect("a whole response");
    assert_eq!(end.reusable, !body.excess);
    let spaced = body.last.has_space()
        || body
            .chunks
            .iter()
            .any(|chunk| !chunk.data.is_empty() && chunk.line.has_space());
    assert_eq!(end.notices.contains(Notice::ChunkSpace), spaced);
});
