//! A request of the plan, ready to be sent: its lane, its form, its kind, and its own settings.
//!
//! The [`Form`] decides how the request is sent: as bytes that are the same for every exchange,
//! rendered for each exchange, or as messages on a stream. The [`ExchangeKind`] decides how the
//! response is read. The two are independent: each kind works with every form.
//!
//! Only [`form`] chooses the form, by the plan's data, its calls and the pool's protocol. It is
//! called for each request before the run, and for each redirect during it.

use super::render::{Rendered, TargetForm, render};
use super::socket::SocketRequest;
use super::stream::{CallRequest, MessageRequest, StreamRequest, call, messages, stream};
use super::varying::{VaryingRequest, varying};
use crate::id::LaneId;
use crate::protocol::Protocol;
use drumfire_plan::{
    EventStream, Expect, HttpRequest, Inspection, LlmApi, Pool, RequestData, TRACEPARENT,
};
use drumfire_units::Nanos;
use std::sync::Arc;

/// One request, ready to send.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) form: Form,
    pub(crate) kind: ExchangeKind,
    /// The lane that carries the request.
    pub(crate) lane: LaneId,
    /// The index of the step in whose figures the request counts.
    pub(crate) step: u16,
    /// The statuses that are ok, if they differ from the pool's.
    expect: Option<Expect>,
    /// The time limit of its exchanges, if it differs from the pool's.
    timeout: Option<Nanos>,
    inspection: Option<Arc<dyn Inspection>>,
}

/// The form in which a request is sent.
#[derive(Debug)]
pub(crate) enum Form {
    /// HTTP/1.1 bytes, the same for every exchange.
    Rendered(Rendered),
    /// A head and a body of a stream, the same for every exchange.
    Stream(Box<StreamRequest>),
    /// A request that is rendered for each exchange.
    Varying(Box<VaryingRequest>),
    /// A head and messages on a stream, which may be made while the exchange runs.
    Messages(Box<MessageRequest>),
}

/// The kind of exchange that carries a request out: how its response is read and judged.
#[derive(Debug)]
pub(crate) enum ExchangeKind {
    /// An HTTP response.
    Response,
    /// An HTTP response that is a stream of events.
    Events(EventStream),
    /// The replies of a gRPC call.
    Call(Box<CallRequest>),
    /// A handshake, messages or a close on a WebSocket.
    Socket(Box<SocketRequest>),
}

impl ExchangeKind {
    /// The kind of a planned request.
    fn for_request(planned: &HttpRequest) -> Self {
        if let Some(socket) = SocketRequest::of(planned) {
            return Self::Socket(Box::new(socket));
        }
        match (&planned.call, planned.events) {
            (Some(planned), _) => Self::Call(Box::new(call(planned))),
            (None, Some(events)) => Self::Events(events),
            (None, None) => Self::Response,
        }
    }
}

impl Request {
    /// A planned request in a form, on a lane, counted in a step.
    pub(super) fn new(form: Form, lane: LaneId, step: u16, planned: &HttpRequest) -> Self {
        Self {
            form,
            kind: ExchangeKind::for_request(planned),
            lane,
            step,
            expect: planned.expect,
            timeout: planned.timeout,
            inspection: planned.inspection.clone(),
        }
    }

    /// The statuses that are ok; `pool` is the pool's default.
    pub(crate) fn expect(&self, pool: Expect) -> Expect {
        self.expect.unwrap_or(pool)
    }

    /// The inspection of the response in addition to the status.
    pub(crate) fn inspection(&self) -> Option<&dyn Inspection> {
        self.inspection.as_deref()
    }

    /// Whether the request must be rendered or prepared for each exchange.
    pub(crate) const fn is_rendered_late(&self) -> bool {
        matches!(self.form, Form::Varying(_) | Form::Messages(_)) || self.socket().is_some()
    }

    /// Whether the request is a gRPC call.
    pub(crate) const fn is_call(&self) -> bool {
        matches!(self.kind, ExchangeKind::Call(_))
    }

    /// How the response is read as an event stream, if it is.
    pub(crate) const fn events(&self) -> Option<&EventStream> {
        match &self.kind {
            ExchangeKind::Events(events) => Some(events),
            ExchangeKind::Response | ExchangeKind::Call(_) | ExchangeKind::Socket(_) => None,
        }
    }

