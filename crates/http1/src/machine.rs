//! One connection's client side: bytes of responses in, events out.
//!
//! ```text
//!            send                head, no body                        ┌─────────────┐
//!   Idle ───────────► Head ────────────────────────► Length(0) ──────►│ End: Idle,  │
//!     ▲              │ ▲ │                               ▲           │ or Tunnel   │
//!     │              └─┘ ├── Content-Length ──► Length ──┤ the rest  │ after a 2xx │
//!     │          interim ├── chunked ─────────► Chunked ─┘ is over   │ to CONNECT  │
//!     │                  └── neither ─────────► Close ── peer closes ►└──────┬──────┘
//!     └──────────────────────────────────────────────────────────────────────┘
//! ```

use crate::chunked::{Chunked, Piece, clip};
use crate::framing::{BodyKind, Framing, RequestKind};
use crate::head::{self, Parsed};
use crate::headers::{Head, Headers};
use crate::scan::Scan;
use crate::shared::{Assembly, Shared};
use crate::{Cut, Error, Limits, Notice, Notices};

/// Whether a request asks for the connection to be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Persistence {
    /// It may be used again if the server agrees.
    KeepAlive,
    /// The request says `Connection: close`.
    Close,
}

/// What a step over the input came to.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// How many bytes from the input's start are done with.
    pub consumed: usize,
    /// What they said.
    pub event: Event<'a>,
}

/// What the bytes of a response say.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// Nothing more before further input; all of this one is consumed.
    NeedInput,
    /// An interim response with this status, from 100 to 199.
    Interim(u16),
    /// The final response's head.
    Head(Head<'a>),
    /// Bytes of the body, free of the transfer coding; never empty.
    Body(&'a [u8]),
    /// The response is over.
    End(End),
}

/// How a response ended that is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    /// Whether the connection may carry another request. After [`BodyKind::Tunnel`]: whether it
    /// is open, which it is.
    pub reusable: bool,
    /// What the response was forgiven.
    pub notices: Notices,
    /// The final status as sent.
    pub status: u16,
    /// How many interim responses came before.
    pub interim: u32,
    /// Bytes of the body, free of the transfer coding.
    pub body_bytes: u64,
}

#[derive(Clone, Copy, Debug)]
enum State {
    Idle,
    Head,
    Length(u64),
    Chunked(Chunked),
    Close,
    Tunnel,
}

/// One connection, client side. It holds at most one exchange; pipelining is not offered.
///
/// Announce a request with [`Machine::send`], then pass what arrives to
/// [`Machine::handle_input`] until [`Event::End`]. A machine serves one connection: make another
/// for the next.
#[derive(Debug)]
pub struct Machine {
    state: State,
    body_bytes: u64,
    /// A head that has not arrived whole; `None` nearly always.
    partial: Option<Box<Assembly>>,
    interim: u32,
    status: u16,
    notices: Notices,
    kind: RequestKind,
    persistent: bool,
}

const _: () = assert!(size_of::<Machine>() <= 64, "a machine fits a cache line");

impl Default for Machine {
    fn default() -> Self {
        Self::new()
    }
}

