//! Request bodies: counted, and thrown away but for a beginning that is asked for.

use super::{BODY_MAX, Refusal};
use crate::request::RequestBody;

/// A chunk's size line with its extensions, and each trailer field, are at most this long.
const LINE_MAX: u32 = 4 * 1024;
/// All trailer fields together are at most this long.
const TRAILERS_MAX: u32 = 64 * 1024;

/// The body is beyond [`BODY_MAX`].
pub(super) const TOO_LARGE: Refusal = Refusal {
    status: 413,
    reason: "the request body exceeds 1 GiB",
};

const MALFORMED: Refusal = Refusal::bad("the chunked body is malformed");

/// Reads one body.
#[derive(Debug)]
pub(crate) struct BodyReader {
    state: State,
    body: RequestBody,
    kept_max: usize,
}

/// Where in a body we are.
///
/// ```text
/// Size ─► Extension ─► SizeEnd ─► Data ─► DataCr ─► DataLf ─► Size …
///                         └─ size 0 ─► Trailer ◄─► TrailerEnd ─► Complete
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Complete,
    /// This many bytes of a body with Content-Length are to come.
    Length(u64),
    /// In the digits of a chunk's size.
    Size {
        size: u64,
        digits: u32,
    },
    /// Between the digits and the line's end.
    Extension {
        size: u64,
        length: u32,
    },
    /// Before the line feed of a size line.
    SizeEnd {
        size: u64,
    },
    /// This many bytes of a chunk are to come.
    Data {
        rest: u64,
    },
    DataCr,
    DataLf,
    /// In a trailer line of which `line` bytes are known, `total` in all.
    Trailer {
        line: u32,
        total: u32,
    },
    /// Before the line feed of a trailer line.
    TrailerEnd {
        line: u32,
        total: u32,
    },
}

impl BodyReader {
    pub(crate) const fn empty() -> Self {
        Self::new(State::Complete)
    }

    pub(crate) const fn length(length: u64) -> Self {
        Self::new(match length {
            0 => State::Complete,
            length => State::Length(length),
        })
    }

    pub(crate) const fn chunked() -> Self {
        Self::new(State::Size { size: 0, digits: 0 })
    }

    const fn new(state: State) -> Self {
        Self {
            state,
            body: RequestBody {
                length: 0,
                kept: Vec::new(),
            },
            kept_max: 0,
        }
    }

    /// The same, keeping that many bytes of the content.
    pub(crate) fn keeping(self, kept_max: usize) -> Self {
        Self { kept_max, ..self }
    }

    /// Whether the body's end has come.
    pub(crate) fn is_complete(&self) -> bool {
        self.state == State::Complete
    }

    /// The content, without any framing.
    pub(crate) fn finish(self) -> RequestBody {
        self.body
    }

    /// Reads on; returns how many bytes belonged to the body.
    pub(crate) fn read(&mut self, input: &[u8]) -> Result<usize, Refusal> {
        let mut at = 0;
        while at < input.len() && !self.is_complete() {
            at += match self.state {
                State::Length(rest) => self.content(rest, &input[at..], |rest| match rest {
                    0 => State::Complete,
                    rest => State::Length(rest),
                })?,
                State::Data { rest } => self.content(rest, &input[at..], |rest| match rest {
                    0 => State::DataCr,
                    rest => State::Data { rest },
                })?,
                state => {
                    self.state = step(state, input[at])?;
                    1
                }
            };
        }
        Ok(at)
    }

    /// Takes content: the part of `input` that belongs to the `rest` bytes that are to come.
    fn content(
        &mut self,
        rest: u64,
        input: &[u8],
        next: impl Fn(u64) -> State,
    ) -> Result<usize, Refusal> {
        let taken = usize::try_from(rest).map_or(input.len(), |rest| rest.min(input.len()));
        self.body.take(&input[..taken], self.kept_max);
        if self.body.length > BODY_MAX {
            return Err(TOO_LARGE);
        }
        self.state = next(rest - taken as u64);
        Ok(taken)
    }
}

/// One byte of chunked framing (RFC 9112 §7.1).
fn step(state: State, byte: u8) -> Result<State, Refusal> {
    match (state, byte) {
        (State::Size { size, digits }, byte) => size_digit(size, digits, byte),
        (State::Extension { size, .. }, b'\r') => Ok(State::SizeEnd { size }),
        (State::Extension { size, length }, byte) if byte != b'\n' && length < LINE_MAX => {
            Ok(State::Extension {
                size,
                length: length + 1,
            })
        }
        (State::SizeEnd { size: 0 }, b'\n') => Ok(State::Trailer { line: 0, total: 0 }),
        (State::SizeEnd { size }, b'\n') => Ok(State::Data { rest: size }),
        (State::DataCr, b'\r') => Ok(State::DataLf),
        (State::DataLf, b'\n') => Ok(State::Size { size: 0, digits: 0 }),
        (State::Trailer { line, total }, b'\r') => Ok(State::TrailerEnd { line, total }),
        (State::Trailer { line, total }, byte)
            if byte != b'\n' && line < LINE_MAX && total < TRAILERS_MAX =>
        {
            Ok(State::Trailer {
                line: line + 1,
                total: total + 1,
            })
        }
        (State::TrailerEnd { line: 0, .. }, b'\n') => Ok(State::Complete),
        (State::TrailerEnd { total, .. }, b'\n') => Ok(State::Trailer { line: 0, total }),
        _ => Err(MALFORMED),
    }
}