    /// The number of messages after which an exchange ends; `None` if the server decides.
    pub(crate) fn receive(&self) -> Option<u64> {
        match &self.kind {
            ExchangeKind::Events(events) => events.receive,
            ExchangeKind::Call(call) => call.plan.streaming.receive,
            ExchangeKind::Response | ExchangeKind::Socket(_) => None,
        }
    }

    /// The interface of which the response is an answer, if it is.
    pub(crate) fn answer(&self) -> Option<LlmApi> {
        self.events().and_then(|events| events.answer)
    }

    /// What the request does on a WebSocket, if it is for one.
    pub(crate) const fn socket(&self) -> Option<&SocketRequest> {
        match &self.kind {
            ExchangeKind::Socket(socket) => Some(socket),
            ExchangeKind::Response | ExchangeKind::Events(_) | ExchangeKind::Call(_) => None,
        }
    }

    /// The shortest limit that begins when a part of the response arrives: of the time between two
    /// events or messages, or of a stream's duration. `None` without one.
    pub(crate) fn part_limit(&self) -> Option<Nanos> {
        let limit = match &self.kind {
            ExchangeKind::Events(events) => events.gap.min(events.duration),
            ExchangeKind::Socket(socket) => socket.plan.receive()?.gap,
            ExchangeKind::Response | ExchangeKind::Call(_) => return None,
        };
        (limit < Nanos::MAX).then_some(limit)
    }

    /// Whether each exchange of the request carries a trace id.
    pub(crate) fn is_traced(&self) -> bool {
        let data: &dyn RequestData = match &self.form {
            Form::Rendered(_) | Form::Stream(_) => return false,
            Form::Varying(varying) => varying.data(),
            Form::Messages(messages) => &*messages.plan.data,
        };
        data.renders(TRACEPARENT)
    }

    /// Whether the response is judged by more than the pool's statuses.
    pub(crate) const fn is_looked_at(&self) -> bool {
        self.expect.is_some() || self.inspection.is_some()
    }

    /// The time limit of an exchange of this request, with `total` as the default. A call's
    /// deadline only shortens it; a request's own timeout replaces it.
    pub(crate) fn limit(&self, total: Nanos) -> Nanos {
        match &self.kind {
            ExchangeKind::Call(call) => call.plan.deadline.map_or(total, |limit| limit.min(total)),
            ExchangeKind::Response | ExchangeKind::Events(_) | ExchangeKind::Socket(_) => {
                self.timeout.unwrap_or(total)
            }
        }
    }

    /// Whether the time limit of an exchange can differ from the pool's.
    pub(crate) const fn has_limit(&self) -> bool {
        self.is_call() || self.timeout.is_some()
    }
}

impl Form {
    /// The request from which each exchange is rendered, if it varies.
    #[inline]
    pub(crate) const fn varying(&self) -> Option<&VaryingRequest> {
        match self {
            Self::Varying(varying) => Some(varying),
            _ => None,
        }
    }

    /// Whether sending the request twice is known to have the same effect as sending it once. On
    /// streams the server reports whether it has processed a request, so this is not needed.
    pub(crate) const fn is_idempotent(&self) -> bool {
        match self {
            Self::Rendered(rendered) => rendered.idempotent,
            Self::Varying(varying) => varying.is_idempotent(),
            Self::Stream(_) | Self::Messages(_) => false,
        }
    }
}

/// A request in the form of the pool's protocol, with its target in this form.
///
/// # Errors
/// A text, if the request cannot be sent in this form.
pub(crate) fn form(pool: &Pool, request: &HttpRequest, target: TargetForm) -> Result<Form, String> {
    let protocol = Protocol::for_pool(pool);
    if target == TargetForm::Absolute && !protocol.has_absolute_form() {
        let message = "HTTP/2 to an http:// target needs a tunnel through the proxy; set \
                       `proxy_tunnel: true` in the plan";
        return Err(message.to_owned());
    }
    if let Some(data) = &request.data {
        let varying = varying(pool, request, data, target)?;
        return Ok(Form::Varying(Box::new(varying)));
    }
    Ok(match (&request.call, protocol.has_streams()) {
        (Some(planned), _) => Form::Messages(Box::new(messages(pool, request, planned)?)),
        (None, true) => Form::Stream(Box::new(stream(pool, request)?)),
        (None, false) => Form::Rendered(render(pool, request, target)?),
    })
}
