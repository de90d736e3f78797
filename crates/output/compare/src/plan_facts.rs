//! The lowered plan of a run: its facts as keys and texts, in the order of the plan.
//!
//! The facts of a plan are values ([`drumfire_measure::Asked`]). This module converts them to the
//! keys and texts of a plan file, if a plan file has them. JSON contains the whole list, so that a
//! stored run documents its plan. The list is never parsed: facts are stored as values.
//!
//! A list has only its first entries. If it is longer, a key with the list's name contains its
//! length.
//!
//! The list contains every setting that the document or a default decided, because readers of a
//! stored run must not need the defaults of the version that made it. Settings that the plan does
//! not have are omitted.
//!
//! [`settings`] visits the facts in the order of a plan file and appends a key for each fact
//! (`Settings::push`). Keys of a list have an index (`requests[0].url`), and keys of a pool start
//! with the pool's name. If a key occurs twice, both entries count. Append a new fact at its place
//! in a plan, and never change the name of a key, because stored runs are compared by their keys.
//!
//! Scripts read the list in the JSON of a run, or the facts next to a stored run, to find the keys
//! in which two runs differ. Therefore the order depends only on the facts, and equal values have
//! equal texts: texts come from the exact `Display` of the values, and never from the rounded texts
//! of a page.
//!
//! Facts of the run as a whole (its warm-up, its threads, its thresholds) follow the facts of all
//! pools, without a prefix.

use drumfire_measure::{
    Asked, AskedBody, AskedCall, AskedLoad, AskedRequest, AskedStep, AskedTransport, RunInfo,
};
use drumfire_plan::{Growth, HttpVersion, KeepAlive, LatePolicy, Life, secret};
use drumfire_units::Nanos;

/// A key of a plan with its text. Texts may contain secrets in URLs and headers: mask them with
/// [`Setting::masked`] before printing.
#[derive(Debug)]
pub struct Setting {
    /// The key, such as `keep_alive`.
    pub key: String,
    /// The value, as in a plan file.
    pub text: String,
}

impl Setting {
    /// The text without secrets in URLs and headers.
    #[must_use]
    pub fn masked(&self) -> String {
        secret::setting(&self.key, &self.text)
    }
}

/// The lowered plan. With several pools, the keys of each pool start with `pools.NAME.`. Headers,
/// thresholds and conditions repeat one key.
///
/// A pool with an unknown plan has no facts and adds no keys.
#[must_use]
pub fn settings(info: &RunInfo) -> Vec<Setting> {
    let mut all = Settings::default();
    for pool in &info.pools {
        all.prefix = match &info.pools[..] {
            [_] => String::new(),
            _ => format!("pools.{}.", pool.name),
        };
        if let Some(asked) = &pool.asked {
            all.pool(asked);
        }
    }
    all.prefix.clear();
    all.push("warmup", info.warmup.to_string());
    all.push("threads", info.threads_planned.to_string());
    for threshold in &info.thresholds {
        let key = match threshold.is_condition() {
            true => "abort",
            false => "threshold",
        };
        all.push(key, threshold.expression.clone());
    }
    all.list
}

/// The masked texts of the plan by key, in the order of the plan. A key that occurs several times
/// (headers, thresholds) has several texts.
#[must_use]
pub fn texts(info: &RunInfo) -> Vec<(String, Vec<String>)> {
    let mut all: Vec<(String, Vec<String>)> = Vec::new();
    for setting in settings(info) {
        let text = setting.masked();
        match all.iter_mut().find(|(key, _)| *key == setting.key) {
            Some((_, texts)) => texts.push(text),
            None => all.push((setting.key, vec![text])),
        }
    }
    all
}

/// A late policy, as written in a plan.
#[must_use]
pub fn late(policy: LatePolicy) -> String {
    match policy {
        LatePolicy::Queue => "queue".to_owned(),
        LatePolicy::Skip => "skip".to_owned(),
        LatePolicy::Drop(after) => format!("drop({after})"),
    }
}

/// The settings so far, and the prefix of the next keys: the prefix of the current pool.
#[derive(Default)]
struct Settings {
    list: Vec<Setting>,
    prefix: String,
}

impl Settings {
    /// Adds a setting under the prefix. Keys such as headers may repeat; the list keeps all
    /// entries.
    fn push(&mut self, key: &str, text: String) {
        let key = format!("{}{key}", self.prefix);
        self.list.push(Setting { key, text });
    }

    /// Adds an optional setting, if it has a value.
    fn push_given<T: ToString>(&mut self, key: &str, value: Option<T>) {
        if let Some(value) = value {
            self.push(key, value.to_string());
        }
    }

    /// Adds the facts of one pool: requests, steps, load, users, end and transport.
    fn pool(&mut self, asked: &Asked) {
        for (index, request) in asked.requests.first.iter().enumerate() {
            self.request(&format!("requests[{index}]"), request);
        }
        if asked.requests.count > asked.requests.first.len() as u64 {
            self.push("requests", asked.requests.count.to_string());
        }
        for (index, one) in asked.steps.first.iter().enumerate() {
            let Setting { key, text } = step(one);
            self.push(&format!("scenario[{index}].{key}"), text);
        }
        if asked.steps.count > asked.steps.first.len() as u64 {
            self.push("scenario", asked.steps.count.to_string());
        }
        self.load(&asked.load);
        if let Some(users) = &asked.users {
            let changes = users.changes().iter();
            let changes = changes.map(|(at, count)| format!("{count} from {at}"));
            self.push("users", changes.collect::<Vec<_>>().join(", "));
        }
        self.push_given("stop.duration", asked.stop.duration);
        self.push_given("stop.requests", asked.stop.requests);
        self.push_given("stop.iterations", asked.stop.iterations);
        self.transport(&asked.transport);
    }