impl Machine {
    /// A machine for a fresh connection.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            state: State::Idle,
            body_bytes: 0,
            partial: None,
            interim: 0,
            status: 0,
            notices: Notices(0),
            kind: RequestKind::Normal,
            persistent: false,
        }
    }

    /// Announces that a request's bytes go out now. No response may be outstanding.
    #[inline]
    pub fn send(&mut self, kind: RequestKind, persistence: Persistence) {
        debug_assert!(self.is_idle(), "one exchange at a time");
        self.state = State::Head;
        self.body_bytes = 0;
        self.interim = 0;
        self.status = 0;
        self.notices = Notices(0);
        self.kind = kind;
        self.persistent = persistence == Persistence::KeepAlive;
    }

    /// Whether no response is outstanding.
    #[inline]
    #[must_use]
    pub const fn is_idle(&self) -> bool {
        matches!(self.state, State::Idle)
    }

    /// The final status of the exchange as far as it is known, as sent; 0 before its head. It
    /// stays after an error and after the end, until the next [`Machine::send`].
    #[inline]
    #[must_use]
    pub const fn status(&self) -> u16 {
        self.status
    }

    /// What the response was forgiven so far; kept as [`Machine::status`] is.
    #[must_use]
    pub const fn notices(&self) -> Notices {
        self.notices
    }

    /// How many interim responses came so far; kept as [`Machine::status`] is.
    #[must_use]
    pub const fn interim(&self) -> u32 {
        self.interim
    }

    /// Takes a prefix of the input and says what it meant. Call it again with the rest, which may
    /// be empty, until it answers [`Event::NeedInput`]; then all is consumed. After
    /// [`Event::End`] there is no rest: what stands behind the response is excess, thrown away
    /// with a notice, and the connection is not reusable. (Behind a 2xx to CONNECT the rest is the
    /// tunnel's, and left to the caller.)
    ///
    /// # Errors
    /// When the response breaks the protocol or a limit. [`Error::Unsolicited`] for input while
    /// idle. The connection must be closed; [`Machine::status`] says how far it came.
    #[inline]
    pub fn handle_input<'a>(
        &mut self,
        input: &'a [u8],
        shared: &'a mut Shared,
    ) -> Result<Step<'a>, Error> {
        match self.state {
            State::Head => self.head(input, shared),
            State::Length(remaining) => Ok(self.counted(input, remaining)),
            State::Chunked(chunked) => self.chunked(input, chunked, shared.limits()),
            State::Close => self.unbounded(input, shared.limits()),
            State::Tunnel => Ok(Step {
                consumed: 0,
                event: Event::End(self.end()),
            }),
            State::Idle if input.is_empty() => Ok(need_input(0)),
            State::Idle => Err(Error::Unsolicited),
        }
    }

    /// The peer has closed its side. `Some` completes a body that runs until then; `None` when no
    /// response is outstanding.
    ///
    /// # Errors
    /// When the response is not complete: [`Error::Closed`], [`Error::ClosedInHead`],
    /// [`Error::Truncated`], or what a head that never came to its end must have been.
    pub fn handle_end(&mut self) -> Result<Option<End>, Error> {
        match self.state {
            State::Idle => Ok(None),
            State::Head => Err(match self.partial.take() {
                None => self.fail(Error::Closed),
                Some(partial) => self.fail(partial.scan.ended(&partial.bytes)),
            }),
            State::Length(0) | State::Tunnel => {
                self.persistent = false;
                Ok(Some(self.end()))
            }
            State::Close => Ok(Some(self.end())),
            State::Length(_) | State::Chunked(_) => Err(self.fail(Error::Truncated(Cut::Closed))),
        }
    }

    /// The peer has reset the connection: what that means for the exchange.
    pub fn handle_reset(&mut self) -> Error {
        match self.state {
            State::Idle | State::Head => self.fail(Error::Reset),
            _ => self.fail(Error::Truncated(Cut::Reset)),
        }
    }

    /// How many bytes of a body with a Content-Length are to come, at least 1; `None` elsewhere.
    /// The caller may throw them away unseen.
    #[inline]
    #[must_use]
    pub const fn body_remaining(&self) -> Option<u64> {
        match self.state {
            State::Length(remaining) if remaining > 0 => Some(remaining),
            _ => None,
        }
    }

    /// `count` bytes of the body were thrown away, at most [`Machine::body_remaining`]. `Some` when
    /// they were the last.
    #[inline]
    pub fn body_discarded(&mut self, count: u64) -> Option<End> {
        let State::Length(remaining) = self.state else {
            debug_assert!(
                false,
                "only a body of known length can be thrown away unseen"
            );
            return None;
        };
        debug_assert!(count <= remaining, "what follows the body is not its part");
        self.body_bytes += count.min(remaining);
        self.state = State::Length(remaining.saturating_sub(count));
        (remaining <= count).then(|| self.end())
    }

    /// Reads a head, whole or the next piece of one.
    #[inline]
    fn head<'a>(&mut self, input: &'a [u8], shared: &'a mut Shared) -> Result<Step<'a>, Error> {
        if self.partial.is_some() {
            return self.assemble(input, shared);
        }
        if let Some(parsed) = shared.memory.recall(input, self.kind) {
            return self.begin(
                parsed,
                Headers::new(&input[..parsed.length]),
                shared.limits(),
            );
        }
        self.unknown_head(input, shared)
    }

    /// Reads a head that is not remembered.
    fn unknown_head<'a>(
        &mut self,
        input: &'a [u8],
        shared: &'a mut Shared,
    ) -> Result<Step<'a>, Error> {
        if input.is_empty() {
            return Ok(need_input(0));
        }
        let Some(parsed) = head::parse_fast(input, &shared.limits, self.kind) else {
            return self.odd_head(input, shared);
        };
        let parsed = parsed.map_err(|error| self.fail(error))?;
        let head = &input[..parsed.length];
        if !is_interim(parsed.framing.status) {
            shared.memory.learn(head, self.kind, parsed.framing);
        }
        self.begin(parsed, Headers::new(head), shared.limits())
    }

    /// Reads a head that the fast reader left alone: odd, wrong or not whole.
    fn odd_head<'a>(&mut self, input: &'a [u8], shared: &'a mut Shared) -> Result<Step<'a>, Error> {
        let mut scan = Scan::default();
        let end = scan
            .advance(input, &shared.limits)
            .map_err(|error| self.fail(error))?;
        let Some(length) = end else {
            let mut partial = shared.take_assembly();
            partial.bytes.extend_from_slice(input);
            partial.scan = scan;
            self.partial = Some(partial);
            return Ok(need_input(input.len()));
        };
        shared.assembled.clear();
        shared.assembled.extend_from_slice(&input[..length]);
        self.assembled(&scan, length, shared)
    }

    /// Adds to a head that arrives in pieces.
    fn assemble<'a>(&mut self, input: &'a [u8], shared: &'a mut Shared) -> Result<Step<'a>, Error> {
        /// Copied at a time: the head's end is mostly near, and what follows it is not wanted.
        const STRIDE: usize = 1024;
        let Some(mut partial) = self.partial.take() else {
            return Ok(need_input(0));
        };
        let mut consumed = 0;
        for piece in input.chunks(STRIDE) {
            let before = partial.bytes.len();
            partial.bytes.extend_from_slice(piece);
            let Assembly { bytes, scan } = &mut *partial;
            if let Some(length) = scan
                .advance(bytes, &shared.limits)
                .map_err(|error| self.fail(error))?
            {
                bytes.truncate(length);
                std::mem::swap(bytes, &mut shared.assembled);
                let scan = std::mem::take(scan);
                shared.give_back(partial);
                return self.assembled(&scan, consumed + length - before, shared);
            }
            consumed += piece.len();
        }
        self.partial = Some(partial);
        Ok(need_input(consumed))
    }

    /// Goes on from the head that `scan` found in `shared.assembled`, the end of which is
    /// `consumed` bytes into the input.
    fn assembled<'a>(
        &mut self,
        scan: &Scan,
        consumed: usize,
        shared: &'a mut Shared,
    ) -> Result<Step<'a>, Error> {
        head::unfold(scan, &mut shared.assembled);
        let framing = head::interpret(scan, &shared.assembled, self.kind)
            .map_err(|error| self.fail(error))?;
        let parsed = Parsed {
            length: consumed,
            framing,
        };
        self.begin(parsed, Headers::new(&shared.assembled), &shared.limits)
    }

    /// Goes on from a head to what follows it.
    #[inline]
    fn begin<'a>(
        &mut self,
        parsed: Parsed,
        headers: Headers<'a>,
        limits: &Limits,
    ) -> Result<Step<'a>, Error> {
        let Framing {
            content_length,
            body,
            status,
            notices,
            persistent,
        } = parsed.framing;
        self.notices.extend(notices);
        if is_interim(status) {
            return self.interim_head(status, parsed.length, limits);
        }
        self.status = status;
        self.persistent &= persistent;
        self.state = match body {
            BodyKind::None => State::Length(0),
            BodyKind::Length(length) if limits.body_bytes.is_some_and(|limit| length > limit) => {
                return Err(self.fail(Error::LimitBody));
            }
            BodyKind::Length(length) => State::Length(length),
            BodyKind::Chunked => State::Chunked(Chunked::new()),
            BodyKind::Close => State::Close,
            BodyKind::Tunnel => State::Tunnel,
        };
        let head = Head {
            status,
            headers,
            content_length,
            body,
        };
        Ok(Step {
            consumed: parsed.length,
            event: Event::Head(head),
        })
    }

    fn interim_head<'a>(
        &mut self,
        status: u16,
        consumed: usize,
        limits: &Limits,
    ) -> Result<Step<'a>, Error> {
        if status == 101 {
            return Err(self.fail(Error::Unexpected101));
        }
        if self.interim >= limits.interim {
            return Err(self.fail(Error::LimitInterim));
        }
        self.interim += 1;
        Ok(Step {
            consumed,
            event: Event::Interim(status),
        })
    }

    /// A body with a Content-Length, or what is left of a response when its body is over.
    #[inline]
    fn counted<'a>(&mut self, input: &'a [u8], remaining: u64) -> Step<'a> {
        if remaining == 0 {
            if !input.is_empty() {
                self.notices.insert(Notice::Excess);
                self.persistent = false;
            }
            return Step {
                consumed: input.len(),
                event: Event::End(self.end()),
            };
        }
        if input.is_empty() {
            return need_input(0);
        }
        let length = clip(remaining, input.len());
        self.state = State::Length(remaining - length as u64);
        self.body(input, length, length)
    }

    fn chunked<'a>(
        &mut self,
        input: &'a [u8],
        mut chunked: Chunked,
        limits: &Limits,
    ) -> Result<Step<'a>, Error> {
        let allowed = self.body_allowed(limits);
        let (consumed, piece) = chunked
            .advance(input, allowed, limits, &mut self.notices)
            .map_err(|error| self.fail(error))?;
        self.state = State::Chunked(chunked);
        Ok(match piece {
            Piece::More => need_input(consumed),
            Piece::Data(length) => self.body(input, consumed, length),
            Piece::Done => {
                let end = self.counted(&input[consumed..], 0);
                Step {
                    consumed: input.len(),
                    ..end
                }
            }
        })
    }

    /// A body that ends when the peer closes.
    fn unbounded<'a>(&mut self, input: &'a [u8], limits: &Limits) -> Result<Step<'a>, Error> {
        if input.is_empty() {
            return Ok(need_input(0));
        }
        let length = clip(self.body_allowed(limits), input.len());
        if length == 0 {
            return Err(self.fail(Error::LimitBody));
        }
        Ok(self.body(input, length, length))
    }

    /// `length` bytes of body that end `consumed` bytes into the input.
    #[inline]
    fn body<'a>(&mut self, input: &'a [u8], consumed: usize, length: usize) -> Step<'a> {
        self.body_bytes += length as u64;
        Step {
            consumed,
            event: Event::Body(&input[consumed - length..consumed]),
        }
    }

    /// How many bytes of body may still come.
    fn body_allowed(&self, limits: &Limits) -> u64 {
        limits
            .body_bytes
            .map_or(u64::MAX, |limit| limit.saturating_sub(self.body_bytes))
    }

    /// Ends the exchange.
    #[inline]
    fn end(&mut self) -> End {
        self.state = State::Idle;
        End {
            reusable: self.persistent,
            notices: self.notices,
            status: self.status,
            interim: self.interim,
            body_bytes: self.body_bytes,
        }
    }

    /// Ends the exchange with an error: from here on nothing is expected.
    #[cold]
    fn fail(&mut self, error: Error) -> Error {
        self.state = State::Idle;
        self.partial = None;
        error
    }
}

#[inline]
const fn need_input<'a>(consumed: usize) -> Step<'a> {
    Step {
        consumed,
        event: Event::NeedInput,
    }
}

const fn is_interim(status: u16) -> bool {
    matches!(status, 100..=199)
}
