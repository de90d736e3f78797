//! The rules of a pool for its exchanges, computed once from the plan.
//!
//! Nearly every check on the path of an exchange is one comparison with a field here; the plan's
//! own types are used only in rare cases. The rules do not change during a run: commands change the
//! load, not the requests.

use super::exchange::Exchange;
use crate::prepare::{ExchangeKind, PreparedPool, Request};
use drumfire_measure::{Model, Outcome};
use drumfire_plan::{
    Compressed, Cookies, Expect, HttpRequest, Opening, Pool, Redirects, ReusedClosed, Samples, Slo,
    Threshold, Timeouts, Transcripts,
};
use drumfire_units::Nanos;
use std::sync::Arc;

/// The part of its responses that a pool reads; each level includes the previous ones. The request
/// that needs most determines the level of the whole pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Reading {
    /// Only the status.
    Status,
    /// The status, decoded bodies, and cookies.
    Response,
    /// In addition, the parts of some responses that are looked at.
    Look,
    /// All of any response that may be shown.
    Show,
}

/// How the answers of language models in a pool are timed.
#[derive(Debug)]
pub(super) struct AnswerRules {
    /// The model of the pool's load, which determines from when an answer is timed.
    pub(super) model: Model,
    /// The limits of good answers that the run counts.
    pub(super) slos: Vec<Slo>,
}

/// The rules of a pool for its exchanges.
#[derive(Debug)]
pub(super) struct Rules {
    pub(super) prepared: Arc<PreparedPool>,
    /// Exchanges with an earlier intended start belong to the warm-up.
    measure_from: Nanos,
    /// The maximum duration of an exchange.
    limit: Nanos,
    /// The maximum time between the request's end and the response's head, if the head has its own
    /// limit.
    pub(super) head_limit: Option<Nanos>,
    expect: Expect,
    reading: Reading,
    /// Whether any request is rendered, or begins a call, when its exchange begins.
    pub(super) renders_late: bool,
    /// Whether any request has a different limit than the pool.
    has_limits: bool,
    /// The shortest limit that begins when a part of a response arrives ([`Request::part_limit`]);
    /// `None` without one.
    pub(super) part_limit_min: Option<Nanos>,
    /// How answers of language models are timed; `None` if no response is read as one.
    pub(super) answers: Option<AnswerRules>,
    samples: Samples,
    /// Whether every exchange is judged only by its status, except for redirects.
    pub(super) is_plain: bool,
    opening: Opening,
}

impl Reading {
    fn for_pool(pool: &Pool, requests: &[Request]) -> Self {
        let decodes = pool.http.compressed != Compressed::AsSent;
        if pool.transcripts != Transcripts::None {
            Self::Show
        } else if requests.iter().any(Request::is_looked_at) {
            Self::Look
        } else if decodes || pool.cookies != Cookies::Ignore {
            Self::Response
        } else {
            Self::Status
        }
    }
}

/// The limit of a response's head. A limit that is not shorter than the limit of the whole exchange
/// has no effect: a request with a longer limit allows its head as much time.
fn head_limit(timeouts: &Timeouts) -> Option<Nanos> {
    (timeouts.head < timeouts.total).then_some(timeouts.head)
}

impl Rules {
    /// The rules of a prepared pool.
    pub(super) fn new(prepared: Arc<PreparedPool>) -> Self {
        let (pool, requests) = (prepared.pool(), &prepared.requests);
        let reading = Reading::for_pool(pool, requests);
        let reads_messages = |request: &Request| {
            request.is_call() || request.events().is_some() || request.socket().is_some()
        };
        let has_messages = requests.iter().any(reads_messages);
        Self {
            measure_from: prepared.generator().warmup.span(),
            limit: pool.timeouts.total,
            head_limit: head_limit(&pool.timeouts),
            expect: pool.expect,
            has_limits: requests.iter().any(Request::has_limit),
            renders_late: requests.iter().any(Request::is_rendered_late),
            part_limit_min: requests.iter().filter_map(Request::part_limit).min(),
            answers: requests
                .iter()
                .any(|request| request.answer().is_some())
                .then(|| AnswerRules {
                    model: Model::of_load(&pool.load),
                    slos: Threshold::slos(prepared.thresholds()),
                }),
            samples: pool.samples,
            is_plain: reading == Reading::Status && !has_messages,
            opening: pool.connections.opening,
            reading,
            prepared,
        }
    }

