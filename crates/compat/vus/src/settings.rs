//! The options of a run that are neither scenarios nor thresholds.

use drumfire_k6::parse_duration;
use drumfire_units::Nanos;
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::fmt;
use std::net::{IpAddr, SocketAddr};

/// What is wrong with an option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsError(pub String);

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SettingsError {}

/// An address for a host, from the option `hosts`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostRule {
    /// The name; `*.name` covers all names below it.
    pub host: String,
    /// The port of requests to which the rule applies; `None` for all.
    pub port: Option<u16>,
    /// The address.
    pub address: IpAddr,
    /// The port to connect to; `None` for the port of the request.
    pub to_port: Option<u16>,
}

impl HostRule {
    /// The address for a name and a port, if the rule applies.
    #[must_use]
    pub fn address(&self, host: &str, port: u16) -> Option<SocketAddr> {
        let host = host.to_ascii_lowercase();
        let covers = match self.host.strip_prefix('*') {
            Some(ending) => host.ends_with(ending) && host.len() > ending.len(),
            None => host == self.host,
        };
        let applies = covers && self.port.is_none_or(|own| own == port);
        applies.then(|| SocketAddr::new(self.address, self.to_port.unwrap_or(port)))
    }
}

/// The tags that samples have by default.
const SYSTEM_TAGS: [&str; 13] = [
    "proto",
    "subproto",
    "status",
    "method",
    "url",
    "name",
    "group",
    "check",
    "error",
    "error_code",
    "tls_version",
    "scenario",
    "expected_response",
];

/// Options without effect here, because what they switch does not exist.
const WITHOUT_EFFECT: [&str; 7] = [
    "cloud",
    "ext",
    "features",
    "metricSamplesBufferSize",
    "linger",
    "vus",
    "summaryTimeUnit",
];

/// Options that drumfire lacks.
const REFUSED: [(&str, &str); 12] = [
    (
        "executionSegment",
        "segments are not taken: drumfire cluster runs one plan on several machines",
    ),
    (
        "executionSegmentSequence",
        "segments are not taken: drumfire cluster runs one plan on several machines",
    ),
    ("paused", "the REST API of k6 is not available"),
    ("address", "the REST API of k6 is not available"),
    ("rps", "not available; use an arrival-rate executor"),
    ("httpDebug", "not available"),
    ("tlsAuth", "not available"),
    ("tlsCipherSuites", "not available"),
    ("tlsVersion", "not available"),
    ("blacklistIPs", "not available"),
    ("blockHostnames", "not available"),
    ("localIPs", "not available"),
];

/// The options of a run that are neither scenarios nor thresholds.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "k6 has these switches")]
pub struct Settings {
    /// The simultaneous requests of a call of `batch`.
    pub batch: usize,
    /// The simultaneous requests of a call of `batch` to one host.
    pub batch_per_host: usize,
    /// Whether bodies of responses are dropped unless a request asks for them.
    pub drops_bodies: bool,
    /// Addresses for names.
    pub hosts: Vec<HostRule>,
    /// Whether certificates are not verified.
    pub skips_verification: bool,
    /// The number of redirects that a request follows.
    pub redirects_max: u32,
    /// The least duration of an iteration.
    pub iteration_min: Nanos,
    /// Whether each request has a connection of its own.
    pub closes_connections: bool,
    /// Whether the connections of a user are closed after each iteration.
    pub closes_after_iteration: bool,
    /// Whether users keep their cookies from one iteration to the next.
    pub keeps_cookies: bool,
    /// Whether `setup` is not called.
    pub no_setup: bool,
    /// Whether `teardown` is not called.
    pub no_teardown: bool,
    /// Whether thresholds are not judged.
    pub no_thresholds: bool,
    /// The time for `setup`.
    pub setup_timeout: Nanos,
    /// The time for `teardown`.
    pub teardown_timeout: Nanos,
    /// The tags that samples have.
    pub system_tags: BTreeSet<String>,
    /// Tags of all samples.
    pub tags: Vec<(String, String)>,
    /// Whether failed requests are exceptions.
    pub throws: bool,
    /// The User-Agent of requests.
    pub user_agent: String,
}