    /// Adds a request's URL, method, headers, call and body. For a body, only the size is a fact:
    /// the bytes are the user's data, and may be many.
    fn request(&mut self, place: &str, request: &AskedRequest) {
        self.push(&format!("{place}.url"), request.url.clone());
        self.push(&format!("{place}.method"), request.method.clone());
        for header in &request.headers {
            let line = format!("{}: {}", header.name, header.value);
            self.push(&format!("{place}.header"), line);
        }
        if let Some(call) = &request.call {
            self.call(place, call);
        }
        match request.body {
            AskedBody::None => {}
            AskedBody::Bytes(count) => {
                self.push(&format!("{place}.body_bytes"), count.to_string());
            }
            AskedBody::Template => self.push(&format!("{place}.body"), "a template".to_owned()),
        }
    }

    /// Adds a gRPC call to the facts of its request. Omits bounds of a stream that the plan does
    /// not set, because unlimited has no text.
    fn call(&mut self, place: &str, call: &AskedCall) {
        let name = format!("{}/{}", call.service, call.method);
        self.push(&format!("{place}.call"), name);
        self.push_given(&format!("{place}.deadline"), call.deadline);
        let streaming = &call.streaming;
        self.push_given(&format!("{place}.stream.send"), streaming.send);
        self.push_given(&format!("{place}.stream.receive"), streaming.receive);
        let interval = Some(streaming.interval).filter(|interval| *interval > Nanos::ZERO);
        self.push_given(&format!("{place}.stream.interval"), interval);
        self.push_given(&format!("{place}.stream.duration"), streaming.duration);
    }

    /// Adds the load: a law, a law for each user, or users that wait for responses. Only the first
    /// two have a late policy, because a user that waits is never late.
    fn load(&mut self, load: &AskedLoad) {
        match load {
            AskedLoad::Open { law, arrivals, .. } => {
                self.push("load.rate", law.to_string());
                self.push("load.arrivals", arrivals.to_string());
            }
            AskedLoad::PerUser { users, law, .. } => {
                self.push("load.users", users.to_string());
                self.push("load.rate", law.to_string());
                self.push("load.rate_per", "user".to_owned());
            }
            AskedLoad::Closed { users, think, pace } => {
                self.push("load.users", users.to_string());
                self.push("load.think_time", think.to_string());
                self.push_given("load.pace", Some(*pace).filter(|pace| *pace > Nanos::ZERO));
            }
        }
        self.push_given("load.late", load.late().map(late));
    }

    /// Adds the connections and the limits of an exchange. Settings of HTTP/2 are omitted for
    /// HTTP/1.1, where they have no effect.
    fn transport(&mut self, transport: &AskedTransport) {
        let count = transport.connections;
        let connections = match transport.growth {
            Growth::Ahead => count.to_string(),
            Growth::AsNeeded => format!("as needed, at most {count}"),
        };
        self.push("connections", connections);
        if transport.version == HttpVersion::Http2 {
            self.push("http", "2".to_owned());
            self.push("streams", transport.streams.to_string());
        }
        let keep_alive = match transport.keep_alive {
            KeepAlive::Yes => "yes".to_owned(),
            KeepAlive::No => "no".to_owned(),
            KeepAlive::AtMost(limit) => format!("{limit} requests"),
        };
        self.push("keep_alive", keep_alive);
        let Life { age, churn, idle } = transport.life;
        self.push_given("connection_age", age);
        self.push_given("connection_age.mean", churn.map(|churn| churn.mean));
        self.push_given("connection_idle", idle);
        let timeouts = &transport.timeouts;
        self.push("timeout.total", timeouts.total.to_string());
        self.push("timeout.connect", timeouts.connect.to_string());
        self.push("timeout.tls", timeouts.tls.to_string());
        self.push("timeout.head", timeouts.head.to_string());
        if transport.is_compressed {
            self.push("compressed", "yes".to_owned());
        }
        self.push_given("redirects", transport.redirects);
        if transport.is_proxied {
            self.push("proxy", "yes".to_owned());
        }
    }
}

/// The key and the text of a step. Targets of jumps are indices in the list. Steps that the
/// compiler generates from a plan's blocks (`if`, `jump`, `again`) have separate keys, which do not
/// occur in plan files.
fn step(step: &AskedStep) -> Setting {
    let (key, text) = match step {
        AskedStep::Request(request) => ("request", format!("requests[{request}]")),
        AskedStep::Pause(pause) => ("pause", pause.to_string()),
        AskedStep::Until(time) => ("pause", format!("until {time}")),
        AskedStep::AtLeast(time) => ("pause", format!("at least {time}")),
        AskedStep::Set(variable) => ("set", format!("variable {}", variable.0)),
        AskedStep::If(otherwise) => ("if", format!("else scenario[{otherwise}]")),
        AskedStep::Jump(to) => ("jump", format!("scenario[{to}]")),
        AskedStep::Repeat(Some(times)) => ("repeat", times.to_string()),
        AskedStep::Repeat(None) => ("repeat", "a template".to_owned()),
        AskedStep::Again(start) => ("again", format!("scenario[{start}]")),
        AskedStep::End => ("end", String::new()),
        AskedStep::PauseGiven => ("pause", "computed".to_owned()),
    };
    let key = key.to_owned();
    Setting { key, text }
}
