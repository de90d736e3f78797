//! The surroundings of an exchange's state: the parts beside it that a verb works with, and the
//! continuations that a verb returns.
//!
//! A verb is called once for an event, never from within another. It changes the exchange and the
//! figures at once. If anything concerns more than the exchange, the verb returns it, and the handler
//! puts it on the worker's lists.
//!
//! The parts are borrowed side by side from [`Exchanges`](super::Exchanges), so that a verb can use
//! the tools while it changes the exchange; a context lives for one call and is never stored.

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

/// The parts that a verb works with.
///
/// `figures` are those of the interval that is open at `now`. `tools` (memory for rendering,
/// compressors) belong to the worker, so that a verb leaves nothing in them that the next one
/// relies on.
pub(super) struct KindContext<'a> {
    pub(super) exchange: &'a mut Exchange,
    pub(super) request: &'a Request,
    pub(super) rules: &'a Rules,
    pub(super) tools: &'a mut Tools,
    pub(super) figures: &'a mut Figures,
    pub(super) now: Nanos,
}

/// The continuation of an exchange after an event.
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

/// The continuation of a request's body after the stream has taken bytes of it.
pub(super) enum BodyStep {
    /// There are further bytes.
    Again,
    /// There are none for now, or none at all.
    Wait,
    /// The next ones are made when the exchange's timer fires at this time.
    WaitUntil(Nanos),
    /// The next ones can't be made.
    Fail(DataError),
}

/// The action of an exchange whose timer has fired.
pub(super) enum TimerStep {
    /// None: it has nothing to send.
    Nothing,
    /// It has bytes to send.
    Send,
    /// It is over.
    End(Failure),
}

impl KindContext<'_> {
    /// Whether the exchange is measured, and not the warm-up's.
    #[inline]
    pub(super) fn is_measured(&self) -> bool {
        self.rules.measures(self.exchange.account.times.intended)
    }

    /// Keeps of a response's head the part that is looked at: all of it where responses are shown,
    /// else the fields that the request's inspection names.
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

    /// Inspects a response that is ok by its status, and takes the values that the plan wants of
    /// it.
    pub(super) fn inspect(&mut self) -> Failure {
        let time = self.now - self.exchange.account.times.intended;
        let status = seen_status(self.exchange.account.status());
        let inspection = self.request.inspection();
        let (Some(inspection), Some(look)) = (inspection, self.exchange.look.as_deref_mut()) else {
            return Failure::of(Outcome::Ok);
        };
        let inspected = look.inspect(inspection, status, time);
        inspected.map_or_else(|failure| failure, |()| Failure::of(Outcome::Ok))
    }
}