impl Settings {
    /// Read the options that are left after scenarios and thresholds.
    ///
    /// # Errors
    ///
    /// The first option that is wrong, or that drumfire lacks.
    pub fn read(options: &Map<String, Value>, user_agent: &str) -> Result<Self, SettingsError> {
        for (name, reason) in REFUSED {
            if options.contains_key(name) {
                return Err(SettingsError(format!("the option `{name}`: {reason}")));
            }
        }
        let keys = Keys(options);
        Ok(Self {
            batch: keys.number("batch", 20)?.max(1),
            batch_per_host: match keys.number("batchPerHost", 6)? {
                0 => usize::MAX,
                number => number,
            },
            drops_bodies: keys.switch("discardResponseBodies")?,
            hosts: keys.hosts()?,
            skips_verification: keys.switch("insecureSkipTLSVerify")?,
            redirects_max: u32::try_from(keys.number("maxRedirects", 10)?).unwrap_or(u32::MAX),
            iteration_min: keys.duration("minIterationDuration", Nanos::ZERO)?,
            closes_connections: keys.switch("noConnectionReuse")?,
            closes_after_iteration: keys.switch("noVUConnectionReuse")?,
            keeps_cookies: keys.switch("noCookiesReset")?,
            no_setup: keys.switch("noSetup")?,
            no_teardown: keys.switch("noTeardown")?,
            no_thresholds: keys.switch("noThresholds")?,
            setup_timeout: keys.duration("setupTimeout", Nanos::from_secs(60))?,
            teardown_timeout: keys.duration("teardownTimeout", Nanos::from_secs(60))?,
            system_tags: keys.system_tags()?,
            tags: keys.tags()?,
            throws: keys.switch("throw")?,
            user_agent: keys
                .text("userAgent")?
                .unwrap_or_else(|| user_agent.to_owned()),
        })
    }

    /// The names of options that have no effect here.
    #[must_use]
    pub const fn without_effect() -> &'static [&'static str] {
        &WITHOUT_EFFECT
    }

    /// Whether samples have a system tag.
    #[must_use]
    pub fn has_tag(&self, name: &str) -> bool {
        self.system_tags.contains(name)
    }
}

struct Keys<'a>(&'a Map<String, Value>);

