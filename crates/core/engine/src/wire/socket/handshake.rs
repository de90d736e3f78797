//! The handshake of a WebSocket, and the checks of its answer.

use super::exchange::{Goal, SocketExchange};
use crate::blame::{Failure, http1_outcome};
use crate::wire::{Ahead, Fields, Handler, WireEvent};
use drumfire_http1 as h1;
use drumfire_measure::Outcome;
use drumfire_units::Nanos;
use drumfire_websocket as ws;

/// A handshake that was sent.
#[derive(Debug)]
pub(super) struct SentHandshake {
    pub(super) machine: h1::Machine,
    pub(super) key: ws::Key,
    pub(super) agreed: Option<ws::Agreed>,
}

impl SentHandshake {
    /// Reads bytes of the answer, and removes them from `rest`. Returns what was agreed on after the
    /// head.
    ///
    /// # Errors
    /// If the server refuses, or its answer is invalid.
    pub(super) fn read<'a, H: Handler>(
        &mut self,
        rest: &mut &'a [u8],
        shared: &mut h1::Shared,
        exchange: SocketExchange,
        handler: &mut H,
        now: Nanos,
    ) -> Result<Option<ws::Agreed>, Failure> {
        loop {
            let input: &'a [u8] = rest;
            let step = match self.machine.handle_input(input, shared) {
                Ok(step) => step,
                Err(error) => {
                    let failure = Failure::from_outcome(http1_outcome(&error));
                    return Err(match error.hint() {
                        Some(hint) => Failure::with(failure.outcome, hint),
                        None => failure,
                    });
                }
            };
            *rest = &input[step.consumed..];
            match step.event {
                h1::Event::NeedInput => return Ok(None),
                h1::Event::Interim(_) => {
                    handler.on_event(exchange.id, WireEvent::Interim, now);
                }
                h1::Event::Head(head) => {
                    let answer = HandshakeAnswer {
                        status: head.status,
                        fields: head.headers.into(),
                    };
                    let agreed = answer.check(exchange, handler, now, |offer| {
                        offer.check_http1(&self.key, head.status, head.headers.iter())
                    })?;
                    self.agreed = Some(agreed);
                }
                h1::Event::Body(_) => {}
                h1::Event::End(_) => return Ok(self.agreed.take()),
            }
        }
    }
}

/// The head of the answer to a handshake.
pub(super) struct HandshakeAnswer<'a> {
    pub(super) status: u16,
    pub(super) fields: Fields<'a>,
}

impl HandshakeAnswer<'_> {
    /// Checks the head by the offer of the exchange's request, and passes it on if it ends the
    /// exchange.
    ///
    /// # Errors
    /// If the server refuses, or its answer is invalid.
    pub(super) fn check<H: Handler>(
        self,
        exchange: SocketExchange,
        handler: &mut H,
        now: Nanos,
        check: impl FnOnce(&ws::Offer) -> Result<ws::Agreed, ws::Refusal>,
    ) -> Result<ws::Agreed, Failure> {
        let Some(task) = handler.socket(exchange.id) else {
            return Err(Failure::from_outcome(Outcome::WebSocketNotOpen));
        };
        let agreed = check(&task.request.offer).map_err(|refusal| {
            let outcome = match refusal {
                ws::Refusal::Status(_) => Outcome::WebSocketRefused,
                _ => Outcome::WebSocketHandshake,
            };
            Failure::with(outcome, refusal.to_string())
        })?;
        if exchange.goal == Goal::Connect {
            let head = WireEvent::Head {
                status: self.status,
                fields: self.fields,
                ahead: Ahead::Nothing,
            };
            handler.on_event(exchange.id, head, now);
        }
        Ok(agreed)
    }
}
