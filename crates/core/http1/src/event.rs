//! The events that a machine finds in the bytes of a response.

use crate::{Head, Notices};

/// The result of one step through the input.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// How many bytes from the input's start are consumed.
    pub consumed: usize,
    /// What these bytes mean.
    pub event: Event<'a>,
}

/// The events that a machine finds in the bytes of a response.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// Nothing until more input arrives; all of the current input is consumed.
    NeedInput,
    /// An interim response with this status, from 100 to 199.
    Interim(u16),
    /// The final response's head.
    Head(Head<'a>),
    /// Bytes of the body, without the transfer coding; never empty.
    Body(&'a [u8]),
    /// The response is complete.
    End(End),
}

/// How a complete response ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    /// Whether the connection can carry another request. After [`crate::BodyKind::Tunnel`]: whether
    /// the connection is open, which it always is.
    pub reusable: bool,
    /// The tolerated mistakes of the response.
    pub notices: Notices,
    /// The final status as sent.
    pub status: u16,
    /// The number of interim responses before it.
    pub interim: u32,
    /// Bytes of the body, without the transfer coding.
    pub body_bytes: u64,
}

impl Step<'_> {
    /// All input is consumed, and more is needed.
    #[inline]
    pub(crate) const fn need_input(consumed: usize) -> Self {
        Step {
            consumed,
            event: Event::NeedInput,
        }
    }
}