impl Keys<'_> {
    fn wrong(name: &str, right: &str) -> SettingsError {
        SettingsError(format!("the option `{name}` must be {right}"))
    }

    fn switch(&self, name: &str) -> Result<bool, SettingsError> {
        match self.0.get(name) {
            None => Ok(false),
            Some(Value::Bool(value)) => Ok(*value),
            Some(Value::String(text)) if text == "true" || text == "1" => Ok(true),
            Some(Value::String(text)) if text == "false" || text == "0" => Ok(false),
            Some(_) => Err(Self::wrong(name, "true or false")),
        }
    }

    fn number(&self, name: &str, default: usize) -> Result<usize, SettingsError> {
        let number = match self.0.get(name) {
            None => return Ok(default),
            Some(Value::String(text)) => text.parse().ok(),
            Some(value) => value
                .as_u64()
                .and_then(|number| usize::try_from(number).ok()),
        };
        number.ok_or_else(|| Self::wrong(name, "a whole number from 0"))
    }

    fn duration(&self, name: &str, default: Nanos) -> Result<Nanos, SettingsError> {
        let parsed = match self.0.get(name) {
            None => return Ok(default),
            Some(Value::String(text)) => parse_duration(text),
            Some(Value::Number(number)) => parse_duration(&number.to_string()),
            Some(_) => return Err(Self::wrong(name, "a duration such as \"30s\"")),
        };
        parsed.map_err(|message| SettingsError(format!("the option `{name}`: {message}")))
    }

    fn text(&self, name: &str) -> Result<Option<String>, SettingsError> {
        match self.0.get(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(_) => Err(Self::wrong(name, "a text")),
        }
    }

    fn tags(&self) -> Result<Vec<(String, String)>, SettingsError> {
        let map = match self.0.get("tags") {
            None => return Ok(Vec::new()),
            Some(Value::Object(map)) => map,
            Some(_) => return Err(Self::wrong("tags", "an object")),
        };
        let text = |value: &Value| match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        Ok(map
            .iter()
            .map(|(name, value)| (name.clone(), text(value)))
            .collect())
    }

    fn system_tags(&self) -> Result<BTreeSet<String>, SettingsError> {
        let list: Vec<String> = match self.0.get("systemTags") {
            None => SYSTEM_TAGS.map(str::to_owned).to_vec(),
            Some(Value::Array(list)) => {
                let texts = list.iter().map(|value| value.as_str().map(str::to_owned));
                texts
                    .collect::<Option<_>>()
                    .ok_or_else(|| Self::wrong("systemTags", "a list of names"))?
            }
            Some(Value::String(list)) => {
                list.split(',').map(|name| name.trim().to_owned()).collect()
            }
            Some(_) => return Err(Self::wrong("systemTags", "a list of names")),
        };
        Ok(list.into_iter().collect())
    }

    fn hosts(&self) -> Result<Vec<HostRule>, SettingsError> {
        let wrong = || {
            Self::wrong(
                "hosts",
                "an object such as {\"a.test\": \"127.0.0.1\", \"a.test:443\": \"127.0.0.1:8443\"}",
            )
        };
        let map = match self.0.get("hosts") {
            None => return Ok(Vec::new()),
            Some(Value::Object(map)) => map,
            Some(_) => return Err(wrong()),
        };
        let rule = |(name, value): (&String, &Value)| {
            let text = value.as_str()?;
            let (host, port) = match name.rsplit_once(':') {
                Some((host, port)) => (host, Some(port.parse().ok()?)),
                None => (name.as_str(), None),
            };
            let (address, to_port) = match text.parse::<SocketAddr>() {
                Ok(address) => (address.ip(), Some(address.port())),
                Err(_) => (text.parse().ok()?, None),
            };
            Some(HostRule {
                host: host.to_ascii_lowercase(),
                port,
                address,
                to_port,
            })
        };
        map.iter()
            .map(|entry| rule(entry).ok_or_else(wrong))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Settings, SettingsError> {
        Settings::read(&serde_json::from_str(text).expect(text), "agent")
    }

    #[test]
    fn options_are_read() {
        let settings = read(
            r#"{"batch":5,"hosts":{"*.a.test:80":"127.0.0.1:8080"},"tags":{"a":1},"throw":true,
                "minIterationDuration":"2s","systemTags":["url"],"userAgent":"me"}"#,
        );
        let settings = settings.expect("options");
        assert_eq!((settings.batch, settings.batch_per_host), (5, 6));
        assert_eq!(settings.tags, [("a".to_owned(), "1".to_owned())]);
        assert!(settings.throws && settings.has_tag("url") && !settings.has_tag("name"));
        assert_eq!(settings.iteration_min, Nanos::from_secs(2));
        let [rule] = settings.hosts.as_slice() else {
            panic!("{settings:?}")
        };
        let address = "127.0.0.1:8080".parse().ok();
        assert_eq!(rule.address("X.a.test", 80), address);
        assert_eq!(rule.address("a.test", 80), None);
        assert_eq!(rule.address("x.a.test", 443), None);
        assert_eq!(read("{}").expect("defaults").user_agent, "agent");
    }

    #[test]
    fn mistakes_and_what_is_missing() {
        for (text, message) in [
            (
                r#"{"batch":-1}"#,
                "the option `batch` must be a whole number from 0",
            ),
            (r#"{"throw":3}"#, "the option `throw` must be true or false"),
            (
                r#"{"rps":3}"#,
                "the option `rps`: not available; use an arrival-rate executor",
            ),
        ] {
            assert_eq!(read(text), Err(SettingsError(message.to_owned())), "{text}");
        }
    }
}
