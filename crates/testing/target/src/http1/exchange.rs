//! The handling of one request.

use super::body::AnswerBody;
use super::port::Link;
use super::tokens::TokenAnswer;
use crate::answer::{Afterwards, Answer, Constancy, Content, Counting, RawBytes, RawEnd};
use crate::clock;
use crate::hub::Hub;
use crate::reaction::{AnswerPlan, Reaction};
use crate::rendered::{Rendered, render};
use crate::request::{BODY_MAX, RequestBody, RequestHead};
use drumfire_units::Nanos;
use hyper::body::{Body as _, Incoming};
use hyper::header::{CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HeaderValue, TRANSFER_ENCODING};
use hyper::http::request::Parts;
use hyper::{Method, Request, Response, StatusCode, Version};
use std::borrow::Cow;
use std::error::Error;
use std::fmt;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::rc::Rc;

/// hyper is dropped during delays longer than this.
const HOLD_MIN: Nanos = Nanos::from_millis(50);

const CLOSE: HeaderValue = HeaderValue::from_static("close");

/// No answer is sent; the link contains the bytes to send instead.
#[derive(Debug)]
pub(super) struct NoAnswer;

impl fmt::Display for NoAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no answer")
    }
}

impl Error for NoAnswer {}

/// A refused request; the connection closes after the refusal.
struct Refusal {
    status: StatusCode,
    /// The body, with the mistake.
    reason: Cow<'static, str>,
}

impl Refusal {
    const fn new(status: StatusCode, reason: &'static str) -> Self {
        Self {
            status,
            reason: Cow::Borrowed(reason),
        }
    }
}

/// The reason why a request does not get the answer of its plan.
enum Failure {
    Refused(Refusal),
    NoAnswer,
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

/// The body exceeds [`BODY_MAX`].
const TOO_LARGE: Refusal = Refusal::new(
    StatusCode::PAYLOAD_TOO_LARGE,
    "the request body exceeds 1 GiB",
);

/// Answers a request.
pub(super) async fn answer(
    hub: Rc<Hub>,
    link: Rc<Link>,
    request: Request<Incoming>,
) -> Result<Response<AnswerBody>, NoAnswer> {
    let (head, body) = request.into_parts();
    match respond(&hub, &link, &head, body).await {
        Ok(response) => Ok(response),
        Err(Failure::Refused(refusal)) => Ok(refuse(&hub, link, refusal)),
        Err(Failure::NoAnswer) => Err(NoAnswer),
    }
}

async fn respond(
    hub: &Rc<Hub>,
    link: &Rc<Link>,
    head: &Parts,
    body: Incoming,
) -> Result<Response<AnswerBody>, Failure> {
    if let Some(plan) = link.take_held() {
        let manner = AnswerForm::read(head);
        return carry_out(hub, link, plan, manner);
    }
    let target = target(head)?;
    check_host(head)?;
    if body.size_hint().lower() > BODY_MAX {
        return Err(TOO_LARGE.into());
    }
    let request = RequestHead::read(head, target);
    let intent = hub.desk.intent(&request).map_err(|bad| Refusal {
        status: StatusCode::BAD_REQUEST,
        reason: Cow::Owned(bad.0),
    })?;
    if intent.counting() == Counting::Counted {
        hub.desk.arrived();
    }
    let received = receive(body, intent.kept_max()).await?;
    let mut plan = hub.desk.plan(intent, &received);
    let manner = AnswerForm::read(head);
    let is_constant = plan.constancy == Constancy::Constant && !hub.desk.is_serial();
    link.set_constant(is_constant && manner.keeps_alive);
    if let Some(due) = hub.desk.due(plan.delay, plan.counting) {
        if due - clock::now() > HOLD_MIN {
            match link.hold(plan, due) {
                Ok(()) => return Err(Failure::NoAnswer),
                Err(refused) => plan = refused,
            }
        }
        hub.sleeps.until(due).await;
    }
    carry_out(hub, link, plan, manner)
}

/// Executes a plan when it is due.
fn carry_out(
    hub: &Rc<Hub>,
    link: &Rc<Link>,
    plan: AnswerPlan,
    manner: AnswerForm,
) -> Result<Response<AnswerBody>, Failure> {
    match plan.act {
        Reaction::Raw(raw) => {
            hub.desk.own().tallies.faults.add(1);
            link.put_raw(raw);
            Err(Failure::NoAnswer)
        }
        Reaction::Socket(plan) => {
            link.put_socket(plan);
            Err(Failure::NoAnswer)
        }
        Reaction::Tokens(job) => {
            let count = link.count_answer();
            let is_last = hub.close_after().is_some_and(|last| count >= last);
            link.put_tokens(TokenAnswer {
                job: *job,
                has_chunks: !manner.is_old,
                keeps_alive: manner.keeps_alive && !is_last,
            });
            Err(Failure::NoAnswer)
        }
        Reaction::Answer(answer) => {
            let counting = plan.counting;
            Ok(response(hub, link, answer, plan.delay, (manner, counting)))
        }
    }
}

/// Path and query of any form of request target (RFC 9112 §3.2).
fn target(head: &Parts) -> Result<&str, Refusal> {
    if head.method == Method::CONNECT {
        let reason = "this server is not a proxy";
        return Err(Refusal::new(StatusCode::NOT_IMPLEMENTED, reason));
    }
    let Some(target) = head.uri.path_and_query() else {
        let reason = "the request target is neither a path nor a URL";
        return Err(Refusal::new(StatusCode::BAD_REQUEST, reason));
    };
    Ok(target.as_str())
}

/// Requires exactly one Host in HTTP/1.1 (RFC 9112 §3.2).
fn check_host(head: &Parts) -> Result<(), Refusal> {
    let bad = |reason| Err(Refusal::new(StatusCode::BAD_REQUEST, reason));
    let hosts = head.headers.get_all("host").iter().count();
    match (hosts, head.version) {
        (1, _) | (0, Version::HTTP_10) => Ok(()),
        (0, _) => bad("Host is missing"),
        _ => bad("more than one Host"),
    }
}

/// Reads a request's body. If the client disconnects, no answer is sent.
async fn receive(mut body: Incoming, kept_max: usize) -> Result<RequestBody, Failure> {
    let mut received = RequestBody::default();
    while let Some(frame) = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
        match frame {
            Ok(frame) => {
                if let Some(data) = frame.data_ref() {
                    received.record(data, kept_max);
                }
            }
            Err(error) if is_malformed(&error) => {
                let reason = "the chunked body is malformed";
                return Err(Refusal::new(StatusCode::BAD_REQUEST, reason).into());
            }
            Err(_) => return Err(Failure::NoAnswer),
        }
        if received.length > BODY_MAX {
            return Err(TOO_LARGE.into());
        }
    }
    Ok(received)
}

