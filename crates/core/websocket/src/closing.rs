//! The closing handshake (RFC 6455 sections 5.5.1 and 7.1).
//!
//! ```text
//!              close_received            close_sent
//!   Open ───────────────────► Received ─────────────────► Complete (the server began)
//!    │        close_sent                 close_received
//!    └──────────────────────► Sent ─────────────────────► Complete (the client began)
//! ```

use crate::CloseCode;

/// One side of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Our side.
    Client,
    /// The peer.
    Server,
}

/// The state of the closing handshake of one connection.
///
/// Both sides send one close frame each, and send nothing after it. Then the server ends the
/// connection; a client may end it, too, after a while (section 7.1.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Closing {
    state: State,
    /// The code of the server's close frame.
    code: Option<CloseCode>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Open,
    /// Our close frame was sent.
    Sent,
    /// The server's close frame has come.
    Received,
    /// Both were sent; this side began.
    Complete(Side),
}

/// The answer to a server's close frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CloseReply {
    /// The code to send: the server's own (section 5.5.1).
    pub code: Option<CloseCode>,
}

/// How a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Both sides sent a close frame.
    Clean {
        /// The side that began.
        first: Side,
        /// The code of the server's frame.
        code: Option<CloseCode>,
    },
    /// The server sent a close frame, which was not answered.
    Unanswered {
        /// The code of the server's frame.
        code: Option<CloseCode>,
    },
    /// We sent a close frame, and the connection ended without the server's.
    Unconfirmed,
    /// No side sent a close frame (code 1006).
    Abrupt,
}

impl Closing {
    /// The state of an open connection.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            state: State::Open,
            code: None,
        }
    }

    /// Notes that a close frame was sent. No frame may be sent after it.
    pub fn close_sent(&mut self) {
        self.state = match self.state {
            State::Open | State::Sent => State::Sent,
            State::Received => State::Complete(Side::Server),
            complete @ State::Complete(_) => complete,
        };
    }

    /// Notes that the server's close frame has come, and returns the answer to it. `None` if a close
    /// frame was already sent.
    pub fn close_received(&mut self, code: Option<CloseCode>) -> Option<CloseReply> {
        match self.state {
            State::Open => {
                (self.state, self.code) = (State::Received, code);
                Some(CloseReply { code })
            }
            State::Sent => {
                (self.state, self.code) = (State::Complete(Side::Client), code);
                None
            }
            State::Received | State::Complete(_) => None,
        }
    }

    /// Whether frames may be sent: no close frame was sent, and none has come.
    #[must_use]
    pub const fn may_send(&self) -> bool {
        matches!(self.state, State::Open)
    }

    /// Whether both sides have sent their close frame.
    #[must_use]
    pub const fn is_complete(&self) -> bool {
        matches!(self.state, State::Complete(_))
    }

    /// How the connection ended, if it ends now.
    #[must_use]
    pub const fn ending(&self) -> Ending {
        let code = self.code;
        match self.state {
            State::Open => Ending::Abrupt,
            State::Sent => Ending::Unconfirmed,
            State::Received => Ending::Unanswered { code },
            State::Complete(first) => Ending::Clean { first, code },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{CloseReply, Closing, Ending, Side};
    use crate::CloseCode;

    #[test]
    fn the_side_that_closes_first_is_known() {
        let code = Some(CloseCode::GOING_AWAY);
        let mut closing = Closing::new();
        assert!(closing.may_send());
        assert_eq!(closing.ending(), Ending::Abrupt);
        assert_eq!(closing.close_received(code), Some(CloseReply { code }));
        assert!(!closing.may_send() && !closing.is_complete());
        assert_eq!(closing.ending(), Ending::Unanswered { code });
        closing.close_sent();
        let first = Side::Server;
        assert_eq!(closing.ending(), Ending::Clean { first, code });

        let mut closing = Closing::new();
        closing.close_sent();
        assert_eq!(closing.ending(), Ending::Unconfirmed);
        assert_eq!(closing.close_received(None), None);
        let (first, code) = (Side::Client, None);
        assert!(closing.is_complete());
        assert_eq!(closing.ending(), Ending::Clean { first, code });
    }

    #[test]
    fn frames_that_cross_end_cleanly() {
        let mut closing = Closing::new();
        closing.close_sent();
        closing.close_sent();
        assert_eq!(closing.close_received(Some(CloseCode::NORMAL)), None);
        assert_eq!(closing.close_received(Some(CloseCode::INTERNAL)), None);
        closing.close_sent();
        let (first, code) = (Side::Client, Some(CloseCode::NORMAL));
        assert_eq!(closing.ending(), Ending::Clean { first, code });
    }
}
