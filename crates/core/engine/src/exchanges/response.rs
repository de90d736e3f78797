//! The response of an exchange: its body, and its redirect.
//!
//! The verbs are called in the wire's order: `head`, then `data` for each piece of the body, then
//! `end_message` or `trailers` unless the head or a piece was the last part. A response that came
//! in one piece and is judged only by its status needs none of them: the handler judges it.
//!
//! A redirect does not end the exchange: the [`OutgoingRequest`] notes the next request.
//!
//! A failure ends the exchange with [`Continuation::End`] if the response was read completely, so
//! that the connection can be reused, and with [`Continuation::GiveUp`] if the rest is discarded.

use super::body_use::BodyUse;
use super::context::{Continuation, KindContext};
use super::exchange::Exchange;
use super::outgoing::OutgoingRequest;
use super::rules::Rules;
use crate::blame::Failure;
use crate::limits::SHOWN_BYTES;
use crate::wire::{Ahead, Fields, Resend};
use drumfire_measure::{Detail, FAILED_BODY_BYTES, Leniencies, Outcome};
use drumfire_units::Nanos;

/// The state of a response; reset by each attempt.
#[derive(Debug, Default)]
pub(super) struct ResponseState {
    /// How the exchange uses the body.
    body: BodyUse,
}

impl ResponseState {
    /// Forgets the body of the previous attempt.
    #[inline]
    pub(super) fn begin_attempt(&mut self) {
        if !self.body.is_discard() {
            self.body = BodyUse::Discard;
        }
    }

    /// Whether the bytes of the body are needed.
    #[inline]
    pub(super) const fn reads_body(&self) -> bool {
        !self.body.is_discard()
    }

    /// Receives the response's head: keeps the part that is looked at, notes a redirect, and
    /// chooses the use of the body that follows.
    #[inline(always)]
    pub(super) fn head(
        &mut self,
        outgoing: &mut OutgoingRequest,
        cx: &mut KindContext<'_>,
        status: u16,
        fields: Fields<'_>,
        ahead: Ahead,
    ) -> Continuation {
        note_head(outgoing, cx, status, fields);
        self.expect_body(outgoing, cx, status, fields, ahead)
    }

    /// Chooses the use of the body that follows the head.
    #[inline(always)]
    pub(super) fn expect_body(
        &mut self,
        outgoing: &OutgoingRequest,
        cx: &mut KindContext<'_>,
        status: u16,
        fields: Fields<'_>,
        ahead: Ahead,
    ) -> Continuation {
        match ahead {
            Ahead::Nothing => complete(outgoing, cx),
            Ahead::NoBody => Continuation::GoOn,
            Ahead::Body if !cx.rules.reads() => {
                if cx.rules.judge(status) != Outcome::Ok {
                    self.sample_body(cx.exchange, &fields);
                }
                Continuation::GoOn
            }
            Ahead::Body => match use_of_body(cx, status, &fields) {
                Ok(body) => {
                    self.body = body;
                    Continuation::GoOn
                }
                Err(failure) => Continuation::GiveUp(failure),
            },
        }
    }

    /// Samples the body of a response with an unexpected status, whose head has arrived.
    #[cold]
    pub(super) fn sample_body(&mut self, exchange: &mut Exchange, fields: &Fields<'_>) {
        exchange.look.get_or_insert_default().clear();
        self.body = BodyUse::sample(FAILED_BODY_BYTES, fields);
    }

    /// Samples the body of a response with an unexpected status that came in one piece.
    #[cold]
    pub(super) fn sample_whole(exchange: &mut Exchange, fields: &Fields<'_>, bytes: &[u8]) {
        let look = exchange.look.get_or_insert_default();
        look.clear();
        let mut body = BodyUse::sample(FAILED_BODY_BYTES, fields);
        // The sample is only shown: a body that cannot be decoded completely is kept up to the
        // error.
        let _undecodable = body.read(bytes, Some(look));
    }

    /// Adds a piece of a body that is sampled.
    #[cold]
    pub(super) fn add_sample(&mut self, exchange: &mut Exchange, bytes: &[u8]) {
        // The sample is only shown: a body that cannot be decoded is kept up to the error.
        let _undecodable = self.body.read(bytes, exchange.look.as_deref_mut());
    }

    /// Receives a piece of the body, decoded from its framing.
    #[inline(always)]
    pub(super) fn data(
        &mut self,
        outgoing: &OutgoingRequest,
        cx: &mut KindContext<'_>,
        bytes: &[u8],
        end: bool,
    ) -> Continuation {
        if !self.body.is_discard() {
            let read = self.body.read(bytes, cx.exchange.look.as_deref_mut());
            match (read, end) {
                (Ok(()), false) => {}
                (Ok(()), true) => {
                    if let Err(failure) = self.finish_body(outgoing) {
                        return Continuation::End(failure);
                    }
                }
                (Err(failure), true) => return Continuation::End(failure),
                (Err(failure), false) => return Continuation::GiveUp(failure),
            }
        }
        match end {
            true => complete(outgoing, cx),
            false => Continuation::GoOn,
        }
    }

    /// Receives the trailers, which end the body.
    #[inline]
    pub(super) fn trailers(
        &mut self,
        outgoing: &OutgoingRequest,
        cx: &mut KindContext<'_>,
    ) -> Continuation {
        match self.finish_body(outgoing) {
            Ok(()) => complete(outgoing, cx),
            Err(failure) => Continuation::End(failure),
        }
    }

