//! One call, from its head to its status.

use super::Grpc;
use super::coding::Encoding;
use super::inlet::Inlet;
use super::outlet::Outlet;
use super::status::Status;
use super::{greeter, reflection, shop, test_service};
use crate::answer::{Afterwards, Counting, RawEnd};
use crate::clock;
use crate::grpc_code::Code;
use crate::http2::{Gone, Hub, Visit};
use crate::planner::CallPlan;
use crate::shop::Shop;
use bytes::Bytes;
use drumfire_units::Nanos;
use h2::server::SendResponse;
use h2::{Reason, RecvStream};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue};
use prost::Message;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;

/// Metadata with the behaviour of the flags, in the form of a query: `delay=5ms&reset=0.1`.
const WORDS: &str = "x-drumfire";
/// Metadata with such a name comes back in the headers.
const ECHO_HEADERS: &str = "echo-initial";
/// Metadata with such a name comes back in the trailers.
const ECHO_TRAILERS: &str = "echo-trailing";

/// Why a call is over before its method is.
pub(crate) enum Ended {
    /// It has a status.
    Status(Box<Status>),
    /// None: the client is gone, or the fault was to leave it out.
    Gone,
}

impl From<Status> for Ended {
    fn from(status: Status) -> Self {
        Self::Status(Box::new(status))
    }
}

impl From<Gone> for Ended {
    fn from(_: Gone) -> Self {
        Self::Gone
    }
}

impl From<h2::Error> for Ended {
    fn from(_: h2::Error) -> Self {
        Self::Gone
    }
}

/// A call that is being answered.
pub(crate) struct Call {
    pub(crate) grpc: Arc<Grpc>,
    pub(crate) inlet: Inlet,
    pub(crate) outlet: Outlet,
    pub(crate) metadata: HeaderMap,
    hub: Rc<Hub>,
    plan: CallPlan,
    /// Whether the plan's delay and faults were carried out.
    begun: bool,
}

impl Call {
    /// Sleeps for `time`.
    pub(crate) async fn pause(&mut self, time: Nanos) -> Result<(), Ended> {
        if time > Nanos::ZERO {
            let sleep = self.hub.sleeps.until(clock::now() + time);
            self.outlet.wait(sleep).await?;
        }
        Ok(())
    }

    /// The time that the flags wish for between messages.
    pub(crate) fn gap(&self) -> Nanos {
        self.plan.gap
    }

    /// Sends a message, the first of them when the plan's delay is over.
    pub(crate) async fn send(&mut self, message: &impl Message) -> Result<(), Ended> {
        self.begin().await?;
        self.outlet.send(message).await
    }

    /// Sends a message that is encoded already.
    pub(crate) async fn send_bytes(&mut self, message: &[u8]) -> Result<(), Ended> {
        self.begin().await?;
        self.outlet.send_bytes(message).await
    }

    /// Draws the faults and delays of the flags and of the call's own wishes. Reflection is exempt.
    fn prepare(&mut self, counting: Counting) -> Result<(), Status> {
        if counting == Counting::Uncounted {
            self.begun = true;
            return Ok(());
        }
        let words = self.metadata.get(WORDS).map(|words| words.to_str());
        let Ok(words) = words.unwrap_or(Ok("")) else {
            return Err(Status::new(Code::INVALID_ARGUMENT, "x-drumfire: no ASCII"));
        };
        let plan = self.hub.desk.plan_call(words);
        self.plan = plan.map_err(|bad| Status::new(Code::INVALID_ARGUMENT, bad.0))?;
        Ok(())
    }

    /// Ends the call without a status, when it is due.
    async fn fail(&mut self, end: RawEnd) {
        if let Some(due) = self.hub.desk.due(self.plan.delay, Counting::Counted) {
            // A client that is gone needs no answer.
            let _ = self.outlet.wait(self.hub.sleeps.until(due)).await;
        }
        if end == RawEnd::Reset {
            self.outlet.reset(Reason::INTERNAL_ERROR);
        }
    }

    /// The shop, if there is one.
    pub(crate) fn shop(&self) -> Option<&Shop> {
        self.hub.desk.shop()
    }

    /// Carries the plan's delay and faults out, before anything is sent.
    pub(crate) async fn begin(&mut self) -> Result<(), Ended> {
        if std::mem::replace(&mut self.begun, true) {
            return Ok(());
        }
        if let Some(due) = self.hub.desk.due(self.plan.delay, Counting::Counted) {
            self.outlet.wait(self.hub.sleeps.until(due)).await?;
        }
        if let Some(code) = self.plan.code {
            return Err(Status::new(code, "as the server was told").into());
        }
        self.outlet.cut = self.plan.afterwards == Afterwards::Cut;
        Ok(())
    }
}

