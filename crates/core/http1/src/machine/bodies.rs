//! Bodies that end by length, by chunks or when the peer closes, and the bytes after them.

use super::{Machine, State};
use crate::chunked::{Chunked, Piece, clip};
use crate::{Error, Event, Limits, Notice, Step};

impl Machine {
    /// Reads a body with a Content-Length, or the bytes after a body.
    #[inline]
    pub(super) fn counted<'a>(&mut self, input: &'a [u8], remaining: u64) -> Step<'a> {
        if remaining == 0 {
            if !input.is_empty() {
                self.notices.insert(Notice::Excess);
                self.persistent = false;
            }
            return Step {
                consumed: input.len(),
                event: Event::End(self.end_exchange()),
            };
        }
        if input.is_empty() {
            return Step::need_input(0);
        }
        let length = clip(remaining, input.len());
        self.state = State::Length(remaining - length as u64);
        self.body(input, length, length)
    }

    pub(super) fn chunked<'a>(
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
            Piece::More => Step::need_input(consumed),
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

    /// Reads a body that ends when the peer closes.
    pub(super) fn unbounded<'a>(
        &mut self,
        input: &'a [u8],
        limits: &Limits,
    ) -> Result<Step<'a>, Error> {
        if input.is_empty() {
            return Ok(Step::need_input(0));
        }
        let length = clip(self.body_allowed(limits), input.len());
        if length == 0 {
            return Err(self.fail(Error::LimitBody));
        }
        Ok(self.body(input, length, length))
    }

    /// Returns `length` bytes of body that end `consumed` bytes into the input.
    #[inline]
    fn body<'a>(&mut self, input: &'a [u8], consumed: usize, length: usize) -> Step<'a> {
        self.body_bytes += length as u64;
        Step {
            consumed,
            event: Event::Body(&input[consumed - length..consumed]),
        }
    }

    /// The number of bytes of body that may still come.
    fn body_allowed(&self, limits: &Limits) -> u64 {
        limits
            .body_bytes
            .map_or(u64::MAX, |limit| limit.saturating_sub(self.body_bytes))
    }
}
