//! The usual response: a remembered head and its complete body in one receive, with no other bytes
//! before or after it. Two comparisons recognise it, and it is read in one step.

use super::{Machine, State};
use crate::End;
use crate::framing::BodyKind;
use crate::headers::{Head, Headers};
use crate::shared::Shared;

/// A response that was read in one step.
#[derive(Clone, Copy, Debug)]
pub struct Whole<'a> {
    /// The head.
    pub head: Head<'a>,
    /// The body, which may be empty.
    pub body: &'a [u8],
    /// How the response ended.
    pub end: End,
}

impl Machine {
    /// Reads a response in one step if its head is remembered, its body has a known length, and the
    /// input contains exactly that response. `None` means that the input and the machine are
    /// unchanged, and that the input is left for [`Machine::handle_input`], which would return the
    /// same in three events.
    // Called next to `handle_input`, in the same loop.
    #[inline(always)]
    pub fn whole<'a>(&mut self, input: &'a [u8], shared: &mut Shared) -> Option<Whole<'a>> {
        if !matches!(self.state, State::Head) || self.partial.is_some() {
            return None;
        }
        let parsed = shared.memory.recall(input, self.kind)?;
        let framing = parsed.framing;
        let (head, body) = input.split_at_checked(parsed.length)?;
        let length = match framing.body {
            BodyKind::Length(length) => length,
            BodyKind::None => 0,
            _ => return None,
        };
        let too_long = shared.limits.body_bytes.is_some_and(|limit| length > limit);
        if body.len() as u64 != length || too_long {
            return None;
        }
        // A remembered head is always a final one.
        self.notices.extend(framing.notices);
        self.status = framing.status;
        self.persistent &= framing.persistent;
        self.body_bytes = length;
        Some(Whole {
            head: Head {
                status: framing.status,
                headers: Headers::new(head),
                content_length: framing.content_length,
                body: framing.body,
            },
            body,
            end: self.end_exchange(),
        })
    }
}
