//! Turns a configuration into a document.

use super::ammo::{Ammo, Format, Source};
use super::config::{Config, Pool as Configured};
use super::gun::{Clients, GrpcGun, Gun, HttpGun, Loaded, Way};
use super::show::{Presentation, Shown};
use super::{TOOL, fatal, scenario, shot};
use crate::Outcome;
use crate::outcome::{LastWords, Run};
use drumfire_compile::{Host, compile};
use drumfire_document::Diagnostic;
use drumfire_document::{
    CallOptions, CommonFields, Connections, Document, Feed, Http, Kept, Load, Pool, ReachSettings,
    Reflection, SchemaSource, Settings, Stop, TimeoutSettings, TlsSettings,
};
use drumfire_units::Nanos;
use std::sync::Arc;

/// Tokens overdue by more than this time are discarded.
const OVERDUE: Nanos = Nanos::from_secs(2);

/// The timeout of an exchange: a server that hangs must not prevent the end of the run.
const EXCHANGE_MAX: Nanos = Nanos::from_secs(120);

/// Go's client stops at the tenth redirect.
const REDIRECTS: u32 = 9;

/// The User-Agent of the gRPC client.
const GRPC_USER_AGENT: &str = "load test, pandora universal grpc shooter grpc-go/1.62.0";

/// The maximum decoded size of a compressed body.
const DECODED_MAX: &str = "1GiB";

/// Builds a run from a configuration.
///
/// # Errors
/// The mistakes that prevent the run.
pub(super) fn lower(
    config: &Config,
    mut notes: Vec<String>,
    host: &Arc<dyn Host>,
    seed: u64,
) -> Result<Outcome, LastWords> {
    notes.extend(config.notes.iter().cloned());
    let mut pools = Vec::new();
    let mut shown = Vec::new();
    let mut feeds: Vec<Feed> = Vec::new();
    for configured in &config.pools {
        let wrong = |why: String| fatal(&format!("\"{}\" pool: {why}", configured.id));
        let Some(law) = configured.rps.law() else {
            continue;
        };
        if configured.startup.most() == 0 {
            continue;
        }
        let mut made = pool(configured, law, pools.len(), &**host, seed).map_err(wrong)?;
        let own = Shown::from_pool(configured);
        made.pool.settings.kept = kept(&own);
        feeds.extend(made.feeds);
        notes.extend(made.notes);
        shown.push(own);
        pools.push(made.pool);
    }
    let presentation = Presentation::new(config, shown, notes);
    if pools.is_empty() {
        // Nothing is due, or nothing shoots: that is a run that has ended.
        let words =
            "no shots: no pool has both shots in `rps` and instances in `startup`\n".to_owned();
        return Ok(LastWords::on_stderr(words, 0).into());
    }
    let document = Document {
        feeds,
        pools,
        generator: TOOL.generator(seed),
        ..Document::default()
    };
    let plan = compile(&document, host).map_err(|found| refused(&found))?;
    Ok(Outcome::Run(Box::new(Run {
        document,
        plan,
        presentation: Box::new(presentation),
    })))
}

/// The data that a pool's output files need: a sample of each request, and the exchanges in its
/// answer log.
fn kept(shown: &Shown) -> Kept {
    let least = shown.least_status_in_full();
    Kept {
        samples: Some(TOOL.switch("", true)),
        transcripts: least.map(|status| TOOL.text("answlog", &status)),
    }
}

/// All mistakes that prevent the document from becoming a plan.
fn refused(found: &[Diagnostic]) -> LastWords {
    let line = |found: &Diagnostic| {
        // A remedy contains drumfire's own flags.
        let found = Diagnostic {
            remedy: String::new(),
            ..found.clone()
        };
        without_template(&found.to_string())
    };
    let lines: Vec<String> = found.iter().map(line).collect();
    fatal(&lines.join("\n  "))
}

