//! drumfire.test.v1.TestService: requests that describe their replies.

use super::call::Call;
use super::coding::Encoding;
use super::ended::Ended;
use super::messages::{Metadata, Oddity, Request, Response, RpcStatus, Summary, Wish};
use super::status::Status;
use crate::answer::Body;
use crate::clock;
use crate::grpc_code::GrpcCode;
use crate::law::DELAY_MAX;
use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use bytes::Bytes;
use drumfire_units::Nanos;
use prost::Message as _;
use prost_reflect::prost_types::Duration;

/// The service's full name.
pub(crate) const NAME: &str = "drumfire.test.v1.TestService";

/// The maximum size of a response's payload.
const SIZE_MAX: u32 = 64 << 20;
/// The maximum number of arrivals in a summary.
const CLOCKS_MAX: usize = 1_000;

/// Binary metadata may be padded or not.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Answers a call of this service.
pub(crate) async fn dispatch(call: &mut Call, method: &str) -> Result<(), Ended> {
    match method {
        "Unary" => unary(call).await,
        "ServerStream" => server_stream(call).await,
        "ClientStream" => client_stream(call).await,
        "BidiStream" => bidi_stream(call).await,
        "Empty" => {
            call.inlet.only_bytes().await?;
            call.send_bytes(&[]).await
        }
        "Types" => {
            let message = call.inlet.only_bytes().await?;
            call.send_bytes(&message).await
        }
        _ => Err(Status::unknown(NAME, method).into()),
    }
}

async fn unary(call: &mut Call) -> Result<(), Ended> {
    let request: Request = call.inlet.only().await?;
    let wish = heed(call, &request)?;
    if wish.status.as_ref().is_some_and(|status| status.code != 0) {
        call.pause(time(wish.delay.as_ref())).await?;
    } else {
        respond(call, &request, (0, 0), Some(1)).await?;
    }
    status(&wish)
}

async fn server_stream(call: &mut Call) -> Result<(), Ended> {
    let request: Request = call.inlet.only().await?;
    let wish = heed(call, &request)?;
    respond(call, &request, (0, 0), wish.count).await?;
    status(&wish)
}

async fn client_stream(call: &mut Call) -> Result<(), Ended> {
    let mut summary = Summary::default();
    let mut wish = Wish::default();
    while let Some(request) = call.inlet.next::<Request>().await? {
        summary.messages += 1;
        summary.payload_bytes += request.payload.len() as u64;
        if summary.clock_ns.len() < CLOCKS_MAX {
            summary.clock_ns.push(clock::now().0);
        }
        if request.wish.is_some() {
            wish = heed(call, &request)?;
            if wish.status.is_some() {
                break;
            }
        }
        summary.text = request.text;
    }
    call.pause(time(wish.delay.as_ref())).await?;
    status(&wish)?;
    summary.payload = payload(wish.size);
    if wish.echo_metadata {
        summary.metadata = metadata(call);
    }
    call.send(&summary).await
}

async fn bidi_stream(call: &mut Call) -> Result<(), Ended> {
    let (mut number, mut index) = (0, 0);
    while let Some(request) = call.inlet.next::<Request>().await? {
        let wish = heed(call, &request)?;
        respond(call, &request, (number, index), wish.count).await?;
        if wish.status.is_some() {
            return status(&wish);
        }
        number += u64::from(wish.count.unwrap_or(1));
        index += 1;
    }
    Ok(())
}

/// Applies the wishes of a request that concern the whole call.
fn heed(call: &mut Call, request: &Request) -> Result<Wish, Status> {
    let wish = request.wish.clone().unwrap_or_default();
    let bad = |reason: String| Status::new(GrpcCode::INVALID_ARGUMENT, reason);
    if wish.size > SIZE_MAX {
        return Err(bad(format!("size: at most {SIZE_MAX} bytes")));
    }
    if !wish.encoding.is_empty() {
        call.outlet.encoding = Encoding::parse(&wish.encoding)
            .ok_or_else(|| bad("encoding: identity, gzip or zstd".into()))?;
    }
    call.outlet.oddity = Oddity::try_from(wish.oddity)
        .map_err(|_| bad(format!("oddity: unknown {}", wish.oddity)))?;
    call.outlet.oddity_code = wish.oddity_code;
    Ok(wish)
}

/// Sends the responses to one request; `number` is the number of the first response, `index` the
/// index of the request.
async fn respond(
    call: &mut Call,
    request: &Request,
    (number, index): (u64, u64),
    count: Option<u32>,
) -> Result<(), Ended> {
    let wish = request.wish.as_ref();
    let payload = payload(wish.map_or(0, |wish| wish.size));
    let metadata = match wish {
        Some(wish) if wish.echo_metadata => metadata(call),
        _ => Vec::new(),
    };
    call.pause(time(wish.and_then(|wish| wish.delay.as_ref())))
        .await?;
    let gap = match wish.and_then(|wish| wish.gap.as_ref()) {
        Some(gap) => time(Some(gap)),
        None => call.gap(),
    };
    let start = clock::now();
    for n in 0..u64::from(count.unwrap_or(1)) {
        if n > 0 && gap > Nanos::ZERO {
            // The times are relative to the first response, so they never drift.
            let due = start + Nanos(gap.0.saturating_mul(n));
            call.pause(Nanos(due.0.saturating_sub(clock::now().0)))
                .await?;
        }
        let response = Response {
            number: number + n,
            request: index,
            text: request.text.clone(),
            payload: payload.clone(),
            clock_ns: clock::now().0,
            metadata: metadata.clone(),
        };
        call.send(&response).await?;
    }
    Ok(())
}

/// The requested status.
fn status(wish: &Wish) -> Result<(), Ended> {
    match &wish.status {
        None => Ok(()),
        Some(RpcStatus { code: 0, .. }) => Ok(()),
        Some(status) => Err(Status {
            code: GrpcCode(status.code),
            message: status.message.clone(),
            details: match status.details.is_empty() {
                true => Bytes::new(),
                false => status.encode_to_vec().into(),
            },
        }
        .into()),
    }
}

fn payload(size: u32) -> Bytes {
    Body::filler(size.into()).all()
}

/// A time of up to an hour; a negative one counts as zero.
fn time(duration: Option<&Duration>) -> Nanos {
    let Some(duration) = duration else {
        return Nanos::ZERO;
    };
    let seconds = u64::try_from(duration.seconds).unwrap_or(0).min(3_600);
    let nanos = u64::try_from(duration.nanos).unwrap_or(0);
    Nanos(seconds * 1_000_000_000 + nanos).min(DELAY_MAX)
}

/// The call's metadata, with `-bin` values decoded. A value that is not base64 is left unchanged.
fn metadata(call: &Call) -> Vec<Metadata> {
    let entry = |(name, value): (&http::HeaderName, &http::HeaderValue)| {
        let decoded = name
            .as_str()
            .ends_with("-bin")
            .then(|| LENIENT.decode(value));
        let value = match decoded {
            Some(Ok(bytes)) => bytes.into(),
            _ => Bytes::copy_from_slice(value.as_bytes()),
        };
        Metadata {
            name: name.as_str().to_owned(),
            value,
        }
    };
    call.metadata.iter().map(entry).collect()
}