/// Whether the bytes of a body are malformed, as opposed to a broken connection.
fn is_malformed(error: &hyper::Error) -> bool {
    let cause = error
        .source()
        .and_then(|cause| cause.downcast_ref::<io::Error>());
    cause.is_some_and(|cause| {
        use io::ErrorKind::{InvalidData, InvalidInput};
        matches!(cause.kind(), InvalidData | InvalidInput)
    })
}

/// The form of an answer.
struct AnswerForm {
    /// HTTP/1.0 has no chunks.
    is_old: bool,
    /// Whether the client wants to send another request.
    keeps_alive: bool,
}

impl AnswerForm {
    fn read(head: &Parts) -> Self {
        let is_old = head.version == Version::HTTP_10;
        let request = RequestHead::read(head, "");
        Self {
            is_old,
            keeps_alive: match is_old {
                true => request.lists("connection", "keep-alive"),
                false => !request.lists("connection", "close"),
            },
        }
    }
}

fn response(
    hub: &Rc<Hub>,
    link: &Rc<Link>,
    mut answer: Answer,
    delay: Option<Nanos>,
    (manner, counting): (AnswerForm, Counting),
) -> Response<AnswerBody> {
    if manner.is_old {
        answer.chunked = None;
    }
    let count = link.count_answer();
    let is_last = hub.close_after().is_some_and(|last| count >= last);
    if is_last && answer.afterwards == Afterwards::Stay {
        answer.afterwards = Afterwards::Close;
    }
    let Rendered { mut response, body } = render(&mut answer, delay);
    let fields = response.headers_mut();
    if answer.afterwards == Afterwards::Close || !manner.keeps_alive {
        fields.insert(CONNECTION, CLOSE);
    }
    if answer.chunked.is_some() && answer.content == Content::Described {
        fields.insert(TRANSFER_ENCODING, HeaderValue::from_static("chunked"));
    }
    if answer.afterwards == Afterwards::Cut {
        hub.desk.own().tallies.faults.add(1);
        link.put_raw(RawBytes {
            end: RawEnd::Reset,
            ..RawBytes::default()
        });
    }
    let body = AnswerBody::new(body, &answer, counting, hub, Rc::clone(link));
    response.map(|()| body)
}

/// Answers with the mistake, and closes the connection.
fn refuse(hub: &Hub, link: Rc<Link>, refusal: Refusal) -> Response<AnswerBody> {
    hub.desk.own().tallies.refused.add(1);
    let text = format!("{}\n", refusal.reason);
    let length = text.len();
    let mut response = Response::new(AnswerBody::text(text, link));
    *response.status_mut() = refusal.status;
    let fields = response.headers_mut();
    fields.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    fields.insert(CONNECTION, CLOSE);
    fields.insert(CONTENT_LENGTH, HeaderValue::from(length));
    response
}
