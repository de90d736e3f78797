//! The mistakes that ghz finds before it runs, in its order, and the files that it reads.

use super::options::{Options, Texts};
use super::{TOOL, args, schedule, size};
use crate::go_text::{open_failed, quoted};
use crate::grammar::go_json;
use drumfire_compile::Host;
use drumfire_document::{Payload, Text, TlsSettings};
use drumfire_plan::secret;

/// The path of standard input.
const STDIN: &str = "/dev/stdin";

/// The strategies for spreading connections over addresses.
const STRATEGIES: [&str; 3] = ["", "pick_first", "round_robin"];

/// What happens to calls in flight at the end.
const STOPS: [&str; 3] = ["close", "wait", "ignore"];

/// Checks whether the options describe a run. Mistakes that ghz silently ignores are refused too.
///
/// # Errors
/// In ghz's words if it has any.
pub(super) fn check(options: &Options) -> Result<(), String> {
    let wrong = |wrong: bool, text: &str| if wrong { Err(text.to_owned()) } else { Ok(()) };
    let proto = &options.proto;
    wrong(
        !proto.is_empty() && !proto.ends_with(".proto"),
        "proto: must have .proto extension",
    )?;
    wrong(
        options.connections.max(1) > options.concurrency,
        "number of connections cannot be greater than concurrency",
    )?;
    wrong(options.call.is_empty(), "call required")?;
    wrong(options.host.is_empty(), "host required")?;
    wrong(
        options.stream_dynamic && (options.binary || !options.binary_file.is_empty()),
        "cannot use dynamic messages with binary data",
    )?;
    schedule::check(options)?;
    wrong(
        !timed(options) && options.total > 0 && options.skip_first > options.total,
        "you cannot skip more requests than those run",
    )?;
    // A blank value means the default, because a script may pass an empty variable.
    if !options.duration_stop.is_empty() {
        named("duration stop", &options.duration_stop, &STOPS)?;
    }
    named("load balancing strategy", &options.lb_strategy, &STRATEGIES)?;
    wrong(
        options.concurrency > schedule::WORKERS_MAX,
        "concurrency is too high; use at most 65536",
    )?;
    let endless = options.total == 0 && !timed(options) && schedule::is_endless(options);
    wrong(
        endless,
        "a total of 0 would run forever; set a total, a duration or a max duration",
    )
}

/// Whether a duration bounds the run, with or without a total.
fn timed(options: &Options) -> bool {
    options.duration.0 > 0 || options.max_duration.0 > 0
}

fn named(what: &str, text: &str, known: &[&str]) -> Result<(), String> {
    if known.iter().any(|name| name.eq_ignore_ascii_case(text)) {
        return Ok(());
    }
    let near = drumfire_plan::suggestion(text, known.iter().copied());
    Err(format!("unknown {what} {}{near}", quoted(text)))
}

/// The largest messages, in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) receive: u64,
    pub(super) send: u64,
}

/// The maximum sizes of received and sent messages.
///
/// # Errors
/// In ghz's words.
pub(super) fn limits(options: &Options) -> Result<Limits, String> {
    Ok(Limits {
        receive: size::parse("recv", &options.receive_limit)?,
        send: size::parse("send", &options.send_limit)?,
    })
}

/// The data of calls, as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum GivenData {
    /// One empty message.
    Nothing,
    /// JSON, or a template of JSON.
    Json(String),
    /// Encoded messages.
    Binary(Vec<u8>),
}

