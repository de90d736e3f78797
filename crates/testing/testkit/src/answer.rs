//! The answer of a simulated server to a request.

use drumfire_units::Nanos;
use std::sync::Arc;

/// An answer: bytes, their timing, and what happens to the connection afterwards.
#[derive(Clone, Debug)]
pub struct Answer {
    pub(crate) bytes: Arc<[u8]>,
    pub(crate) pace: AnswerPace,
    pub(crate) then: AfterAnswer,
    /// The service time, which replaces the server's law; [`Nanos::MAX`] means never.
    pub(crate) time: Option<Nanos>,
    /// Whether the connection accepts another request.
    pub(crate) last: Last,
}

/// The timing of an answer's bytes.
#[derive(Clone, Debug)]
pub(crate) enum AnswerPace {
    /// All at once.
    Whole,
    /// In pieces cut at these positions, at this distance in time.
    Cut(Arc<[usize]>, Nanos),
    /// In pieces of this size, at this distance in time.
    Drip(usize, Nanos),
}

/// What the server does with the connection after the last byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AfterAnswer {
    /// The server keeps the connection open.
    Keep,
    /// The server closes the connection after this time.
    Close(Nanos),
    /// The server resets the connection after this time.
    Reset(Nanos),
}

/// Whether the connection can't be used for another request after the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Last {
    No,
    Yes,
}

impl Answer {
    /// These literal bytes, valid or not.
    #[must_use]
    pub fn raw(bytes: &[u8]) -> Self {
        Self {
            bytes: bytes.into(),
            pace: AnswerPace::Whole,
            then: AfterAnswer::Keep,
            time: None,
            last: Last::No,
        }
    }

    /// A well-formed response with additional header lines, each ended by CR LF, and a body.
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

    /// A 200 response with a short body.
    #[must_use]
    pub fn ok() -> Self {
        Self::status(200)
    }

    /// A redirect.
    #[must_use]
    pub fn redirect(status: u16, location: &str) -> Self {
        Self::with(status, &format!("Location: {location}\r\n"), b"moved")
    }

    /// No bytes; the connection stays open.
    #[must_use]
    pub fn never() -> Self {
        Self::raw(b"").after(Nanos::MAX)
    }

    /// Sets the service time, which replaces the server's law.
    #[must_use]
    pub fn after(mut self, time: Nanos) -> Self {
        self.time = Some(time);
        self
    }

    /// Sends the answer in pieces cut at these positions, `apart` from each other.
    #[must_use]
    pub fn cut_at(mut self, places: &[usize], apart: Nanos) -> Self {
        self.pace = AnswerPace::Cut(places.into(), apart);
        self
    }

    /// Sends the answer in pieces of this size, `apart` from each other.
    #[must_use]
    pub fn dripping(mut self, size: usize, apart: Nanos) -> Self {
        self.pace = AnswerPace::Drip(size, apart);
        self
    }

    /// Closes the connection `after` the last byte.
    #[must_use]
    pub fn then_closes(mut self, after: Nanos) -> Self {
        self.then = AfterAnswer::Close(after);
        self
    }

    /// Resets the connection `after` the last byte.
    #[must_use]
    pub fn then_resets(mut self, after: Nanos) -> Self {
        self.then = AfterAnswer::Reset(after);
        self
    }

    /// Announces that the connection carries no further request. Requests that still come are
    /// counted in [`crate::Log::after_last`].
    #[must_use]
    pub fn is_last(mut self) -> Self {
        self.last = Last::Yes;
        self
    }

    /// The end of the piece that begins at `from`, and the pause after it.
    pub(crate) fn piece(&self, from: usize) -> (usize, Nanos) {
        let length = self.bytes.len();
        match &self.pace {
            AnswerPace::Whole => (length, Nanos::ZERO),
            AnswerPace::Cut(places, apart) => {
                let place = places.iter().copied().find(|place| *place > from);
                (place.map_or(length, |place| place.min(length)), *apart)
            }
            AnswerPace::Drip(size, apart) => ((from + size).min(length), *apart),
        }
    }
}
