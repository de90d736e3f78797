//! Turns a ghz command line into a document.

use super::options::{Options, Texts};
use super::render::Presentation;
use super::setup::{self, GivenData, GivenMetadata, Limits, is_reserved};
use super::target::{self, Target};
use super::words::Words;
use super::{Mistake, TOOL, schedule};
use crate::grammar::go_json;
use crate::outcome::Run;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use drumfire_compile::{Host, compile, schema_of};
use drumfire_document::{
    Ask, CallOptions, Connections, Count, Data, Document, Fields, Generator, Kept, Load, Pool,
    ReachSettings, Reflection, Request, SchemaSource, Settings, Stop, Stream, Text,
    TimeoutSettings,
};
use drumfire_plan::{CallKind, Law, UserSteps};
use drumfire_schema::reflection::Wanted;
use drumfire_units::Nanos;
use std::sync::Arc;

/// The maximum number of concurrent calls if nothing else bounds them (`--async`).
const IN_FLIGHT_MAX: u32 = 16_384;

/// The shortest interval between grpc-go's keepalive pings.
const SILENCE_MIN: Nanos = Nanos::from_secs(10);

/// Builds a run from the options.
pub(super) fn lower(options: &Options, host: &Arc<dyn Host>, seed: u64) -> Result<Run, Mistake> {
    let limits = setup::limits(options).map_err(Mistake::Line)?;
    setup::check(options)?;
    let tls = setup::tls(options, &**host)?;
    let data = setup::data(options, &**host)?;
    let metadata = setup::metadata(options, &**host)?;
    setup::check_schema(options, &**host)?;
    let target = target::parse(&options.host, scheme(options), "/")?;
    let users = (!options.asynchronous).then(|| schedule::workers(options));
    let mut document = Document {
        pools: vec![Pool {
            name: TOOL.text("", &"main"),
            load: load(options, users.as_ref()),
            settings: Settings {
                reach: reach(options, target),
                connections: connections(options, users.as_ref()),
                timeouts: timeouts(options),
                tls,
                schema: schema(options),
                options: call_options(options, limits),
                // ghz's report needs each call.
                kept: Kept {
                    samples: Some(TOOL.switch("", true)),
                    transcripts: None,
                },
                ..Settings::default()
            },
            requests: vec![request(options, &data, &metadata, &**host)],
            ..Pool::default()
        }],
        stop: stop(options),
        thresholds: options
            .thresholds
            .iter()
            .map(|text| TOOL.text("--threshold", text))
            .collect(),
        generator: generator(options, seed),
        ..Document::default()
    };
    let words = Words {
        options,
        data: &data,
        metadata: &metadata,
    };
    let wanted = Wanted::call(&options.call).map_err(|error| error.to_string())?;
    let schema =
        schema_of(&document, &wanted, host).map_err(|found| words.first_message(&found))?;
    let method = schema.method(&options.call);
    let method = method.map_err(|error| error.to_string())?;
    let pool = &mut document.pools[0];
    pool.requests[0].stream = stream(options, method.kind());
    pool.settings.reach.unresolved = Some(TOOL.text("", &"fail"));
    let plan = compile(&document, host).map_err(|found| words.first_message(&found))?;
    let presentation = Presentation::new(options, &plan, &data, &metadata, host)?;
    Ok(Run {
        document,
        plan,
        presentation: Box::new(presentation),
    })
}

const fn scheme(options: &Options) -> &'static str {
    match options.insecure {
        true => "http",
        false => "https",
    }
}

/// The target of calls: the address as a URL, with its port.
fn reach(options: &Options, target: Target) -> ReachSettings {
    let address = match &target.unix_socket {
        Some(path) => format!("unix:{}", path.display()),
        None => target.url.origin.to_string(),
    };
    ReachSettings {
        target: Some(TOOL.text("", &address)),
        plaintext: options.insecure.then(|| TOOL.switch("--insecure", true)),
        addresses: Some(TOOL.text("--lb-strategy", &addresses(options))),
        proxy: Some(TOOL.text("", &"none")),
        ..ReachSettings::default()
    }
}

/// Like grpc-go: the first address that accepts a connection, unless gRPC itself resolves the name
/// and its addresses take turns.
fn addresses(options: &Options) -> &'static str {
    let in_turn = options.lb_strategy.eq_ignore_ascii_case("round_robin");
    match in_turn && target::is_resolved_by_grpc(&options.host) {
        true => "turn",
        false => "first",
    }
}