    /// Receives the end of an HTTP/1.1 response, with the violations that were accepted.
    #[inline(always)]
    pub(super) fn end_message(
        &mut self,
        outgoing: &OutgoingRequest,
        cx: &mut KindContext<'_>,
        leniencies: Leniencies,
    ) -> Continuation {
        cx.exchange.account.note_leniencies(leniencies);
        match self.finish_body(outgoing) {
            Ok(()) => complete(outgoing, cx),
            Err(failure) => Continuation::End(failure),
        }
    }

    /// Ends the body. The body of a redirect may be incomplete in every protocol, because no part
    /// of it is used.
    #[inline(always)]
    fn finish_body(&mut self, outgoing: &OutgoingRequest) -> Result<(), Failure> {
        if self.body.is_discard() || outgoing.leads_on() {
            return Ok(());
        }
        self.body.finish()
    }
}

/// Notes the status of a response, its redirect, and the part of its head that is needed.
#[inline(always)]
pub(super) fn note_head(
    outgoing: &mut OutgoingRequest,
    cx: &mut KindContext<'_>,
    status: u16,
    fields: Fields<'_>,
) {
    cx.exchange.account.set_status(status);
    if cx.rules.reads() {
        read_head(outgoing, cx, &fields);
    }
    if matches!(status, 300..=399) {
        outgoing.note_redirect(cx, status, fields);
    }
}

/// Stores the cookies of a head, and keeps the part that is looked at.
fn read_head(outgoing: &mut OutgoingRequest, cx: &mut KindContext<'_>, fields: &Fields<'_>) {
    if cx.exchange.user_state.jar.is_some() && fields.find("set-cookie").is_some() {
        outgoing.store_cookies(cx.exchange, fields);
    }
    cx.begin_look(fields);
}

/// The failure of an incomplete response. An unexpected status is the result even if the body is
/// incomplete: a server that refuses a request early often resets the connection during the body.
pub(super) fn incomplete(
    outgoing: &OutgoingRequest,
    rules: &Rules,
    exchange: &Exchange,
    failure: Failure,
) -> Failure {
    let account = &exchange.account;
    if !account.has_head || outgoing.leads_on() || !failure.is_incompleteness() {
        return failure;
    }
    match rules.judge_request(rules.request(exchange), account.status()) {
        Outcome::Ok => failure,
        outcome => {
            let lack = format!("{}: {}", failure.outcome.name(), failure.words());
            Failure::with(outcome, Detail::new(lack, failure.inherited_cause()))
        }
    }
}

/// Ends a complete response: judges it, or follows its redirect.
#[inline(always)]
fn complete(outgoing: &OutgoingRequest, cx: &mut KindContext<'_>) -> Continuation {
    if outgoing.leads_on() {
        return Continuation::Redirect;
    }
    let status = cx.exchange.account.status();
    if !cx.rules.looks() {
        return Continuation::End(Failure::from_outcome(cx.rules.judge(status)));
    }
    Continuation::End(match cx.rules.judge_request(cx.request, status) {
        Outcome::Ok => cx.inspect(),
        outcome => Failure::from_outcome(outcome),
    })
}

/// The pause before a failed request is sent again; `None` if it is not. A request lost by a reused
/// connection may have been processed, so only an idempotent one is repeated (RFC 9110 section
/// 9.2.2), and only if the plan allows it. A request that the server has refused is not repeated,
/// as in a browser.
pub(super) fn pause_before_resend(
    outgoing: &OutgoingRequest,
    cx: &KindContext<'_>,
    resend: Resend,
) -> Option<Nanos> {
    match resend {
        Resend::Never | Resend::Refused => None,
        Resend::Idempotent => {
            let is_idempotent = outgoing.is_idempotent(cx.request);
            (is_idempotent && cx.rules.retries_reused()).then_some(Nanos::ZERO)
        }
        Resend::Reused => {
            let is_idempotent = outgoing.is_idempotent(cx.request);
            (is_idempotent && cx.rules.retries_as_go()).then_some(Nanos::ZERO)
        }
        Resend::After(pause) => Some(pause),
    }
}

/// The use of the body of a response with these fields. An inspection has priority, with its limit;
/// then the plan's decoding, with room for a sample; then the sample alone.
///
/// A body that no part needs is discarded as it arrives. A body that the plan decodes is decoded
/// even if nothing looks at it, and fails the exchange if it cannot be decoded.
fn use_of_body(
    cx: &mut KindContext<'_>,
    status: u16,
    fields: &Fields<'_>,
) -> Result<BodyUse, Failure> {
    let is_expected = cx.rules.judge_request(cx.request, status) == Outcome::Ok;
    let inspection = cx.request.inspection();
    let compressed = cx.rules.pool().http.compressed;
    if let Some(max) = inspection.and_then(|inspection| inspection.body_max()) {
        return BodyUse::keeping(compressed, max.0, fields);
    }
    let room = match (cx.rules.shows(), is_expected) {
        (true, _) => SHOWN_BYTES,
        (false, false) => FAILED_BODY_BYTES,
        (false, true) => return BodyUse::from_fields(compressed, fields),
    };
    cx.exchange.look.get_or_insert_default().make_room(room);
    Ok(match BodyUse::from_fields(compressed, fields)? {
        BodyUse::Discard => BodyUse::sample(room, fields),
        body => body,
    })
}
