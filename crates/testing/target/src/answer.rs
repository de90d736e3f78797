//! The plan of an answer, before a protocol encodes it.

use crate::fault::Drip;
use bytes::Bytes;
use drumfire_units::Nanos;
use std::collections::VecDeque;
use std::num::NonZeroU32;
use std::sync::LazyLock;

/// Whether the plan for equal requests is equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Constancy {
    Constant,
    Varying,
}

/// Whether a request is part of the load, or only inspects the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counting {
    Counted,
    Uncounted,
}

/// Literal bytes, independent of any protocol, and the end of the stream.
#[derive(Debug, Default)]
pub(crate) struct RawBytes {
    pub(crate) bytes: Vec<u8>,
    pub(crate) drip: Option<Drip>,
    pub(crate) end: RawEnd,
}

/// What happens to a stream after raw bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum RawEnd {
    /// The stream stays open for the next request.
    Open,
    #[default]
    Closed,
    Reset,
}

/// A valid answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// Fields other than those that frame the body.
    pub(crate) fields: Vec<(&'static str, String)>,
    pub(crate) body: Body,
    /// Whether the body is sent or only described.
    pub(crate) content: Content,
    /// The chunk size of a body without a declared length.
    pub(crate) chunked: Option<NonZeroU32>,
    /// The writes of the body; `None`: as fast as possible.
    pub(crate) pace: Option<Pace>,
    pub(crate) afterwards: Afterwards,
}

impl Answer {
    /// An answer without additional fields, sent at once as a whole.
    pub(crate) fn new(status: u16, body: Body) -> Self {
        Self {
            status,
            fields: Vec::new(),
            body,
            content: Content::Sent,
            chunked: None,
            pace: None,
            afterwards: Afterwards::Stay,
        }
    }
}

/// How a body is divided in writes.
#[derive(Clone, Debug)]
pub(crate) enum Pace {
    /// Pieces of the same size.
    Drip(Drip),
    /// These pieces; the rest is one piece.
    Pieces(VecDeque<Piece>),
}

/// One write of a body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    /// The time from the previous write, or from the head, to this one.
    pub(crate) wait: Nanos,
    pub(crate) size: u64,
}

impl Pace {
    /// The next piece. The first piece of a drip is sent with the head.
    pub(crate) fn next_piece(&mut self, is_first: bool) -> Piece {
        match self {
            Self::Drip(drip) => Piece {
                wait: if is_first { Nanos::ZERO } else { drip.interval },
                size: drip.size,
            },
            Self::Pieces(pieces) => pieces.pop_front().unwrap_or(Piece {
                wait: Nanos::ZERO,
                size: u64::MAX,
            }),
        }
    }

    /// Whether the writes are those of an event stream, which are logged.
    pub(crate) const fn is_logged(&self) -> bool {
        matches!(self, Self::Pieces(_))
    }
}

/// Whether a body follows the head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    Sent,
    /// An answer to HEAD.
    Described,
}

/// What happens to the connection after the answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Afterwards {
    #[default]
    Stay,
    Close,
    /// The connection is reset after half of the body.
    Cut,
}

/// A body that is produced while it is sent.
#[derive(Debug, Default)]
pub(crate) enum Body {
    #[default]
    Empty,
    /// These bytes from `at` on.
    Bytes { bytes: Vec<u8>, at: usize },
    /// The filler text from `at` to `end`.
    Filler { at: u64, end: u64 },
}

/// The maximum size of a piece of filler, in bytes.
pub(crate) const FILLER_PIECE: usize = 256 * 1024;

/// Filler: lines of text that compress well and that a person recognizes.
static FILLER: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let line = b"This is filler: text that a drumfire target sends as it is.\n";
    line.iter().copied().cycle().take(FILLER_PIECE).collect()
});

/// The filler's bytes from `at` up to `end`: at most `limit` bytes, and at most up to the end of
/// the filler text.
fn filler(at: u64, end: u64, limit: u64) -> &'static [u8] {
    // Both values fit: `from` is below FILLER_PIECE, and so is the rest.
    let from = (at % FILLER_PIECE as u64) as usize;
    let rest = (end - at).min(limit).min((FILLER_PIECE - from) as u64);
    &FILLER[from..from + rest as usize]
}