/// A message without the generated template, which the user's configuration does not contain.
fn without_template(message: &str) -> String {
    let parts = message.split_once("in the template `");
    let parts = parts.and_then(|(before, rest)| Some((before, rest.split_once("`: ")?.1)));
    parts.map_or_else(
        || message.to_owned(),
        |(before, why)| format!("{before}{why}"),
    )
}

/// A pool, the feeds that its templates read, and what a reader of its files should know.
struct Made {
    pool: Pool,
    feeds: Vec<Feed>,
    notes: Vec<String>,
}

/// A pool whose rate follows a law.
fn pool(
    configured: &Configured,
    law: String,
    index: usize,
    host: &dyn Host,
    seed: u64,
) -> Result<Made, String> {
    let ammo = &configured.ammo;
    let mut scenarios = Vec::new();
    let mut feeds = Vec::new();
    let mut notes = Vec::new();
    let mut stop = Stop::default();
    let mut requests = Vec::new();
    let loaded = configured.gun.loaded();
    let settings = match (&configured.gun, ammo.format, loaded) {
        (Gun::Http(_), Format::HttpScenario, Loaded::Scenarios)
        | (Gun::Grpc(_), Format::GrpcScenario, Loaded::Scenarios) => {
            let lowered = scenarios_of(configured, index, host, seed)?;
            stop = stop_scenarios(ammo, lowered.per_pass);
            (scenarios, feeds, notes) = (lowered.scenarios, lowered.feeds, lowered.notes);
            let settings = match &configured.gun {
                Gun::Http(gun) => http_settings(configured, gun),
                Gun::Grpc(gun) => grpc_settings(configured, gun),
            };
            Settings {
                templates: None,
                ..settings
            }
        }
        (
            Gun::Http(gun),
            Format::Uri | Format::UriPost | Format::Raw | Format::JsonLine,
            Loaded::Shots,
        ) => {
            let ammo = &shot::limited(ammo, gun, host)?;
            requests = shot::requests(ammo, gun, host)?;
            notes = shot::notes(ammo, gun);
            if gun.way == Way::Connect {
                stop = stop_requests(ammo);
            }
            let mut settings = http_settings(configured, gun);
            if shot::closes(ammo, host)? {
                settings.connections.keepalive = Some(TOOL.switch("headers", false));
            }
            let defaults = shot::defaults(gun).into_iter();
            let defaults = defaults.map(|(name, value)| TOOL.field("target", name, value));
            settings.fields.headers = defaults.collect();
            settings
        }
        (Gun::Grpc(gun), Format::GrpcJson, Loaded::Shots) => {
            requests = vec![shot::calls(ammo, host)?];
            grpc_settings(configured, gun)
        }
        _ => return Err("the gun can't shoot this type of ammo".to_owned()),
    };
    let unique = match index {
        0 => configured.id.clone(),
        index => format!("{}.{index}", configured.id),
    };
    let pool = Pool {
        name: TOOL.text("id", &unique),
        load: load(configured, law),
        settings,
        stop,
        requests,
        // Sends as many of one scenario as its weight, then the next scenario.
        mix: (!scenarios.is_empty()).then(|| TOOL.text("weight", &"blocks")),
        scenarios,
        ..Pool::default()
    };
    Ok(Made { pool, feeds, notes })
}

/// The scenarios of a file.
fn scenarios_of(
    configured: &Configured,
    index: usize,
    host: &dyn Host,
    seed: u64,
) -> Result<scenario::Lowered, String> {
    let gun = match &configured.gun {
        Gun::Http(gun) => Some(&**gun),
        Gun::Grpc(_) => None,
    };
    match &configured.ammo.source {
        Source::File(path) => {
            let file = scenario::read(path, host)?;
            scenario::lower(&file, gun, index, host, seed).map_err(|why| format!("{path}: {why}"))
        }
        Source::Lines(_) => Err("scenarios must be in a file".to_owned()),
    }
}