fn size_digit(size: u64, digits: u32, byte: u8) -> Result<State, Refusal> {
    if let Some(digit) = char::from(byte).to_digit(16) {
        // Sixteen digits fill 64 bits, leading zeros included.
        if digits == 16 {
            return Err(MALFORMED);
        }
        let size = size << 4 | u64::from(digit);
        let digits = digits + 1;
        return Ok(State::Size { size, digits });
    }
    match byte {
        _ if digits == 0 => Err(MALFORMED),
        b'\r' => Ok(State::SizeEnd { size }),
        b';' | b' ' | b'\t' => Ok(State::Extension { size, length: 0 }),
        _ => Err(MALFORMED),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(mut reader: BodyReader, text: &str, pieces: usize) -> Result<(u64, usize), u16> {
        let mut taken = 0;
        for piece in text.as_bytes().chunks(pieces) {
            taken += reader.read(piece).map_err(|refusal| refusal.status)?;
        }
        if reader.is_complete() {
            Ok((reader.finish().length, taken))
        } else {
            Err(0)
        }
    }

    #[test]
    fn bodies_end_where_they_say_in_any_pieces() {
        let chunked = "5\r\nhello\r\nA;x=\"y\"\r\n0123456789\r\n000\r\nT: 1\r\nU: 2\r\n\r\nGET";
        for pieces in 1..chunked.len() {
            let whole = (15, chunked.len() - 3);
            assert_eq!(read(BodyReader::chunked(), chunked, pieces), Ok(whole));
            assert_eq!(read(BodyReader::length(5), "helloGET", pieces), Ok((5, 5)));
        }
        assert_eq!(read(BodyReader::empty(), "GET", 3), Ok((0, 0)));
        assert_eq!(read(BodyReader::chunked(), "0\r\n\r\n", 9), Ok((0, 5)));
    }

    #[test]
    fn a_beginning_is_kept_if_it_is_wanted() {
        let chunked = b"5\r\nhello\r\n1\r\n!\r\n0\r\n\r\n";
        for (kept_max, expected) in [(0, ""), (3, "hel"), (6, "hello!"), (99, "hello!")] {
            let mut reader = BodyReader::chunked().keeping(kept_max);
            for byte in chunked {
                reader.read(&[*byte]).unwrap();
            }
            let body = reader.finish();
            assert_eq!((body.length, &body.kept[..]), (6, expected.as_bytes()));
        }
    }

    #[test]
    fn unfinished_bodies_are_not_complete() {
        let chunked = "1\r\nx\r\n0\r\n\r\n";
        for cut in 0..chunked.len() {
            assert_eq!(read(BodyReader::chunked(), &chunked[..cut], 99), Err(0));
        }
        assert_eq!(read(BodyReader::length(2), "x", 1), Err(0));
    }

    #[test]
    fn malformed_chunks_are_refused() {
        for text in [
            "\r\n",
            "x\r\n",
            "-1\r\n",
            "0x1\r\n",
            "1\nx",
            "1\r\nxy\r\n",
            "1\r\nx\n0",
            "00000000000000001\r\n",
            "0\r\nT: 1\n",
        ] {
            assert_eq!(read(BodyReader::chunked(), text, 1), Err(400), "{text:?}");
        }
        let line = |length| format!("1;{}\r\n", "x".repeat(length));
        assert_eq!(
            read(BodyReader::chunked(), &line(LINE_MAX as usize), 99),
            Err(0)
        );
        assert_eq!(
            read(BodyReader::chunked(), &line(LINE_MAX as usize + 1), 99),
            Err(400)
        );
        let trailers = format!("0\r\n{}", "T: 1\r\n".repeat(20_000));
        assert_eq!(read(BodyReader::chunked(), &trailers, 99), Err(400));
    }

    #[test]
    fn bodies_are_bounded() {
        let mut reader = BodyReader::chunked();
        assert_eq!(reader.read(b"40000001\r\n"), Ok(10));
        let block = vec![0; 1 << 20];
        let refusal = (0..1025).find_map(|_| reader.read(&block).err());
        assert_eq!(refusal, Some(TOO_LARGE));
    }
}
