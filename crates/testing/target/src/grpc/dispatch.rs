//! A call from its head to its status: its method, and its deadline.

use super::Grpc;
use super::call::Call;
use super::coding::Encoding;
use super::ended::Ended;
use super::inlet::Inlet;
use super::outlet::CallOutlet;
use super::status::Status;
use super::{greeter, reflection, shop, test_service};
use crate::clock;
use crate::grpc_code::GrpcCode;
use crate::sleeps::{Sleeps, TimedOut};
use crate::visit::Visit;
use bytes::Bytes;
use drumfire_units::Nanos;
use h2::RecvStream;
use h2::server::SendResponse;
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue};
use std::rc::Rc;
use std::sync::Arc;

/// Metadata whose names begin with this text is returned in the headers.
const ECHO_HEADERS: &str = "echo-initial";
/// Metadata whose names begin with this text is returned in the trailers.
const ECHO_TRAILERS: &str = "echo-trailing";

/// Answers a call.
pub(crate) async fn answer(
    visit: Visit,
    respond: SendResponse<Bytes>,
    grpc: Arc<Grpc>,
    (head, body): (Parts, RecvStream),
) {
    let arrived = clock::now();
    let mut outlet = CallOutlet::new(respond);
    echo(&head.headers, &mut outlet);
    let encoding = encoding(&head.headers, &mut outlet);
    let inlet = Inlet::new(body, *encoding.as_ref().unwrap_or(&Encoding::Identity));
    let mut call = Call::new(grpc, &visit, inlet, outlet, head.headers);
    let deadline = deadline(&call.metadata, arrived);
    let late = *deadline.as_ref().unwrap_or(&None);
    let prepared = match (encoding, deadline) {
        (Err(status), _) | (_, Err(status)) => Err(status),
        _ => call.prepare(visit.counting),
    };
    let afterwards = call.plan().afterwards;
    let result = match (prepared, call.plan().end) {
        (Err(status), _) => Err(status.into()),
        (Ok(()), Some(end)) => {
            call.fail(end).await;
            return visit.failed(end);
        }
        (Ok(()), None) => until(&visit.sleeps, late, dispatch(&mut call, head.uri.path())).await,
    };
    let status = match result {
        Ok(()) => Status::default(),
        Err(Ended::Status(status)) => *status,
        Err(Ended::Gone) => return visit.gone(afterwards),
    };
    if until(&visit.sleeps, late, call.outlet.finish(&status))
        .await
        .is_ok()
    {
        visit.answered(afterwards);
    }
}

/// Calls the method.
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
        _ => Err(Status::unknown(service, method).into()),
    };
    result?;
    // A call without messages also has the delay and the faults.
    call.apply_faults().await
}

/// Runs a call until its deadline.
async fn until(
    sleeps: &Rc<Sleeps>,
    deadline: Option<Nanos>,
    call: impl Future<Output = Result<(), Ended>>,
) -> Result<(), Ended> {
    let Some(deadline) = deadline else {
        return call.await;
    };
    sleeps
        .limit(call, deadline)
        .await
        .unwrap_or_else(|TimedOut| {
            let status = Status::new(
                GrpcCode::DEADLINE_EXCEEDED,
                "the call exceeded its deadline",
            );
            Err(status.into())
        })
}

/// The deadline of a call (`grpc-timeout`: at most eight digits and a unit).
fn deadline(metadata: &HeaderMap, arrived: Nanos) -> Result<Option<Nanos>, Status> {
    let Some(text) = metadata.get("grpc-timeout") else {
        return Ok(None);
    };
    let malformed = || Status::new(GrpcCode::INTERNAL, "malformed grpc-timeout");
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

/// The compression of a request's messages; the answer uses the same if the client accepts it.
fn encoding(metadata: &HeaderMap, outlet: &mut CallOutlet) -> Result<Encoding, Status> {
    let Some(name) = metadata.get("grpc-encoding") else {
        return Ok(Encoding::Identity);
    };
    let name = String::from_utf8_lossy(name.as_bytes());
    let Some(encoding) = Encoding::parse(&name) else {
        outlet.announce_encodings();
        let message = format!("`{}` is not understood", name.escape_default());
        return Err(Status::new(GrpcCode::UNIMPLEMENTED, message));
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

/// Copies the metadata that the server returns.
fn echo(metadata: &HeaderMap, outlet: &mut CallOutlet) {
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