/// Answers a call.
pub(crate) async fn answer(
    visit: Visit,
    respond: SendResponse<Bytes>,
    grpc: Arc<Grpc>,
    (head, body): (Parts, RecvStream),
) {
    let hub = Rc::clone(&visit.hub);
    let arrived = clock::now();
    let mut outlet = Outlet::new(respond);
    echo(&head.headers, &mut outlet);
    let encoding = encoding(&head.headers, &mut outlet);
    let mut call = Call {
        grpc,
        inlet: Inlet::new(body, *encoding.as_ref().unwrap_or(&Encoding::Identity)),
        outlet,
        plan: CallPlan::default(),
        hub: Rc::clone(&hub),
        begun: false,
        metadata: head.headers,
    };
    let deadline = deadline(&call.metadata, arrived);
    let late = *deadline.as_ref().unwrap_or(&None);
    let prepared = match (encoding, deadline) {
        (Err(status), _) | (_, Err(status)) => Err(status),
        _ => call.prepare(visit.counting),
    };
    let afterwards = call.plan.afterwards;
    let result = match (prepared, call.plan.end) {
        (Err(status), _) => Err(status.into()),
        (Ok(()), Some(end)) => {
            call.fail(end).await;
            return visit.failed(end);
        }
        (Ok(()), None) => until(&hub, late, dispatch(&mut call, head.uri.path())).await,
    };
    let status = match result {
        Ok(()) => Status::default(),
        Err(Ended::Status(status)) => *status,
        Err(Ended::Gone) => return visit.gone(afterwards),
    };
    if until(&hub, late, call.outlet.finish(&status)).await.is_ok() {
        visit.answered(afterwards);
    }
}

/// Lets a call's method answer.
async fn dispatch(call: &mut Call, path: &str) -> Result<(), Ended> {
    let (service, method) = path
        .strip_prefix('/')
        .and_then(|path| path.rsplit_once('/'))
        .unwrap_or((path, ""));
    let result = match service {
        greeter::NAME => greeter::dispatch(call, method).await,
        shop::NAME if call.shop().is_some() => shop::dispatch(call, method).await,
        test_service::NAME => test_service::dispatch(call, method).await,
        reflection::V1 | reflection::V1_ALPHA if method == reflection::METHOD => {
            reflection::answer(call).await
        }
        _ => Err(unknown(service, method).into()),
    };
    result?;
    // A call without a message has its delay and its faults as well.
    call.begin().await
}

/// The status for an unknown service or method.
pub(crate) fn unknown(service: &str, method: &str) -> Status {
    let message = format!("there is no method `{method}` in a service `{service}`");
    Status::new(Code::UNIMPLEMENTED, message)
}

/// Lets a call run until its deadline.
async fn until(
    hub: &Hub,
    deadline: Option<Nanos>,
    call: impl Future<Output = Result<(), Ended>>,
) -> Result<(), Ended> {
    let Some(deadline) = deadline else {
        return call.await;
    };
    let mut call = pin!(call);
    let mut late = pin!(hub.sleeps.until(deadline));
    poll_fn(|cx| {
        if let Poll::Ready(result) = call.as_mut().poll(cx) {
            return Poll::Ready(result);
        }
        late.as_mut().poll(cx).map(|()| {
            let status = Status::new(Code::DEADLINE_EXCEEDED, "the call took longer than it may");
            Err(status.into())
        })
    })
    .await
}

/// When a call is late (`grpc-timeout`: at most eight digits and a unit).
fn deadline(metadata: &HeaderMap, arrived: Nanos) -> Result<Option<Nanos>, Status> {
    let Some(text) = metadata.get("grpc-timeout") else {
        return Ok(None);
    };
    let malformed = || Status::new(Code::INTERNAL, "malformed grpc-timeout");
    let text = text.to_str().map_err(|_| malformed())?;
    let (digits, unit) = text
        .split_at_checked(text.len().saturating_sub(1))
        .ok_or_else(malformed)?;
    let scale: u64 = match unit {
        "H" => 3_600_000_000_000,
        "M" => 60_000_000_000,
        "S" => 1_000_000_000,
        "m" => 1_000_000,
        "u" => 1_000,
        "n" => 1,
        _ => return Err(malformed()),
    };
    let plain = (1..=8).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    let value = digits
        .parse::<u64>()
        .ok()
        .filter(|_| plain)
        .ok_or_else(malformed)?;
    Ok(Some(arrived + Nanos(value * scale)))
}

/// How a request's messages are compressed; the answer's are the same way, if the client accepts
/// it.
fn encoding(metadata: &HeaderMap, outlet: &mut Outlet) -> Result<Encoding, Status> {
    let Some(name) = metadata.get("grpc-encoding") else {
        return Ok(Encoding::Identity);
    };
    let name = String::from_utf8_lossy(name.as_bytes());
    let Some(encoding) = Encoding::parse(&name) else {
        outlet.announce_encodings();
        let message = format!("`{}` is not understood", name.escape_default());
        return Err(Status::new(Code::UNIMPLEMENTED, message));
    };
    let accepts = metadata
        .get_all("grpc-accept-encoding")
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .any(|item| item.trim() == encoding.name());
    if accepts {
        outlet.encoding = encoding;
    }
    Ok(encoding)
}

/// Copies the metadata that is to come back.
fn echo(metadata: &HeaderMap, outlet: &mut Outlet) {
    let copy = |to: &mut HeaderMap<HeaderValue>, name: &HeaderName, value: &HeaderValue| {
        to.append(name.clone(), value.clone());
    };
    for (name, value) in metadata {
        if name.as_str().starts_with(ECHO_HEADERS) {
            copy(&mut outlet.headers, name, value);
        } else if name.as_str().starts_with(ECHO_TRAILERS) {
            copy(&mut outlet.trailers, name, value);
        }
    }
}
