//! A request of the plan, ready to be sent: its lane, its form, and the settings that are its own.
//!
//! The variant of its [`Message`] decides which kind of exchange carries it out: a call is one
//! kind, every other message is answered by a response.
//!
//! [`message`] is the one place that chooses the form, by the plan's data, its calls and the pool's
//! protocol. It is called for each request before the run, and for each redirect while it goes on.

use super::render::{Rendered, TargetForm, render};
use super::stream::{CallRequest, StreamRequest, call, stream};
use super::varying::{VaryingRequest, varying};
use crate::id::LaneId;
use crate::protocol::Protocol;
use drumfire_plan::{Expect, HttpRequest, Inspection, Pool, RequestData, TRACEPARENT};
use drumfire_units::Nanos;
use std::sync::Arc;

/// One request, ready to send.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) message: Message,
    /// The lane on which it travels.
    pub(crate) lane: LaneId,
    /// The index of the step to whose figures it adds.
    pub(crate) step: u16,
    /// The statuses that are ok, where those are not the pool's.
    expect: Option<Expect>,
    /// The time that an exchange of it may take, where that is not the pool's.
    timeout: Option<Nanos>,
    inspection: Option<Arc<dyn Inspection>>,
}

/// A request in the form in which it is sent.
#[derive(Debug)]
pub(crate) enum Message {
    /// Bytes of HTTP/1.1, the same for every exchange.
    Rendered(Rendered),
    /// A head and a body of a stream, the same for every exchange.
    Stream(Box<StreamRequest>),
    /// A request that is rendered anew for each exchange.
    Varying(Box<VaryingRequest>),
    /// A gRPC call.
    Call(Box<CallRequest>),
}

impl Request {
    /// A planned request with its message, on a lane, whose figures are those of a step.
    pub(super) fn new(message: Message, lane: LaneId, step: u16, planned: &HttpRequest) -> Self {
        Self {
            message,
            lane,
            step,
            expect: planned.expect,
            timeout: planned.timeout,
            inspection: planned.inspection.clone(),
        }
    }

    /// The statuses of its response that are ok, where those of the pool are `pool`.
    pub(crate) fn expect(&self, pool: Expect) -> Expect {
        self.expect.unwrap_or(pool)
    }

    /// The inspection of its response beyond the status.
    pub(crate) fn inspection(&self) -> Option<&dyn Inspection> {
        self.inspection.as_deref()
    }

    /// Whether anything must be done for an exchange before it can be sent.
    pub(crate) const fn is_rendered_late(&self) -> bool {
        matches!(self.message, Message::Varying(_) | Message::Call(_))
    }

    /// Whether it is a call.
    pub(crate) const fn is_call(&self) -> bool {
        matches!(self.message, Message::Call(_))
    }

    /// Whether each exchange of it carries a trace.
    pub(crate) fn is_traced(&self) -> bool {
        let data: &dyn RequestData = match &self.message {
            Message::Rendered(_) | Message::Stream(_) => return false,
            Message::Varying(varying) => varying.data(),
            Message::Call(call) => &*call.plan.data,
        };
        data.renders(TRACEPARENT)
    }

    /// Whether its response is judged by more than the pool's statuses.
    pub(crate) const fn is_looked_at(&self) -> bool {
        self.expect.is_some() || self.inspection.is_some()
    }

    /// The time that an exchange of it may take, where any may take `total`. A call's deadline only
    /// shortens it; a request's own timeout replaces it.
    pub(crate) fn limit(&self, total: Nanos) -> Nanos {
        match &self.message {
            Message::Call(call) => call.plan.deadline.map_or(total, |limit| limit.min(total)),
            _ => self.timeout.unwrap_or(total),
        }
    }

    /// Whether the time that an exchange of it may take can be another than the pool's.
    pub(crate) const fn has_limit(&self) -> bool {
        self.is_call() || self.timeout.is_some()
    }
}

impl Message {
    /// The request that it is rendered from for each exchange.
    #[inline]
    pub(crate) const fn varying(&self) -> Option<&VaryingRequest> {
        match self {
            Self::Varying(varying) => Some(varying),
            _ => None,
        }
    }

    /// Whether sending it twice does no more than sending it once, as far as that is known. On
    /// streams the server says whether it has processed a request, so that nothing has to be known
    /// of it.
    pub(crate) const fn is_idempotent(&self) -> bool {
        match self {
            Self::Rendered(rendered) => rendered.idempotent,
            Self::Varying(varying) => varying.is_idempotent(),
            Self::Stream(_) | Self::Call(_) => false,
        }
    }
}

/// A request in the form that the plan's protocol sends.
///
/// # Errors
/// In words, when it can't be sent so.
pub(crate) fn message(
    pool: &Pool,
    request: &HttpRequest,
    form: TargetForm,
) -> Result<Message, String> {
    let protocol = Protocol::of(pool);
    if form == TargetForm::Absolute && !protocol.has_absolute_form() {
        let message = "HTTP/2 to an http:// target needs a tunnel through the proxy; set \
                       `proxy_tunnel: true` in the plan";
        return Err(message.to_owned());
    }
    if let Some(data) = &request.data {
        let varying = varying(pool, request, data, form)?;
        return Ok(Message::Varying(Box::new(varying)));
    }
    Ok(match (&request.call, protocol.has_streams()) {
        (Some(planned), _) => Message::Call(Box::new(call(pool, request, planned)?)),
        (None, true) => Message::Stream(Box::new(stream(pool, request)?)),
        (None, false) => Message::Rendered(render(pool, request, form)?),
    })
}
