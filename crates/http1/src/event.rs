//! The events in the bytes of a response.

use crate::{Head, Notices};

/// The result of a step over the input.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// How many bytes from the input's start are done with.
    pub consumed: usize,
    /// Their meaning.
    pub event: Event<'a>,
}

/// The events in the bytes of a response.
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
    /// Whether the connection may carry another request. After [`crate::BodyKind::Tunnel`]: whether it
    /// is open, which it is.
    pub reusable: bool,
    /// The forgiven mistakes of the response.
    pub notices: Notices,
    /// The final status as sent.
    pub status: u16,
    /// How many interim responses came before.
    pub interim: u32,
    /// Bytes of the body, free of the transfer coding.
    pub body_bytes: u64,
}

impl Step<'_> {
    /// All input is done with, and more is needed.
    #[inline]
    pub(crate) const fn need_input(consumed: usize) -> Self {
        Step {
            consumed,
            event: Event::NeedInput,
        }
    }
}