/// When calls start, and the users that make them; with `--async` there are no users.
fn load(options: &Options, users: Option<&UserSteps>) -> Load {
    let ends = Ends::from_options(options);
    let rate = schedule::rate(options, ends.requests, ends.duration);
    let unlimited = || Law::Unlimited {
        duration: Nanos::MAX,
    };
    Load {
        rate: rate
            .or_else(|| users.is_none().then(unlimited))
            .map(|law| TOOL.text("--rps", &law)),
        // With `--async`, no call waits for a worker, and calls use the connections in turn.
        users: Some(match users {
            Some(users) => TOOL.text("--concurrency", &users_text(users)),
            None => TOOL.text("--async", &IN_FLIGHT_MAX),
        }),
        ..Load::default()
    }
}

/// A number of users, or its changes over time: `const(2,1s) const(4,1s) const(5)`.
fn users_text(users: &UserSteps) -> String {
    let changes = users.changes();
    if let [(_, count)] = changes {
        return count.to_string();
    }
    let mut pieces = Vec::with_capacity(changes.len());
    for (n, (start, count)) in changes.iter().enumerate() {
        pieces.push(match changes.get(n + 1) {
            Some((end, _)) => format!("const({count},{})", *end - *start),
            None => format!("const({count})"),
        });
    }
    pieces.join(" ")
}

/// The end of the run.
struct Ends {
    duration: Option<Nanos>,
    requests: Option<u64>,
}

impl Ends {
    /// Reads the ends. Without `-x`, `-z` overrides `-n`. With `-x`, `-z` is ignored and `-n` also
    /// applies.
    fn from_options(options: &Options) -> Self {
        let total = (options.total > 0).then_some(options.total);
        let (duration, requests) = match (options.max_duration, options.duration) {
            (Nanos::ZERO, Nanos::ZERO) => (None, total),
            (Nanos::ZERO, duration) => (Some(duration), None),
            (longest, _) => (Some(longest), total),
        };
        Self { duration, requests }
    }
}

fn stop(options: &Options) -> Stop {
    let Ends { duration, requests } = Ends::from_options(options);
    let drain = match options.duration_stop.to_ascii_lowercase().as_str() {
        "wait" => "wait",
        "ignore" => "ignore",
        _ => "close",
    };
    Stop {
        after: duration.map(|duration| TOOL.text("--duration", &duration)),
        requests: requests.map(|total| TOOL.count("--total", total)),
        drain: Some(TOOL.text("--duration-stop", &drain)),
        ..Stop::default()
    }
}

/// The connections, and the number of concurrent calls on each.
fn connections(options: &Options, users: Option<&UserSteps>) -> Connections {
    let count = connection_count(options);
    let most = users.map_or(IN_FLIGHT_MAX, UserSteps::most);
    let keepalive = options.keepalive;
    let pings = keepalive > Nanos::ZERO;
    // One duration for the idle time before a ping and for the wait for its answer. grpc-go, and
    // therefore ghz, raises the idle time to its minimum.
    let silence = keepalive.max(SILENCE_MIN);
    Connections {
        connections: Some(TOOL.text("--connections", &count)),
        streams: Some(TOOL.count("--concurrency", most.div_ceil(count).max(1))),
        // In ghz, a worker has its own connection, or always shares one with the same workers.
        session: Some(TOOL.text("--connections", &"user")),
        ping: pings.then(|| TOOL.text("--keepalive", &silence)),
        ping_timeout: pings.then(|| TOOL.text("--keepalive", &keepalive)),
        ..Connections::default()
    }
}

fn connection_count(options: &Options) -> u32 {
    options.connections.clamp(1, u64::from(u32::MAX)) as u32
}

/// A call's timeout bounds the whole call; opening a connection has a separate timeout.
fn timeouts(options: &Options) -> TimeoutSettings {
    let connect = || Some(TOOL.text("--connect-timeout", &options.connect_timeout));
    TimeoutSettings {
        timeout: Some(TOOL.text("--timeout", &options.timeout)),
        connect_timeout: connect(),
        tls_timeout: connect(),
        head_timeout: None,
    }
}

/// The source of the schema: files, or otherwise the server.
fn schema(options: &Options) -> SchemaSource {
    let given = |name: &'static str, text: &String| -> Option<Text> {
        (!text.is_empty()).then(|| TOOL.text(name, text))
    };
    let proto = given("--proto", &options.proto);
    let metadata = options.reflect_metadata.iter();
    SchemaSource {
        protoset: match proto {
            Some(_) => None,
            None => given("--protoset", &options.protoset),
        },
        proto: proto.into_iter().collect(),
        import_path: options
            .import_paths
            .iter()
            .map(|folder| TOOL.text("--import-paths", folder))
            .collect(),
        reflection: Reflection {
            target: None,
            metadata: metadata
                .filter(|(key, _)| !is_reserved(key))
                .map(|(key, value)| {
                    let key = key.to_ascii_lowercase();
                    // ghz decodes the binary values of calls, but not of reflection.
                    let value = match key.ends_with("-bin") {
                        true => STANDARD.encode(value),
                        false => value.clone(),
                    };
                    TOOL.field("--reflect-metadata", &key, &value)
                })
                .collect(),
        },
    }
}