    pub(super) fn pool(&self) -> &Pool {
        self.prepared.pool()
    }

    /// The request of an exchange, in its sendable form.
    #[inline]
    pub(super) fn request(&self, exchange: &Exchange) -> &Request {
        &self.prepared.requests[exchange.task.request as usize]
    }

    /// The request of an exchange, in the plan's form.
    pub(super) fn planned(&self, exchange: &Exchange) -> &HttpRequest {
        &self.pool().requests[exchange.task.request as usize]
    }

    /// Whether the opening of an exchange's connection is part of its service.
    #[inline]
    pub(super) const fn opening_is_service(&self) -> bool {
        matches!(self.opening, Opening::Service)
    }

    /// The maximum duration of an exchange of the request with this index.
    #[inline(always)]
    pub(super) fn limit(&self, request: u32) -> Nanos {
        match self.has_limits {
            true => self.prepared.requests[request as usize].limit(self.limit),
            false => self.limit,
        }
    }

    /// Whether an exchange is measured, that is, intended after the warm-up.
    #[inline]
    pub(super) fn measures(&self, intended: Nanos) -> bool {
        intended >= self.measure_from
    }

    /// Whether every sample of the pool is kept.
    pub(super) fn keeps_samples(&self) -> bool {
        self.samples == Samples::Keep
    }

    /// Whether any exchange may be shown.
    pub(super) fn shows(&self) -> bool {
        self.reading >= Reading::Show
    }

    /// Whether any part of a response other than its status is looked at.
    #[inline]
    pub(super) fn looks(&self) -> bool {
        self.reading >= Reading::Look
    }

    /// Whether any part of a response other than its status is read.
    #[inline]
    pub(super) fn reads(&self) -> bool {
        self.reading >= Reading::Response
    }

    pub(super) fn follows_redirects(&self) -> bool {
        self.pool().http.redirects != Redirects::Report
    }

    /// Whether a request lost by a reused connection is sent again.
    pub(super) fn retries_reused(&self) -> bool {
        self.pool().connections.reused_closed != ReusedClosed::Fail
    }

    /// Whether a request is sent again whenever a reused connection ends without an answer, however
    /// late, as Go's client does.
    pub(super) fn retries_as_go(&self) -> bool {
        self.pool().connections.reused_closed == ReusedClosed::RetryAsGo
    }

    /// The outcome for a response with this status, for requests without their own expectation.
    #[inline]
    pub(super) const fn judge(&self, status: u16) -> Outcome {
        judge(&self.expect, status)
    }

    /// The outcome for a response with this status, for any request; a request may expect other
    /// statuses than its pool.
    #[inline]
    pub(super) fn judge_request(&self, request: &Request, status: u16) -> Outcome {
        judge(&request.expect(self.expect), status)
    }

    /// Whether a response with this status is always a failure. A call that accepts failures may be
    /// OK with any HTTP status.
    pub(super) fn never_accepts(&self, request: &Request, status: u16) -> bool {
        match &request.kind {
            ExchangeKind::Call(call) => !(1..=16).any(|code| call.plan.expect.accepts(code)),
            ExchangeKind::Response | ExchangeKind::Events(_) | ExchangeKind::Socket(_) => {
                self.judge_request(request, status) != Outcome::Ok
            }
        }
    }
}

/// The outcome of a complete response, by its status. A status outside 100 to 599 is always invalid
/// (RFC 9110 section 15).
#[inline]
const fn judge(expect: &Expect, status: u16) -> Outcome {
    match status {
        100..=599 if expect.accepts(status) => Outcome::Ok,
        100..=599 => Outcome::HttpStatus,
        _ => Outcome::InvalidStatus,
    }
}
