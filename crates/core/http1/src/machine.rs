//! One connection's client side: bytes of responses in, events out.
//!
//! ```text
//!            send                head, no body                        ┌─────────────┐
//!   Idle ───────────► Head ────────────────────────► Length(0) ──────►│ End: Idle,  │
//!     ▲              │ ▲ │                               ▲           │ or Tunnel:  │
//!     │              └─┘ ├── Content-Length ──► Length ──┤ the rest  │ CONNECT 2xx,│
//!     │          interim ├── chunked ─────────► Chunked ─┘ is over   │ Upgrade 101 │
//!     │                  └── neither ─────────► Close ── peer closes ►└──────┬──────┘
//!     └──────────────────────────────────────────────────────────────────────┘
//! ```

mod bodies;
mod heads;
mod whole;

pub use whole::Whole;

use crate::chunked::Chunked;
use crate::framing::RequestKind;
use crate::shared::{Assembly, Shared};
use crate::{Cut, End, Error, Event, Notice, Notices, Step};

/// Whether a request asks the server to keep the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Persistence {
    /// The connection may be used again if the server agrees.
    KeepAlive,
    /// The request has `Connection: close`.
    Close,
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

/// One connection, client side. It has at most one exchange at a time; pipelining is not offered.
///
/// Announce a request with [`Machine::send`], then pass received bytes to [`Machine::handle_input`]
/// until [`Event::End`]. A machine serves one connection: create another for the next.
#[derive(Debug)]
pub struct Machine {
    state: State,
    body_bytes: u64,
    /// A head that has arrived partially; `None` nearly always.
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
    /// Creates a machine for a new connection.
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

    /// Announces that a request's bytes are sent now. No response may be outstanding.
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

    /// The final status of the exchange as sent; 0 before its head. It is kept after an error and
    /// after the end, until the next [`Machine::send`].
    #[inline]
    #[must_use]
    pub const fn status(&self) -> u16 {
        self.status
    }

    /// The tolerated mistakes of the response so far; kept as long as [`Machine::status`].
    #[must_use]
    pub const fn notices(&self) -> Notices {
        self.notices
    }

    /// The number of interim responses so far; kept as long as [`Machine::status`].
    #[must_use]
    pub const fn interim(&self) -> u32 {
        self.interim
    }

    /// Consumes a prefix of the input and returns its meaning. Call it again with the rest, which
    /// may be empty, until it returns [`Event::NeedInput`]; then all input is consumed. After
    /// [`Event::End`] nothing is left: bytes after the response are excess and are discarded with a
    /// notice, and the connection is not reusable. (After a head with
    /// [`crate::BodyKind::Tunnel`] the rest belongs to the tunnel and is left to the caller.)
    ///
    /// # Errors
    /// If the response violates the protocol or a limit. [`Error::Unsolicited`] for input while
    /// idle. The connection must be closed; [`Machine::status`] tells whether a status line was
    /// read.
    // Nearly all calls come from a single loop over responses, so inlining is worthwhile.
    #[inline(always)]
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
                event: Event::End(self.end_exchange()),
            }),
            State::Idle if input.is_empty() => Ok(Step::need_input(0)),
            State::Idle => Err(Error::Unsolicited),
        }
    }

    /// Handles that the peer has closed its side. `Some` completes a body that ends with the
    /// connection; `None` means that no response is outstanding.
    ///
    /// # Errors
    /// If the response is not complete: [`Error::Closed`], [`Error::ClosedInHead`],
    /// [`Error::Truncated`], or the error of a truncated head.
    pub fn handle_end(&mut self) -> Result<Option<End>, Error> {
        match self.state {
            State::Idle => Ok(None),
            State::Head => Err(match self.partial.take() {
                None => self.fail(Error::Closed),
                Some(partial) => self.fail(partial.scan.ended(&partial.bytes)),
            }),
            State::Length(0) | State::Tunnel => {
                self.persistent = false;
                Ok(Some(self.end_exchange()))
            }
            State::Close => Ok(Some(self.end_exchange())),
            State::Length(_) | State::Chunked(_) => Err(self.fail(Error::Truncated(Cut::Closed))),
        }
    }

    /// Handles that the connection has ended without proof that the peer ended it: TLS without
    /// close_notify. A body that ends with the connection is still complete, with a notice.
    ///
    /// # Errors
    /// The same errors as [`Self::handle_end`].
    pub fn handle_unconfirmed_end(&mut self) -> Result<Option<End>, Error> {
        if matches!(self.state, State::Close) {
            self.notices.insert(Notice::NoCloseNotify);
        }
        self.handle_end()
    }

    /// Handles that the peer has reset the connection; returns what this means for the exchange.
    pub fn handle_reset(&mut self) -> Error {
        match self.state {
            State::Idle | State::Head => match self.partial.take() {
                None => self.fail(Error::Reset),
                Some(partial) => self.fail(partial.scan.ended(&partial.bytes)),
            },
            _ => self.fail(Error::Truncated(Cut::Reset)),
        }
    }

    /// The number of bytes of a body with a Content-Length that are still to come, at least 1;
    /// `None` otherwise. The caller may discard them unread.
    #[inline]
    #[must_use]
    pub const fn body_remaining(&self) -> Option<u64> {
        match self.state {
            State::Length(remaining) if remaining > 0 => Some(remaining),
            _ => None,
        }
    }

    /// Handles that `count` bytes of the body were discarded, at most [`Machine::body_remaining`].
    /// `Some` if they were the last.
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
        (remaining <= count).then(|| self.end_exchange())
    }

    /// Ends the exchange.
    #[inline]
    fn end_exchange(&mut self) -> End {
        self.state = State::Idle;
        End {
            reusable: self.persistent,
            notices: self.notices,
            status: self.status,
            interim: self.interim,
            body_bytes: self.body_bytes,
        }
    }

    /// Ends the exchange with an error: no response is expected afterwards.
    #[cold]
    fn fail(&mut self, error: Error) -> Error {
        self.state = State::Idle;
        self.partial = None;
        error
    }
}
