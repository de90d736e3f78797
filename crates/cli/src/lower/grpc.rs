//! From `drumfire grpc`'s flags to a plan.

use super::load::Multiplexing;
use super::{Common, metadata, optional, parsed, transport};
use crate::exit::Failure;
use crate::flags::GrpcFlags;
use crate::input;
use drumfire_data::{Feed, Order, Sources, Template};
use drumfire_plan::{
    Body, Call, CallData, Header, HttpRequest, HttpVersion, MessageCompression, Method as Verb,
    Plan, ReplyCheck, Streaming, Timeouts, Url,
};
use drumfire_schema::{Input, Metadata, Method, ReplyForm};
use drumfire_units::{ByteSize, Nanos};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The target as a URL; `unix:PATH` names a socket beside one for `localhost`.
pub(crate) fn target(flags: &GrpcFlags) -> Result<(Url, Option<PathBuf>), Failure> {
    let text = flags.target.as_str();
    let scheme = if flags.plaintext { "http" } else { "https" };
    if let Some(path) = text.strip_prefix("unix:") {
        let path = path.strip_prefix("//").unwrap_or(path);
        let url = Url::parse(&format!("{scheme}://localhost/")).map_err(Failure::usage)?;
        return Ok((url, Some(PathBuf::from(path))));
    }
    let whole = match text.split_once("://") {
        None => format!("{scheme}://{text}/"),
        Some(("https", _)) if flags.plaintext => {
            return Err(Failure::usage(format!(
                "--plaintext contradicts `{text}`; leave one of them out, or write http://"
            )));
        }
        Some(("http" | "https", _)) => text.to_owned(),
        Some(_) => {
            return Err(Failure::usage(format!(
                "`{}` is no target; write HOST:PORT, a URL with http:// or https://, or unix:PATH",
                text.escape_default()
            )));
        }
    };
    let url = Url::parse(&whole).map_err(Failure::usage)?;
    if url.target != "/" {
        return Err(Failure::usage(format!(
            "the target has a path, `{}`; --call says what is called there",
            url.target
        )));
    }
    Ok((url, None))
}

/// A plan that can reach the target and says nothing yet: what reflection needs.
pub(crate) fn reach(flags: &GrpcFlags) -> Result<Plan, Failure> {
    let (url, socket) = target(flags)?;
    let (mut http, timeouts) = transport::options(&flags.transport, std::slice::from_ref(&url))?;
    http.version = HttpVersion::Http2;
    http.unix_socket = socket.or(http.unix_socket);
    let request = HttpRequest {
        step: flags.call.clone().unwrap_or_else(|| "grpc".to_owned()),
        call: None,
        method: Verb::parse("POST").map_err(Failure::usage)?,
        headers: authority(flags)?,
        body: Body(None),
        url,
    };
    let common = Common {
        load: &flags.load,
        transport: &flags.transport,
        output: &flags.output,
        multiplexing: Multiplexing::Streams(flags.transport.streams),
    };
    super::checked(common.plan(vec![request], http, timeouts)?, &flags.load)
}

fn authority(flags: &GrpcFlags) -> Result<Vec<Header>, Failure> {
    let name = flags.authority.iter();
    name.map(|name| {
        Header::new("host", name.as_bytes())
            .map_err(|error| Failure::usage(format!("--authority: {error}")))
    })
    .collect()
}

/// The plan with the call that the flags describe.
pub(crate) fn with_call(
    flags: &GrpcFlags,
    mut plan: Plan,
    method: &Method,
) -> Result<Plan, Failure> {
    let sources = Arc::new(sources(flags)?);
    let mut data = data(flags, method, &sources)?;
    let mut headers = Vec::new();
    for line in &flags.metadata {
        let header = metadata::parsed("-H", line)?;
        match std::str::from_utf8(header.value()) {
            Ok(value) if !flags.no_templates && !Template::is_static(value) => {
                let varying = Metadata::template(header.name(), value, &sources)
                    .map_err(|error| Failure::usage(format!("-H: {error}")))?;
                data = data.with_metadata(varying);
            }
            _ => {
                metadata::check("-H", &header)?;
                headers.push(header);
            }
        }
    }
    metadata::check_first("-H", &data, plan.seed)?;
    // What there is data for is what can be asked.
    if let Some(count) = data.count() {
        let asked = plan.stop.requests.unwrap_or(u64::MAX);
        plan.stop.requests = Some(asked.min(count));
    }
    let request = &mut plan.requests[0];
    request.url.target = method.path();
    request.headers.extend(headers);
    request.call = Some(Arc::new(call(
        flags,
        method,
        Arc::new(data),
        &plan.timeouts,
    )?));
    super::checked(plan, &flags.load)
}

