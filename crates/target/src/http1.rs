//! HTTP/1.x, server side, sans-IO: bytes to requests, answers to bytes.
//!
//! [`parse_head`] reads one head, a [`BodyReader`] what follows it, [`write_answer`] makes the
//! bytes. Nothing here knows sockets, time or the content of answers.

mod body;
mod head;
mod render;

pub(crate) use body::BodyReader;
pub(crate) use head::{Head, HeadRead, Persistence, parse_head};
pub(crate) use render::{CONTINUE, write_answer, write_refusal};

/// The longest request head.
pub(crate) const HEAD_MAX: usize = 64 * 1024;
/// The most header fields in a request.
pub(crate) const FIELDS_MAX: usize = 128;
/// The longest request body. It is counted, never kept.
pub(crate) const BODY_MAX: u64 = 1 << 30;

/// A request that is refused; the connection closes after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// The status of the answer.
    pub(crate) status: u16,
    /// Its body: the mistake.
    pub(crate) reason: &'static str,
}

impl Refusal {
    const fn bad(reason: &'static str) -> Self {
        Self {
            status: 400,
            reason,
        }
    }
}