/// Reads the data from a binary file, standard input, a file or the command line, in this order of
/// precedence.
///
/// # Errors
/// If a file can't be read, or standard input is not JSON.
pub(super) fn data(options: &Options, host: &dyn Host) -> Result<GivenData, String> {
    let read = |path: &str| host.read(path).map_err(|error| open_failed(path, &error));
    // Go's JSON reader replaces invalid UTF-8 by U+FFFD.
    let text = |path: &str| -> Result<String, String> {
        Ok(String::from_utf8_lossy(&read(path)?).into_owned())
    };
    if !options.binary_file.is_empty() {
        return read(&options.binary_file).map(GivenData::Binary);
    }
    if options.binary {
        let bytes = read(STDIN)?;
        // Empty binary data counts as absent.
        if !bytes.is_empty() {
            return Ok(GivenData::Binary(bytes));
        }
    }
    if !options.data_file.is_empty() {
        return text(&options.data_file).map(GivenData::Json);
    }
    match options.data.as_deref() {
        None => Ok(GivenData::Nothing),
        Some(args::STDIN) => {
            let text = text(STDIN)?;
            go_json::check(&text).map_err(|why| {
                let text = secret::excerpt(text.trim_end());
                format!("error unmarshaling data '{text}': {why}")
            })?;
            Ok(GivenData::Json(text))
        }
        Some(text) => Ok(GivenData::Json(text.to_owned())),
    }
}

impl GivenData {
    /// A note on a key that stands twice in a file or in standard input.
    pub(super) fn repeats(&self, options: &Options) -> Option<String> {
        let what = match (options.data_file.as_str(), options.data.as_deref()) {
            ("", Some(args::STDIN)) => "--data @",
            // A text on the command line was noted with its flag.
            ("", _) => return None,
            (path, _) => path,
        };
        match self {
            Self::Json(text) => go_json::repeated(what, text),
            Self::Nothing | Self::Binary(_) => None,
        }
    }

    /// The payload of a document: files as paths, standard input as its content.
    pub(super) fn payload(&self, options: &Options, host: &dyn Host) -> Option<Payload> {
        match self {
            Self::Nothing => None,
            Self::Binary(bytes) if options.binary_file.is_empty() => {
                Some(TOOL.inline("--binary", bytes))
            }
            Self::Binary(bytes) => {
                let path = &options.binary_file;
                Some(TOOL.payload("--binary-file", path, bytes, host))
            }
            Self::Json(text) if options.data_file.is_empty() => {
                Some(TOOL.inline("--data", text.as_bytes()))
            }
            Self::Json(text) => {
                let path = &options.data_file;
                // If the file's bytes differ from the decoded text, the document contains the text.
                let same = host.read(path).is_ok_and(|bytes| bytes == text.as_bytes());
                Some(match same {
                    true => TOOL.payload("--data-file", path, text.as_bytes(), host),
                    false => TOOL.inline("--data-file", text.as_bytes()),
                })
            }
        }
    }
}

/// Metadata keys that grpc-go reserves, in addition to those that begin with a colon.
const RESERVED: [&str; 9] = [
    "content-type",
    "grpc-accept-encoding",
    "grpc-encoding",
    "grpc-message",
    "grpc-message-type",
    "grpc-status",
    "grpc-timeout",
    "host",
    "te",
];

/// Whether grpc-go drops metadata with this key.
pub(super) fn is_reserved(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    key.starts_with(':') || RESERVED.contains(&&*key)
}

/// The metadata, as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum GivenMetadata {
    /// Keys and values, which may be templates.
    Texts(Texts),
    /// The text of a file, which becomes an object after its templates are evaluated.
    Raw(String),
}

impl GivenMetadata {
    /// A note on a key that stands twice in a file.
    pub(super) fn repeats(&self, options: &Options) -> Option<String> {
        match self {
            Self::Raw(text) => go_json::repeated(&options.metadata_file, text),
            Self::Texts(_) => None,
        }
    }