fn call(
    flags: &GrpcFlags,
    method: &Method,
    data: Arc<dyn CallData>,
    timeouts: &Timeouts,
) -> Result<Call, Failure> {
    let compression = match flags.compress.as_deref() {
        None => MessageCompression::GzipReplies,
        Some("identity") => MessageCompression::Identity,
        Some("gzip") => MessageCompression::Gzip,
        Some("zstd") => MessageCompression::Zstd,
        Some(other) => {
            return Err(Failure::usage(format!(
                "--compress: `{}` is no coding of messages; write gzip, zstd or identity",
                other.escape_default()
            )));
        }
    };
    let deadline = optional::<Nanos>("--deadline", flags.deadline.as_deref())?;
    let deadline = deadline.unwrap_or(timeouts.total);
    let bytes = |flag: &str, text: &str| parsed::<ByteSize>(flag, text).map(|size| size.0);
    Ok(Call {
        service: method.service().to_owned(),
        method: method.name().to_owned(),
        kind: method.kind(),
        data,
        compression,
        deadline: (deadline < Nanos::MAX).then_some(deadline),
        streaming: streaming(flags, method)?,
        receive_limit: bytes("--max-receive", &flags.max_receive)?,
        send_limit: bytes("--max-send", &flags.max_send)?,
        reply_check: (!flags.no_reply_check)
            .then(|| Arc::new(ReplyForm::of(method)) as Arc<dyn ReplyCheck>),
    })
}

/// How a stream is sent and read. What would be without effect is refused.
fn streaming(flags: &GrpcFlags, method: &Method) -> Result<Streaming, Failure> {
    let (sends, receives) = (
        method.kind().client_streams(),
        method.kind().server_streams(),
    );
    for (flag, given, streams, who) in [
        (
            "--stream-count",
            flags.stream_count.is_some(),
            sends,
            "its client",
        ),
        (
            "--stream-interval",
            flags.stream_interval.is_some(),
            sends,
            "its client",
        ),
        (
            "--stream-duration",
            flags.stream_duration.is_some(),
            sends || receives,
            "either side",
        ),
        (
            "--stream-receive",
            flags.stream_receive.is_some(),
            receives,
            "its server",
        ),
    ] {
        if given && !streams {
            return Err(Failure::usage(format!(
                "{flag} is for methods that stream from {who}; {}/{} does not",
                method.service(),
                method.name()
            )));
        }
    }
    Ok(Streaming {
        send: flags.stream_count,
        interval: optional("--stream-interval", flags.stream_interval.as_deref())?
            .unwrap_or_default(),
        duration: optional("--stream-duration", flags.stream_duration.as_deref())?,
        receive: flags.stream_receive,
    })
}

/// What calls send.
fn data(flags: &GrpcFlags, method: &Method, sources: &Arc<Sources>) -> Result<Input, Failure> {
    let order = order("--order", &flags.order)?;
    let Some(value) = &flags.data else {
        return Ok(Input::empty(method));
    };
    let bytes = input::text_or_file("-d", value)?;
    let place = match value.strip_prefix('@') {
        None => "-d".to_owned(),
        Some("-") => "-d: stdin".to_owned(),
        Some(path) => format!("-d: {path}"),
    };
    let wrong = |error: drumfire_plan::DataError| {
        Failure::usage(format!("{place}: {error}{}", file_meant(value)))
    };
    let input = if flags.binary {
        Input::binary(method, &bytes).map_err(wrong)?
    } else {
        let text = String::from_utf8(bytes).map_err(|_| {
            Failure::usage(format!(
                "{place}: the data is not valid UTF-8; say --binary"
            ))
        })?;
        if flags.no_templates {
            Input::json(method, &text).map_err(wrong)?
        } else {
            Input::template(method, &text, sources).map_err(wrong)?
        }
    };
    Ok(input.with_order(order))
}

/// What to say of data that can't be used where it is the name of a file.
fn file_meant(value: &str) -> String {
    match Path::new(value).is_file() {
        true => format!("; `{value}` is a file: -d @{value} sends what is in it"),
        false => String::new(),
    }
}

/// The feeds that templates draw from.
fn sources(flags: &GrpcFlags) -> Result<Sources, Failure> {
    let order = order("--feed-order", &flags.feed_order)?;
    let mut sources = Sources::new();
    for text in &flags.feed {
        let Some((name, path)) = text.split_once('=') else {
            return Err(Failure::usage(format!(
                "--feed: `{}` is not NAME=FILE, such as users=users.csv",
                text.escape_default()
            )));
        };
        let bytes = input::file("--feed", Path::new(path))?;
        let extension = Path::new(path).extension().and_then(|e| e.to_str());
        let feed = match extension {
            Some("jsonl" | "ndjson" | "json") => Feed::from_json_lines(&bytes),
            _ => Feed::from_csv(&bytes),
        };
        let feed = feed.map_err(|error| Failure::usage(format!("--feed: {path}: {error}")))?;
        sources
            .add(name, feed, order)
            .map_err(|error| Failure::usage(format!("--feed: {error}")))?;
    }
    Ok(sources)
}

fn order(flag: &str, text: &str) -> Result<Order, Failure> {
    match text {
        "turn" => Ok(Order::InTurn),
        "random" => Ok(Order::Random),
        "once" => Ok(Order::OnceEach),
        other => Err(Failure::usage(format!(
            "{flag}: `{}` is no order; write turn, random or once",
            other.escape_default()
        ))),
    }
}
