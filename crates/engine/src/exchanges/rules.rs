//! The rules of a pool for its exchanges, computed once from the plan.
//!
//! Nearly every question on the path of an exchange is one comparison with a field here; the plan's
//! own types are asked only where an exchange is out of the common. The rules do not change during
//! a run: commands change the load, not the requests.

use super::exchange::Exchange;
use crate::prepare::{PreparedPool, Request, RequestKind};
use drumfire_measure::Outcome;
use drumfire_plan::{
    Compressed, Cookies, Expect, HttpRequest, Opening, Pool, Redirects, ReusedClosed, Timeouts,
    Transcripts,
};
use drumfire_units::Nanos;
use std::sync::Arc;

/// The part of its responses that a pool reads; each level includes those before it. A level is
/// chosen for the whole pool, by the request that needs most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Reading {
    /// The status alone.
    Status,
    /// The status, bodies that are decoded, and cookies.
    Response,
    /// All of that, and the parts of some responses that are looked at.
    Look,
    /// The whole of any response that may be shown.
    Show,
}

/// The rules of a pool for its exchanges.
#[derive(Debug)]
pub(super) struct Rules {
    pub(super) prepared: Arc<PreparedPool>,
    /// Exchanges whose intended start lies before this are the warm-up's.
    measure_from: Nanos,
    /// The time that an exchange may take.
    limit: Nanos,
    /// The time that the head of a response may take after the request's end, where that has a
    /// limit of its own.
    pub(super) head_limit: Option<Nanos>,
    expect: Expect,
    reading: Reading,
    /// Whether any request is rendered, or is a call, as its exchange begins.
    pub(super) renders_late: bool,
    /// Whether any request may take another time than the pool's.
    has_limits: bool,
    /// Whether every exchange is judged by its status alone, unless that is a redirect's.
    pub(super) is_plain: bool,
    opening: Opening,
}

impl Reading {
    fn of(pool: &Pool, requests: &[Request]) -> Self {
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

/// The limit of a response's head. A limit that is no shorter than that of a whole exchange is none
/// of its own: a request that may take longer has as long for its head.
fn head_limit(timeouts: &Timeouts) -> Option<Nanos> {
    (timeouts.head < timeouts.total).then_some(timeouts.head)
}

impl Rules {
    /// The rules of a prepared pool.
    pub(super) fn of(prepared: Arc<PreparedPool>) -> Self {
        let (pool, requests) = (prepared.pool(), &prepared.requests);
        let reading = Reading::of(pool, requests);
        let has_calls = requests.iter().any(Request::is_call);
        Self {
            measure_from: prepared.generator().warmup.span(),
            limit: pool.timeouts.total,
            head_limit: head_limit(&pool.timeouts),
            expect: pool.expect,
            has_limits: requests.iter().any(Request::has_limit),
            renders_late: requests.iter().any(Request::is_rendered_late),
            is_plain: reading == Reading::Status && !has_calls,
            opening: pool.connections.opening,
            reading,
            prepared,
        }
    }

    pub(super) fn pool(&self) -> &Pool {
        self.prepared.pool()
    }

    /// The request of an exchange, as it is sent.
    #[inline]
    pub(super) fn request(&self, exchange: &Exchange) -> &Request {
        &self.prepared.requests[exchange.task.request as usize]
    }

    /// The request of an exchange, as the plan has it.
    pub(super) fn planned(&self, exchange: &Exchange) -> &HttpRequest {
        &self.pool().requests[exchange.task.request as usize]
    }

    /// Whether the opening of an exchange's connection is part of its service.
    #[inline]
    pub(super) const fn opening_is_service(&self) -> bool {
        matches!(self.opening, Opening::Service)
    }

    /// The time that an exchange of a request of the list may take.
    #[inline(always)]
    pub(super) fn limit(&self, request: u32) -> Nanos {
        match self.has_limits {
            true => self.prepared.requests[request as usize].limit(self.limit),
            false => self.limit,
        }
    }

    /// Whether an exchange is measured, and not the warm-up's.
    #[inline]
    pub(super) fn measures(&self, intended: Nanos) -> bool {
        intended >= self.measure_from
    }

    /// Whether any exchange may be shown.
    pub(super) fn shows(&self) -> bool {
        self.reading >= Reading::Show
    }

    /// Whether more is looked at in any response than its status.
    #[inline]
    pub(super) fn looks(&self) -> bool {
        self.reading >= Reading::Look
    }

    /// Whether anything of a response is read beyond its status.
    #[inline]
    pub(super) fn reads(&self) -> bool {
        self.reading >= Reading::Response
    }

    pub(super) fn follows_redirects(&self) -> bool {
        self.pool().http.redirects != Redirects::Report
    }

    /// Whether a request is sent once more that a reused connection has lost.
    pub(super) fn retries_reused(&self) -> bool {
        self.pool().connections.reused_closed != ReusedClosed::Fail
    }

    /// Whether a request is sent once more whenever a reused connection ends without an answer,
    /// however long after the request that is, as Go's client has it.
    pub(super) fn retries_as_go(&self) -> bool {
        self.pool().connections.reused_closed == ReusedClosed::RetryAsGo
    }

    /// Whether a response with this status is ok, of a request that expects no other than the pool.
    #[inline]
    pub(super) const fn judge(&self, status: u16) -> Outcome {
        judge(&self.expect, status)
    }

    /// Whether a response with this status is ok, of any request, which may expect other statuses
    /// than the pool.
    #[inline]
    pub(super) fn judge_request(&self, request: &Request, status: u16) -> Outcome {
        judge(&request.expect(self.expect), status)
    }

    /// Whether a response with this status is a failure, whatever follows its head. A call that
    /// accepts failures may be ok with any status.
    pub(super) fn never_accepts(&self, request: &Request, status: u16) -> bool {
        match &request.kind {
            RequestKind::Call(call) => !(1..=16).any(|code| call.plan.expect.accepts(code)),
            RequestKind::Response => self.judge_request(request, status) != Outcome::Ok,
        }
    }
}

/// The outcome of a complete response, by its status. One outside 100 to 599 is invalid (RFC 9110
/// section 15), whatever is expected.
#[inline]
const fn judge(expect: &Expect, status: u16) -> Outcome {
    match status {
        100..=599 if expect.accepts(status) => Outcome::Ok,
        100..=599 => Outcome::HttpStatus,
        _ => Outcome::InvalidStatus,
    }
}
