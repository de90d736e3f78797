//! Guns: how a pool sends its requests.

use super::section::{ConfigSection, Entry};
use drumfire_compile::is_unsent_over_http2;
use drumfire_units::Nanos;

/// The types of guns.
const TYPES: [&str; 7] = [
    "connect",
    "grpc",
    "grpc/scenario",
    "http",
    "http/scenario",
    "http2",
    "http2/scenario",
];

/// gRPC resolvers that leave a target unchanged.
const RESOLVERS: [&str; 2] = ["dns:///", "passthrough:///"];

/// The default maximum idle time of a connection.
const IDLE: Nanos = Nanos::from_secs(90);

/// The default timeout of a call.
const CALL_TIMEOUT: Nanos = Nanos::from_secs(15);

/// How a pool sends its requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Gun {
    /// HTTP requests.
    Http(Box<HttpGun>),
    /// gRPC calls.
    Grpc(Box<GrpcGun>),
}

/// The content of a gun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Loaded {
    /// Single requests or calls.
    Shots,
    /// Scenarios of requests or calls.
    Scenarios,
}

/// How HTTP requests travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// HTTP/1.1.
    Http1,
    /// HTTP/2, over TLS or with prior knowledge.
    Http2,
    /// HTTP/1.1 through a tunnel; the target is the proxy.
    Connect,
}

/// A gun that sends HTTP requests.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "one field a key, and these keys are switches"
)]
pub(super) struct HttpGun {
    pub(super) way: Way,
    pub(super) loaded: Loaded,
    /// `host:port`.
    pub(super) target: String,
    pub(super) tls: bool,
    /// Whether the connection to the proxy of a tunnel uses TLS.
    pub(super) tls_to_proxy: bool,
    pub(super) redirects: bool,
    pub(super) keep_alive: bool,
    /// Whether an idle connection is kept for another request.
    pub(super) keeps_idle: bool,
    /// The time after which an idle connection is closed.
    pub(super) idle: Option<Nanos>,
    /// Whether the requests accept gzip.
    pub(super) compressed: bool,
    pub(super) timeouts: HttpTimeouts,
    pub(super) clients: Clients,
    pub(super) auto_tag: Option<AutoTagSettings>,
    pub(super) answer_log: Option<AnswerLog>,
    /// Whether result rows contain sizes.
    pub(super) sizes: bool,
    /// Whether result rows contain the times of phases.
    pub(super) phases: bool,
}

impl HttpGun {
    /// Whether a header of this name is sent. Go's client, too, leaves out what HTTP/2 lacks.
    pub(super) fn sends(&self, name: &str) -> bool {
        self.way != Way::Http2 || !is_unsent_over_http2(name)
    }

    /// A note on a header that is not sent; `what` is the place of the header.
    pub(super) fn note(&self, what: &str, name: &str) -> Option<String> {
        let name = (!self.sends(name)).then(|| name.escape_debug())?;
        Some(format!(
            "{what}: the header `{name}` is not sent over HTTP/2"
        ))
    }
}

/// The timeouts of an exchange's phases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HttpTimeouts {
    pub(super) dial: Nanos,
    pub(super) tls: Nanos,
    /// The timeout for the response head; 0 means none.
    pub(super) head: Nanos,
}

/// Whether instances share connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Clients {
    /// Each instance has its own connections.
    Own,
    /// All instances share the connections of this many clients.
    Shared(u64),
}

/// How tags are generated from paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AutoTagSettings {
    /// The number of path elements in a tag.
    pub(super) elements: u64,
    /// Whether ammo that already has a tag keeps only that tag.
    pub(super) untagged_only: bool,
}

/// The destination of logged requests and responses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AnswerLog {
    pub(super) path: String,
    pub(super) filter: AnswerFilter,
}

/// Which responses are logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AnswerFilter {
    /// All of them.
    All,
    /// Responses with a status of at least 400.
    Warning,
    /// Responses with a status of at least 500.
    Error,
}

