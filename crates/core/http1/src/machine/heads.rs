//! Heads, interim and final, from the memory, the fast reader or the strict reader.

use super::{Machine, State};
use crate::chunked::Chunked;
use crate::framing::{BodyKind, Framing};
use crate::head::{self, Parsed};
use crate::headers::{Head, Headers};
use crate::scan::Scan;
use crate::shared::{Assembly, Shared};
use crate::{Error, Event, Limits, Step};

impl Machine {
    /// Reads a complete head or the next piece of one.
    #[inline]
    pub(super) fn head<'a>(
        &mut self,
        input: &'a [u8],
        shared: &'a mut Shared,
    ) -> Result<Step<'a>, Error> {
        if self.partial.is_some() {
            return self.assemble(input, shared);
        }
        if let Some(parsed) = shared.memory.recall(input, self.kind) {
            return self.apply_head(
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
            return Ok(Step::need_input(0));
        }
        let Some(parsed) = head::parse_fast(input, &shared.limits, self.kind) else {
            return self.odd_head(input, shared);
        };
        let parsed = parsed.map_err(|error| self.fail(error))?;
        let head = &input[..parsed.length];
        if !is_interim(parsed.framing.status) {
            shared.memory.learn(head, self.kind, parsed.framing);
        }
        self.apply_head(parsed, Headers::new(head), shared.limits())
    }

    /// Reads a head that the fast reader did not accept: unusual, wrong or incomplete.
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
            return Ok(Step::need_input(input.len()));
        };
        shared.assembled.clear();
        shared.assembled.extend_from_slice(&input[..length]);
        self.assembled(&scan, length, shared)
    }

    /// Adds input to a head that arrives in pieces.
    fn assemble<'a>(&mut self, input: &'a [u8], shared: &'a mut Shared) -> Result<Step<'a>, Error> {
        /// The number of bytes copied at a time: the head's end is mostly near, and the bytes after
        /// it are not needed.
        const STRIDE: usize = 1024;
        let Some(mut partial) = self.partial.take() else {
            return Ok(Step::need_input(0));
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
        Ok(Step::need_input(consumed))
    }

    /// Continues with the head that `scan` found in `shared.assembled`, which ends `consumed` bytes
    /// into the input.
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
        self.apply_head(parsed, Headers::new(&shared.assembled), &shared.limits)
    }

    /// Switches from a head to the state that follows it.
    #[inline]
    fn apply_head<'a>(
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
        if is_interim(status) && !self.kind.opens_tunnel(status) {
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
}

const fn is_interim(status: u16) -> bool {
    matches!(status, 100..=199)
}