    /// Notes on keys that gRPC reserves. ghz drops them silently.
    pub(super) fn reserved(&self, options: &Options) -> Vec<String> {
        let (what, texts) = match self {
            Self::Texts(texts) => ("--metadata", texts.clone()),
            Self::Raw(text) => {
                let texts = go_json::text_map(text).unwrap_or_default();
                (options.metadata_file.as_str(), texts)
            }
        };
        let of_calls = texts.keys().map(|key| (what, key));
        let of_reflection = options.reflect_metadata.keys();
        let all = of_calls.chain(of_reflection.map(|key| ("--reflect-metadata", key)));
        all.filter(|(_, key)| is_reserved(key))
            .map(|(what, key)| {
                let key = key.escape_debug();
                format!("{what}: the key `{key}` is reserved by gRPC and is not sent")
            })
            .collect()
    }
}

/// Reads the metadata from a file or the command line.
///
/// # Errors
/// If the file can't be read.
pub(super) fn metadata(options: &Options, host: &dyn Host) -> Result<GivenMetadata, String> {
    let path = &options.metadata_file;
    if path.is_empty() {
        return Ok(GivenMetadata::Texts(
            options.metadata.clone().unwrap_or_default(),
        ));
    }
    let bytes = host.read(path).map_err(|error| open_failed(path, &error))?;
    // Go's JSON reader replaces invalid UTF-8 by U+FFFD.
    let text = String::from_utf8_lossy(&bytes).into_owned();
    Ok(GivenMetadata::Raw(text))
}

/// Checks that the file of descriptors can be read.
///
/// # Errors
/// In ghz's words.
pub(super) fn check_schema(options: &Options, host: &dyn Host) -> Result<(), String> {
    let path = &options.protoset;
    if path.is_empty() || !options.proto.is_empty() {
        return Ok(());
    }
    let read = host.read(path).map(drop);
    read.map_err(|error| {
        let why = open_failed(path, &error);
        format!("could not load protoset file {}: {why}", quoted(path))
    })
}

/// The certificates and whether they are verified. The files are read here, so that an unreadable
/// file is reported before the run.
///
/// # Errors
/// In ghz's words, if a file can't be read.
pub(super) fn tls(options: &Options, host: &dyn Host) -> Result<TlsSettings, String> {
    let read = |path: &str| match path {
        "" => Err("open : no such file or directory".to_owned()),
        path => {
            let read = host.read(path).map(drop);
            read.map_err(|error| open_failed(path, &error))
        }
    };
    let pair = |name: &'static str, path: &str| -> Result<Option<Text>, String> {
        read(path).map_err(|why| format!("could not load client key pair: {why}"))?;
        Ok(Some(TOOL.text(name, &path)))
    };
    // A key without a certificate is ignored.
    let (cert, key) = match (options.cert.as_str(), options.key.as_str()) {
        ("", _) => (None, None),
        (cert, key) => (pair("--cert", cert)?, pair("--key", key)?),
    };
    // Without verification no roots are needed, and the file is not read.
    let cacert = match options.cacert.as_str() {
        path if !path.is_empty() && !options.skip_tls => {
            read(path).map_err(|why| format!("could not read ca certificate: {why}"))?;
            Some(TOOL.text("--cacert", &path))
        }
        _ => None,
    };
    // As in grpc-go, the authority is also the server name.
    let server_name = match (options.cname.as_str(), options.authority.as_str()) {
        ("", "") => None,
        ("", authority) => Some(TOOL.text("--authority", &host_of(authority))),
        (cname, _) => Some(TOOL.text("--cname", &cname)),
    };
    Ok(TlsSettings {
        insecure: options.skip_tls.then(|| TOOL.switch("--skipTLS", true)),
        cacert,
        cert,
        key,
        server_name,
        full_handshakes: None,
        resumption: None,
    })
}

/// The host of an authority, without the port.
fn host_of(authority: &str) -> &str {
    let port = authority
        .rsplit_once(':')
        .filter(|(_, port)| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()));
    let host = match port {
        // An IPv6 address without brackets has no port.
        Some((host, _)) if !host.contains(':') || host.ends_with(']') => host,
        _ => authority,
    };
    host.trim_start_matches('[').trim_end_matches(']')
}