/// A gun that calls gRPC methods.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct GrpcGun {
    pub(super) loaded: Loaded,
    /// `host:port`.
    pub(super) target: String,
    pub(super) tls: bool,
    pub(super) timeout: Nanos,
    /// The port for reflection; 0 means the target's port.
    pub(super) reflect_port: u64,
    pub(super) reflect_metadata: Vec<(String, String)>,
    pub(super) authority: Option<String>,
    pub(super) clients: Clients,
    pub(super) answer_log: Option<AnswerLog>,
}

impl Gun {
    /// Reads a gun; `None` if its type is unknown.
    pub(super) fn read(entry: &Entry<'_>) -> Option<Self> {
        let mut section = entry.section()?;
        let kind = section.plugin("core.Gun", &TYPES)?;
        let loaded = match kind.ends_with("/scenario") {
            true => Loaded::Scenarios,
            false => Loaded::Shots,
        };
        let way = match kind {
            "http2" | "http2/scenario" => Way::Http2,
            "connect" => Way::Connect,
            _ => Way::Http1,
        };
        let gun = match kind.starts_with("grpc") {
            true => Self::Grpc(Box::new(grpc(&mut section, loaded))),
            false => Self::Http(Box::new(http(&mut section, way, loaded))),
        };
        section.finish();
        Some(gun)
    }

    /// What the gun sends.
    pub(super) fn loaded(&self) -> Loaded {
        match self {
            Self::Http(gun) => gun.loaded,
            Self::Grpc(gun) => gun.loaded,
        }
    }

    /// The log of answers, if it is on.
    pub(super) fn answer_log(&self) -> Option<&AnswerLog> {
        match self {
            Self::Http(gun) => gun.answer_log.as_ref(),
            Self::Grpc(gun) => gun.answer_log.as_ref(),
        }
    }
}

fn http(section: &mut ConfigSection<'_>, way: Way, loaded: Loaded) -> HttpGun {
    let target = target(section, &[]);
    let tls = section.bool("ssl", way == Way::Http2);
    let tls_to_proxy = section.bool("connect-ssl", false);
    let timeouts = HttpTimeouts {
        tls: section.span("tls-handshake-timeout", Nanos::from_secs(1)),
        head: section.bound("response-header-timeout"),
        dial: dial(section),
    };
    // These limits apply to the idle connections of Go's client. drumfire keeps as many connections
    // as instances, or none if the limit is negative.
    section.signed("max-idle-conns", 0);
    let keeps_idle = section.signed("max-idle-conns-per-host", 0) >= 0;
    let idle = section.span("idle-conn-timeout", IDLE);
    section.span("expect-continue-timeout", Nanos::from_secs(1));
    let mut trace = section.section("httptrace");
    let mut traced = |key| trace.as_mut().is_some_and(|trace| trace.bool(key, false));
    let (sizes, phases) = (traced("dump"), traced("trace"));
    if let Some(trace) = trace {
        trace.finish();
    }
    HttpGun {
        way,
        loaded,
        target,
        tls,
        tls_to_proxy,
        redirects: section.bool("redirect", false),
        keep_alive: !section.bool("disable-keep-alives", false),
        keeps_idle,
        // 0 means unlimited.
        idle: Some(idle).filter(|idle| *idle > Nanos::ZERO),
        compressed: !section.bool("disable-compression", true),
        timeouts,
        clients: clients(section),
        auto_tag: auto_tag(section),
        answer_log: answer_log(section, AnswerFilter::Error),
        sizes,
        phases,
    }
}

