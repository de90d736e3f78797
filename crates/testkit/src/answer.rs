//! The answer of a simulated server to a request.

use drumfire_units::Nanos;
use std::sync::Arc;

/// An answer: bytes, how they come, and what happens to the connection then.
#[derive(Clone, Debug)]
pub struct Answer {
    pub(crate) bytes: Arc<[u8]>,
    pub(crate) pace: Pace,
    pub(crate) then: Then,
    /// The service time, in place of the server's law; [`Nanos::MAX`] is never.
    pub(crate) time: Option<Nanos>,
    /// Whether no further request may come on the connection.
    pub(crate) last: Last,
}

/// How an answer's bytes come.
#[derive(Clone, Debug)]
pub(crate) enum Pace {
    /// At once.
    Whole,
    /// In pieces cut at these places, this long apart.
    Cut(Arc<[usize]>, Nanos),
    /// In pieces of this size, this long apart.
    Drip(usize, Nanos),
}

/// The server's treatment of the connection after the last byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Then {
    /// It keeps it open.
    Keep,
    /// It closes it this long after.
    Close(Nanos),
    /// It resets it this long after.
    Reset(Nanos),
}

/// Whether an answer makes its connection unfit for another request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Last {
    No,
    Yes,
}

impl Answer {
    /// These bytes, right or wrong.
    #[must_use]
    pub fn raw(bytes: &[u8]) -> Self {
        Self {
            bytes: bytes.into(),
            pace: Pace::Whole,
            then: Then::Keep,
            time: None,
            last: Last::No,
        }
    }

    /// A well-formed response with further header lines, each ended by CR LF, and a body.
    #[must_use]
    pub fn with(status: u16, lines: &str, body: &[u8]) -> Self {
        let head = format!(
            "HTTP/1.1 {status} Scripted\r\nContent-Length: {}\r\n{lines}\r\n",
            body.len()
        );
        Self::raw(&[head.as_bytes(), body].concat())
    }

    /// A response with a status and a short body.
    #[must_use]
    pub fn status(status: u16) -> Self {
        Self::with(status, "", b"hello")
    }

    /// 200 with a short body.
    #[must_use]
    pub fn ok() -> Self {
        Self::status(200)
    }

    /// A redirect.
    #[must_use]
    pub fn redirect(status: u16, location: &str) -> Self {
        Self::with(status, &format!("Location: {location}\r\n"), b"moved")
    }

    /// Nothing, for ever; the connection stays open.
    #[must_use]
    pub fn never() -> Self {
        Self::raw(b"").after(Nanos::MAX)
    }

    /// Served in this time, in place of the server's law.
    #[must_use]
    pub fn after(mut self, time: Nanos) -> Self {
        self.time = Some(time);
        self
    }

    /// Comes in pieces cut at these places, `apart` from each other.
    #[must_use]
    pub fn cut_at(mut self, places: &[usize], apart: Nanos) -> Self {
        self.pace = Pace::Cut(places.into(), apart);
        self
    }

    /// Comes in pieces of this size, `apart` from each other.
    #[must_use]
    pub fn dripping(mut self, size: usize, apart: Nanos) -> Self {
        self.pace = Pace::Drip(size, apart);
        self
    }

    /// Closes the connection `after` the last byte.
    #[must_use]
    pub fn then_closes(mut self, after: Nanos) -> Self {
        self.then = Then::Close(after);
        self
    }

    /// Resets the connection `after` the last byte.
    #[must_use]
    pub fn then_resets(mut self, after: Nanos) -> Self {
        self.then = Then::Reset(after);
        self
    }

    /// Announces that the connection carries no further request; one that comes is counted in
    /// [`crate::Log::after_last`].
    #[must_use]
    pub fn is_last(mut self) -> Self {
        self.last = Last::Yes;
        self
    }

    /// The end of the piece that begins at `from`, and the pause after it.
    pub(crate) fn piece(&self, from: usize) -> (usize, Nanos) {
        let length = self.bytes.len();
        match &self.pace {
            Pace::Whole => (length, Nanos::ZERO),
            Pace::Cut(places, apart) => {
                let place = places.iter().copied().find(|place| *place > from);
                (place.map_or(length, |place| place.min(length)), *apart)
            }
            Pace::Drip(size, apart) => ((from + size).min(length), *apart),
        }
    }
}