/// Requests by the law, each sent by a free instance.
fn load(configured: &Configured, law: String) -> Load {
    let late = match configured.discard_overflow {
        true => format!("drop({OVERDUE})"),
        false => "queue".to_owned(),
    };
    // The schedule starts with the first instance that takes a token.
    let first = configured.startup.first();
    let law = match configured.rps_per_instance || first == Nanos::ZERO {
        true => law,
        false => format!("const(0,{first}) {law}"),
    };
    Load {
        rate: Some(TOOL.text("rps", &law)),
        late: Some(TOOL.text("discard_overflow", &late)),
        // For an unlimited rate, the rate of each instance and of all instances is the same: as
        // fast as possible.
        rate_per: (configured.rps_per_instance && !configured.rps.is_unlimited())
            .then(|| TOOL.text("rps-per-instance", &"user")),
        users: configured
            .startup
            .at_once()
            .map(|count| TOOL.text("startup", &count)),
        start: match configured.startup.at_once() {
            Some(_) => None,
            None => Some(TOOL.text("startup", &configured.startup.law())),
        },
        ..Load::default()
    }
}

/// The end of a pool of single requests before the end of its schedule.
fn stop_requests(ammo: &Ammo) -> Stop {
    let count = |name, count| (count > 0).then(|| TOOL.count(name, count));
    Stop {
        requests: count("limit", ammo.limit),
        iterations: count("passes", ammo.passes),
        ..Stop::default()
    }
}

/// The end of a pool of scenarios; each scenario is one iteration.
fn stop_scenarios(ammo: &Ammo, per_pass: u64) -> Stop {
    let bounds = [ammo.limit, ammo.passes.saturating_mul(per_pass)];
    let least = bounds.into_iter().filter(|bound| *bound > 0).min();
    Stop {
        iterations: least.map(|least| TOOL.count("limit", least)),
        ..Stop::default()
    }
}

/// How requests travel.
fn http_settings(configured: &Configured, gun: &HttpGun) -> Settings {
    let scheme = if gun.tls { "https" } else { "http" };
    let target = format!("{scheme}://{}", gun.target);
    let http2 = gun.way == Way::Http2;
    let tunnels = gun.way == Way::Connect;
    Settings {
        reach: ReachSettings {
            target: (!tunnels).then(|| TOOL.text("target", &target)),
            proxy: Some(match tunnels {
                true => {
                    let scheme = if gun.tls_to_proxy { "https" } else { "http" };
                    TOOL.text("target", &format!("{scheme}://{}", gun.target))
                }
                false => TOOL.text("", &"none"),
            }),
            proxy_tunnel: tunnels.then(|| TOOL.switch("type", true)),
            proxy_agent: tunnels.then(|| TOOL.text("type", &shot::USER_AGENT)),
            unresolved: Some(TOOL.text("", &"fail")),
            addresses: Some(TOOL.text("", &"first")),
            ..ReachSettings::default()
        },
        http: Http {
            http: http2.then(|| TOOL.text("type", &2)),
            compressed: gun
                .compressed
                .then(|| TOOL.text("disable-compression", &"gzip")),
            max_decoded: gun
                .compressed
                .then(|| TOOL.text("disable-compression", &DECODED_MAX)),
            redirects: gun.redirects.then(|| TOOL.text("redirect", &REDIRECTS)),
            redirect_style: gun.redirects.then(|| TOOL.text("redirect", &"go")),
            ..Http::default()
        },
        connections: Connections {
            connection_idle: gun.idle.map(|idle| TOOL.text("idle-conn-timeout", &idle)),
            // A connection that Go's client does not keep carries one request.
            requests_per_connection: (!gun.keeps_idle && !http2)
                .then(|| TOOL.count("max-idle-conns-per-host", 1_u64)),
            ..connections(
                configured.startup.most(),
                gun.clients,
                http2,
                gun.keep_alive,
            )
        },
        timeouts: timeouts(gun),
        tls: TlsSettings {
            insecure: (gun.tls || gun.tls_to_proxy).then(|| TOOL.switch("ssl", true)),
            ..TlsSettings::default()
        },
        templates: Some(TOOL.text("", &"none")),
        ..Settings::default()
    }
}