/// `host:port` or `:port`, optionally after the name of a resolver.
fn target(section: &mut ConfigSection<'_>, resolvers: &[&str]) -> String {
    let Some(target) = section.text("target") else {
        section.wrong("target", "validation failed on the 'required' tag");
        return String::new();
    };
    let mut resolvers = resolvers.iter();
    let bare = resolvers.find_map(|name| target.strip_prefix(name));
    let target = bare.unwrap_or(&target).to_owned();
    let is_endpoint = target.rsplit_once(':').is_some_and(|(host, port)| {
        let is_host = !host.contains(|c: char| c == '/' || c.is_whitespace());
        is_host && port.parse::<u16>().is_ok()
    });
    if !is_endpoint {
        section.wrong(
            "target",
            "validation failed on the 'endpoint' tag; use HOST:PORT",
        );
    }
    match target.starts_with(':') {
        true => format!("localhost{target}"),
        false => target,
    }
}

/// The timeout for dialing; the other keys concern only Go.
fn dial(section: &mut ConfigSection<'_>) -> Nanos {
    let usual = Nanos::from_secs(3);
    let Some(mut dial) = section.section("dial") else {
        return usual;
    };
    let timeout = dial.span("timeout", usual);
    dial.bool("dns-cache", true);
    dial.bool("dual-stack", true);
    dial.span("fallback-delay", Nanos::ZERO);
    dial.span("keep-alive", Nanos::from_secs(120));
    dial.finish();
    timeout
}

fn clients(section: &mut ConfigSection<'_>) -> Clients {
    let Some(mut shared) = section.section("shared-client") else {
        return Clients::Own;
    };
    let number = shared.signed("client-number", 1).max(1).unsigned_abs();
    let clients = match shared.bool("enabled", false) {
        true => Clients::Shared(number),
        false => Clients::Own,
    };
    shared.finish();
    clients
}

fn auto_tag(section: &mut ConfigSection<'_>) -> Option<AutoTagSettings> {
    let mut tags = section.section("auto-tag")?;
    let made = AutoTagSettings {
        elements: tags.count("uri-elements", 2, 1),
        untagged_only: tags.bool("no-tag-only", true),
    };
    let enabled = tags.bool("enabled", false);
    tags.finish();
    enabled.then_some(made)
}

fn answer_log(section: &mut ConfigSection<'_>, usual: AnswerFilter) -> Option<AnswerLog> {
    let mut log = section.section("answlog")?;
    let path = log.text("path").unwrap_or_else(|| "answ.log".to_owned());
    let filter = match log.text("filter").as_deref() {
        None => usual,
        Some("all") => AnswerFilter::All,
        Some("warning") => AnswerFilter::Warning,
        Some("error") => AnswerFilter::Error,
        Some(other) => {
            let other = other.escape_debug();
            let message = format!("unknown filter `{other}`; use all, warning or error");
            log.wrong("filter", message);
            usual
        }
    };
    let enabled = log.bool("enabled", false);
    log.finish();
    enabled.then_some(AnswerLog { path, filter })
}

/// The port of the server's reflection; 0 is that of its calls.
fn reflect_port(section: &mut ConfigSection<'_>) -> u64 {
    let port = section.count("reflect_port", 0, 0);
    if u16::try_from(port).is_err() {
        let message = format!("{port} is not a port; use 1 to 65535");
        section.wrong("reflect_port", message);
    }
    port
}

fn grpc(section: &mut ConfigSection<'_>, loaded: Loaded) -> GrpcGun {
    let mut authority = None;
    let target = target(section, &RESOLVERS);
    if let Some(mut dial) = section.section("dial_options") {
        authority = dial.text("authority");
        dial.span("timeout", Nanos::from_secs(1));
        dial.finish();
    }
    let reflect_metadata = section.text_map("reflect_metadata");
    GrpcGun {
        loaded,
        target,
        tls: section.bool("tls", false),
        timeout: match section.span("timeout", CALL_TIMEOUT) {
            Nanos::ZERO => CALL_TIMEOUT,
            timeout => timeout,
        },
        reflect_port: reflect_port(section),
        reflect_metadata,
        authority,
        clients: clients(section),
        answer_log: answer_log(section, AnswerFilter::All),
    }
}