impl Body {
    pub(crate) fn bytes(bytes: impl Into<Vec<u8>>) -> Self {
        Self::Bytes {
            bytes: bytes.into(),
            at: 0,
        }
    }

    pub(crate) fn filler(size: u64) -> Self {
        Self::Filler { at: 0, end: size }
    }

    /// The number of remaining bytes.
    pub(crate) fn len(&self) -> u64 {
        match self {
            Self::Empty => 0,
            Self::Bytes { bytes, at } => (bytes.len() - at) as u64,
            Self::Filler { at, end } => end - at,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The next bytes, at most `limit`; empty only at the end, or if the limit is 0.
    pub(crate) fn piece(&self, limit: u64) -> &[u8] {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        match self {
            Self::Empty => &[],
            Self::Bytes { bytes, at } => &bytes[*at..bytes.len().min(at.saturating_add(limit))],
            Self::Filler { at, end } => filler(*at, *end, limit as u64),
        }
    }

    /// Takes the next bytes: `limit`, or all of them if fewer remain. Filler is copied only if it
    /// wraps around.
    pub(crate) fn next_bytes(&mut self, limit: u64) -> Bytes {
        let length = self.len().min(limit);
        let bytes = match self {
            Self::Filler { at, end } => Bytes::from_static(filler(*at, *end, limit)),
            Self::Empty | Self::Bytes { .. } => Bytes::copy_from_slice(self.piece(limit)),
        };
        self.advance(bytes.len() as u64);
        if bytes.len() as u64 == length {
            return bytes;
        }
        let mut bytes = bytes.to_vec();
        while (bytes.len() as u64) < length {
            let piece = self.piece(length - bytes.len() as u64);
            bytes.extend_from_slice(piece);
            let taken = piece.len() as u64;
            self.advance(taken);
        }
        bytes.into()
    }

    /// Takes all remaining bytes.
    pub(crate) fn all(&mut self) -> Bytes {
        self.next_bytes(u64::MAX)
    }

    /// Skips the next `n` bytes.
    pub(crate) fn advance(&mut self, n: u64) {
        debug_assert!(n <= self.len());
        match self {
            Self::Empty => {}
            Self::Bytes { at, .. } => *at += usize::try_from(n).unwrap_or(usize::MAX),
            Self::Filler { at, .. } => *at += n,
        }
        if self.is_empty() {
            *self = Self::Empty;
        }
    }

    /// Drops the second half of the remaining bytes.
    pub(crate) fn halve(&mut self) {
        let half = self.len() / 2;
        match self {
            Self::Empty => {}
            Self::Bytes { bytes, at } => {
                let kept = usize::try_from(half).unwrap_or(usize::MAX);
                bytes.truncate(at.saturating_add(kept));
            }
            Self::Filler { at, end } => *end = *at + half,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn collect(mut body: Body, limit: u64) -> Vec<u8> {
        let mut all = Vec::new();
        while !body.is_empty() {
            let piece = body.piece(limit);
            assert!(!piece.is_empty() && piece.len() as u64 <= limit);
            all.extend_from_slice(piece);
            let length = piece.len() as u64;
            body.advance(length);
        }
        all
    }

    #[test]
    fn a_body_is_the_same_in_any_pieces() {
        let size = FILLER_PIECE as u64 + 1_000;
        let whole = collect(Body::filler(size), u64::MAX);
        assert_eq!(whole.len() as u64, size);
        assert_eq!(collect(Body::filler(size), 777), whole);
        assert_eq!(whole[FILLER_PIECE..], whole[..1_000]);
        assert_eq!(collect(Body::bytes(&b"hello"[..]), 2), b"hello");
        assert_eq!(Body::filler(size).all(), whole);
        assert_eq!(Body::filler(size).next_bytes(777), whole[..777]);
        for mut body in [Body::filler(9), Body::bytes(&b"123456789"[..])] {
            body.advance(1);
            body.halve();
            assert_eq!(body.len(), 4);
        }
        assert!(Body::filler(0).is_empty() && Body::Empty.piece(9).is_empty());
    }
}