/// How calls travel.
fn grpc_settings(configured: &Configured, gun: &GrpcGun) -> Settings {
    let metadata = gun.reflect_metadata.iter();
    let metadata = metadata.map(|(key, value)| TOOL.field("reflect_metadata", key, value));
    let timeout = || Some(TOOL.bound("timeout", gun.timeout));
    Settings {
        reach: ReachSettings {
            target: Some(TOOL.text("target", &gun.target)),
            plaintext: (!gun.tls).then(|| TOOL.switch("tls", true)),
            proxy: Some(TOOL.text("", &"none")),
            unresolved: Some(TOOL.text("", &"fail")),
            addresses: Some(TOOL.text("", &"first")),
            ..ReachSettings::default()
        },
        connections: connections(configured.startup.most(), gun.clients, true, true),
        timeouts: TimeoutSettings {
            timeout: timeout(),
            connect_timeout: timeout(),
            tls_timeout: timeout(),
            head_timeout: None,
        },
        tls: TlsSettings {
            insecure: gun.tls.then(|| TOOL.switch("tls", true)),
            ..TlsSettings::default()
        },
        schema: SchemaSource {
            reflection: Reflection {
                target: match gun.reflect_port {
                    0 => None,
                    port => Some(TOOL.text("reflect_port", &with_port(&gun.target, port))),
                },
                metadata: metadata.collect(),
            },
            ..SchemaSource::default()
        },
        fields: CommonFields {
            metadata: vec![TOOL.field("type", "user-agent", GRPC_USER_AGENT)],
            ..CommonFields::default()
        },
        options: CallOptions {
            compress: Some(TOOL.text("type", &"identity")),
            authority: gun
                .authority
                .as_ref()
                .map(|name| TOOL.text("authority", name)),
            deadline: Some(TOOL.text("timeout", &gun.timeout)),
            ..CallOptions::default()
        },
        templates: Some(TOOL.text("", &"none")),
        ..Settings::default()
    }
}

/// A target with another port.
fn with_port(target: &str, port: u64) -> String {
    let host = target.rsplit_once(':').map_or(target, |(host, _)| host);
    format!("{host}:{port}")
}

/// One connection per instance, or the connections of shared clients.
fn connections(instances: u64, clients: Clients, http2: bool, keep_alive: bool) -> Connections {
    let (count, streams, session) = match clients {
        Clients::Own => (instances, 1, "user"),
        Clients::Shared(_) if !http2 => (instances, 1, "shared"),
        Clients::Shared(clients) => {
            let clients = clients.min(instances);
            (clients, instances.div_ceil(clients), "shared")
        }
    };
    Connections {
        connections: Some(TOOL.text("startup", &count)),
        streams: http2.then(|| TOOL.count("shared-client", streams)),
        session: Some(TOOL.text("shared-client", &session)),
        cookies: Some(TOOL.text("shared-client", &"none")),
        keepalive: (!keep_alive).then(|| TOOL.switch("disable-keep-alives", false)),
        // Go's client retries a request if a kept connection was closed before it was sent.
        retry_reused: Some(TOOL.switch("", true)),
        retry_style: Some(TOOL.text("", &"go")),
        // Go's client accepts the end of a TLS connection without close_notify.
        no_close_notify: Some(TOOL.switch("", true)),
        // An instance dials for each request, even after failed attempts.
        connect_backoff: Some(TOOL.text("", &Nanos::ZERO)),
        ..Connections::default()
    }
}

/// The timeouts of the phases, and of the whole exchange.
fn timeouts(gun: &HttpGun) -> TimeoutSettings {
    let given = gun.timeouts;
    let head = match given.head {
        Nanos::ZERO => Nanos::MAX,
        head => head,
    };
    let phases = given.dial + given.tls + given.head;
    TimeoutSettings {
        timeout: Some(TOOL.bound("response-header-timeout", EXCHANGE_MAX + phases)),
        connect_timeout: Some(TOOL.bound("dial", given.dial)),
        tls_timeout: Some(TOOL.bound("tls-handshake-timeout", given.tls)),
        head_timeout: Some(TOOL.bound("response-header-timeout", head)),
    }
}