/// Whether a text is an object of texts for any JSON reader.
fn is_plain(text: &str) -> bool {
    serde_json::from_str::<std::collections::BTreeMap<String, String>>(text).is_ok()
}

/// The metadata of calls. A file stays a file unless it has keys that are dropped, or is valid only
/// for Go's JSON reader.
fn fields(options: &Options, metadata: &GivenMetadata) -> Fields {
    let listed = |flag: &'static str, texts: &Texts| {
        let texts = texts.iter().filter(|(key, _)| !is_reserved(key));
        let field =
            |(key, value): (&String, &String)| TOOL.field(flag, &key.to_ascii_lowercase(), value);
        Fields::Listed(texts.map(field).collect())
    };
    let text = match metadata {
        GivenMetadata::Texts(texts) => return listed("--metadata", texts),
        GivenMetadata::Raw(text) => text,
    };
    match go_json::text_map(text) {
        _ if text.trim().is_empty() => Fields::default(),
        Ok(texts) if texts.keys().any(|key| is_reserved(key)) || !is_plain(text) => {
            listed("--metadata-file", &texts)
        }
        _ => Fields::File(TOOL.text("--metadata-file", &options.metadata_file)),
    }
}

/// The options of every call.
fn call_options(options: &Options, limits: Limits) -> CallOptions {
    let authority = match (options.authority.as_str(), options.cname.as_str()) {
        ("", cname) if options.insecure || cname.is_empty() => None,
        ("", cname) => Some(TOOL.text("--cname", &cname)),
        (authority, _) => Some(TOOL.text("--authority", &authority)),
    };
    CallOptions {
        authority,
        // Go's client supports gzip and announces it in every call.
        compress: options
            .compression
            .then(|| TOOL.text("--enable-compression", &"gzip")),
        max_receive: Some(TOOL.text("--max-recv-message-size", &limits.receive)),
        max_send: Some(TOOL.text("--max-send-message-size", &limits.send)),
        ..CallOptions::default()
    }
}

/// The call.
fn request(
    options: &Options,
    data: &GivenData,
    metadata: &GivenMetadata,
    host: &dyn Host,
) -> Request {
    let templates = match (options.no_templates, options.no_functions) {
        (true, _) => TOOL.text("--disable-template-data", &"go-none"),
        (false, true) => TOOL.text("--disable-template-functions", &"go-builtin"),
        (false, false) => TOOL.text("--data", &"go"),
    };
    Request {
        fields: fields(options, metadata),
        data: Data {
            payload: data.payload(options, host),
            binary: matches!(data, GivenData::Binary(_)).then(|| TOOL.switch("--binary", true)),
            templates: Some(templates),
            worker_name: (!options.name.is_empty()).then(|| TOOL.text("--name", &options.name)),
            // With `--async`, workers take calls in turn.
            workers: options
                .asynchronous
                .then(|| TOOL.count("--concurrency", options.concurrency)),
            ..Data::default()
        },
        ..Request::new(Ask::Call(TOOL.text("--call", &options.call)))
    }
}

/// How streams proceed. A client stream that only time ends repeats its data.
fn stream(options: &Options, kind: CallKind) -> Stream {
    let count = (options.stream_call_count > 0).then_some(options.stream_call_count);
    let duration = options.stream_call_duration;
    let duration = (duration > Nanos::ZERO && kind != CallKind::Unary).then_some(duration);
    let endless = duration.map(|_| u64::MAX);
    let counted = |count: Option<u64>| -> Option<Count> {
        count.map(|count| TOOL.count("--stream-call-count", count))
    };
    let interval = options.stream_interval;
    let paused = kind.client_streams() && interval > Nanos::ZERO;
    Stream {
        count: counted(count.or(endless).filter(|_| kind.client_streams())),
        interval: paused.then(|| TOOL.text("--stream-interval", &interval)),
        duration: duration.map(|span| TOOL.text("--stream-call-duration", &span)),
        receive: counted(count.filter(|_| kind == CallKind::ServerStream)),
        refresh: options
            .stream_dynamic
            .then(|| TOOL.text("--stream-dynamic-messages", &"message")),
    }
}

/// The settings of the generator.
fn generator(options: &Options, seed: u64) -> Generator {
    let threads = options.cpus.min(u64::from(u32::MAX));
    Generator {
        threads: (threads > 0).then(|| TOOL.count("--cpus", threads)),
        ..TOOL.generator(seed)
    }
}
