//! The context of an exchange's state: the other parts that a verb uses, and the continuations that
//! a verb returns. A verb is a method of [`ExchangeState`](super::state::ExchangeState) for one
//! event.
//!
//! A verb is called once per event, never from within another. It changes the exchange and the
//! figures directly. If anything else must change, the verb returns a continuation, and the handler
//! adds it to the worker's lists.
//!
//! The parts are borrowed separately from [`Exchanges`](super::Exchanges), so that a verb can use
//! the tools while it changes the exchange. A context exists for one call and is never stored.

use super::exchange::Exchange;
use super::look::seen_status;
use super::rules::Rules;
use super::tools::Tools;
use crate::blame::Failure;
use crate::prepare::Request;
use crate::wire::Fields;
use drumfire_measure::{Figures, Outcome};
use drumfire_plan::DataError;
use drumfire_units::Nanos;

/// The parts that a verb uses.
///
/// `figures` belongs to the interval that is open at `now`. `tools` (memory for rendering,
/// compressors) belongs to the worker, so a verb must not rely on its contents from an earlier
/// call.
pub(super) struct KindContext<'a> {
    pub(super) exchange: &'a mut Exchange,
    pub(super) request: &'a Request,
    pub(super) rules: &'a Rules,
    pub(super) tools: &'a mut Tools,
    pub(super) figures: &'a mut Figures,
    pub(super) now: Nanos,
}

/// How an exchange continues after an event.
pub(super) enum Continuation {
    /// The exchange continues.
    GoOn,
    /// The response is complete, and leads to another request.
    Redirect,
    /// The response is complete.
    End(Failure),
    /// End the exchange now; discard the rest of the response.
    GiveUp(Failure),
}

/// How a request's body continues after the stream has taken bytes of it.
pub(super) enum BodyStep {
    /// Further bytes are ready.
    Again,
    /// No bytes are ready now, or there are no more.
    Wait,
    /// The next bytes are made when the exchange's timer fires at this time.
    WaitUntil(Nanos),
    /// The next bytes cannot be made.
    Fail(DataError),
}

/// The action for an exchange whose timer has fired.
pub(super) enum TimerStep {
    /// No action: nothing to send.
    Nothing,
    /// Send the bytes that are ready.
    Send,
    /// End the exchange.
    End(Failure),
}

impl KindContext<'_> {
    /// Whether the exchange is measured, that is, intended after the warm-up.
    #[inline]
    pub(super) fn is_measured(&self) -> bool {
        self.rules.measures(self.exchange.account.times.intended)
    }

    /// Keeps the part of a response's head that is needed: all of it if responses are shown, else
    /// the fields that the request's inspection uses.
    pub(super) fn begin_look(&mut self, fields: &Fields<'_>) {
        if self.rules.shows() {
            self.exchange
                .look
                .get_or_insert_default()
                .begin_shown(fields);
        } else if let Some(inspection) = self.request.inspection() {
            self.exchange
                .look
                .get_or_insert_default()
                .begin_inspection(inspection, fields);
        }
    }

    /// Keeps the trailers of a response that is shown.
    #[inline]
    pub(super) fn look_at_trailers(&mut self, fields: &Fields<'_>) {
        if self.rules.looks()
            && let Some(look) = self.exchange.look.as_deref_mut()
        {
            look.show_trailers(fields);
        }
    }

    /// Inspects a response whose status is ok, and takes the values that the plan extracts from it.
    pub(super) fn inspect(&mut self) -> Failure {
        inspect(self.request, self.exchange, self.now)
    }
}

/// Inspects a response whose status is ok, and that ends now.
pub(super) fn inspect(request: &Request, exchange: &mut Exchange, now: Nanos) -> Failure {
    let time = now - exchange.account.times.intended;
    let status = seen_status(exchange.account.status());
    let (Some(inspection), Some(look)) = (request.inspection(), exchange.look.as_deref_mut())
    else {
        return Failure::from_outcome(Outcome::Ok);
    };
    let inspected = look.inspect(inspection, status, time);
    inspected.map_or_else(|failure| failure, |()| Failure::from_outcome(Outcome::Ok))
}
