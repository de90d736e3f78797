//! The facts of a plan as the first version of the form had them: a list of keys and texts, which
//! the command line of that time wrote and reports read back.
//!
//! Each text is read as the type that it was written from. One that is not understood becomes a
//! note of the run: the facts of its pool are then left out as a whole, and a threshold keeps at
//! most the result that was stored. Nothing writes this form any more, so that the file never
//! changes with what a plan can say.
//!
//! Keys of a plan with several pools begin with `pools.NAME.`; warm-up, threads and thresholds are
//! of the run and have no such prefix.

use crate::asked::LISTED_MAX;
use crate::codec::{CodecError, Input};
use crate::{
    Asked, AskedBody, AskedCall, AskedHeader, AskedLaw, AskedLoad, AskedRequest, AskedSequence,
    AskedStep, AskedStop, AskedTransport, Listed, PoolInfo, RunInfo,
};
use drumfire_plan::{
    Arrivals, Churn, Growth, HttpVersion, KeepAlive, LatePolicy, Law, Life, Pause, Sequence,
    Streaming, Threshold, Timeouts, Users, VariableId,
};
use drumfire_units::Nanos;
use std::str::FromStr;

/// The keys of a plan that are of no pool.
const WARMUP: &str = "warmup";
const THREADS: &str = "threads";
const RULE: &str = "threshold";
const CONDITION: &str = "abort";

/// One key with its text.
pub(crate) struct Setting<'a> {
    key: &'a str,
    text: &'a str,
}

/// The keys and texts of a plan.
pub(crate) struct PlanText<'a>(Vec<Setting<'a>>);

impl<'a> PlanText<'a> {
    /// Reads the list.
    pub(crate) fn decode(input: &mut Input<'a>) -> Result<Self, CodecError> {
        let settings = input.several(|input| {
            Ok(Setting {
                key: input.text()?,
                text: input.text()?,
            })
        })?;
        Ok(Self(settings))
    }

    /// Adds to a run's facts those that its texts stand for, and notes on texts that stand for
    /// none.
    pub(crate) fn describe(&self, info: &mut RunInfo) {
        let pool = |pool: &PoolInfo| PoolText {
            settings: &self.0,
            prefix: match info.pools.len() {
                1 => String::new(),
                _ => format!("pools.{}.", pool.name),
            },
        };
        let texts: Vec<PoolText<'_>> = info.pools.iter().map(pool).collect();
        for (text, pool) in texts.iter().zip(&mut info.pools) {
            if !text.is_there() {
                continue;
            }
            match text.asked(pool) {
                Ok(asked) => pool.asked = Some(asked),
                Err(Unread(why)) => info.notes.push(format!(
                    "this version can't read the plan of pool {}: {why}",
                    pool.name
                )),
            }
        }
        for Setting { key, text } in &self.0 {
            let rule = match *key {
                RULE => text.parse(),
                CONDITION => Threshold::abort_on(text),
                THREADS => {
                    info.threads_planned = text.parse().unwrap_or(info.threads);
                    continue;
                }
                _ => continue,
            };
            match rule {
                Ok(rule) => info.thresholds.push(rule),
                Err(error) => info.notes.push(format!(
                    "this version can't read the threshold `{text}`, so the rule is not judged \
                     again: {error}"
                )),
            }
        }
    }
}

/// A text that was not understood, with its key.
struct Unread(String);

/// The texts of one pool. The keys of several pools begin with their names.
struct PoolText<'a> {
    settings: &'a [Setting<'a>],
    prefix: String,
}

impl<'a> PoolText<'a> {
    /// Whether the list has any key of this pool; a run without a plan has none.
    fn is_there(&self) -> bool {
        let keys = self.settings.iter().map(|setting| setting.key);
        let mut own = keys.filter_map(|key| key.strip_prefix(&*self.prefix));
        own.any(|key| ![WARMUP, THREADS, RULE, CONDITION].contains(&key))
    }

    /// The texts of the keys that begin with `start`, each with the rest of its key. A key may come
    /// several times, as the fields of a request do.
    fn all(&self, start: &str) -> impl Iterator<Item = Setting<'a>> + use<'a> {
        let start = format!("{}{start}", self.prefix);
        self.settings.iter().filter_map(move |setting| {
            Some(Setting {
                key: setting.key.strip_prefix(&start)?,
                text: setting.text,
            })
        })
    }

    /// The text of a key.
    fn get(&self, key: &str) -> Option<&'a str> {
        let found = self.all(key).find(|setting| setting.key.is_empty());
        found.map(|setting| setting.text)
    }

    fn needed(&self, key: &str) -> Result<&'a str, Unread> {
        let missing = || Unread(format!("`{key}` is missing"));
        self.get(key).ok_or_else(missing)
    }

    /// An error that quotes the text of a key, cut at 64 characters: it becomes a note that people
    /// read.
    fn wrong(&self, key: &str) -> Unread {
        let text: String = self.get(key).unwrap_or_default().chars().take(64).collect();
        Unread(format!("`{key}` is `{text}`"))
    }

    /// The value of a key.
    fn value<T: FromStr>(&self, key: &str) -> Result<T, Unread> {
        self.needed(key)?.parse().map_err(|_| self.wrong(key))
    }

    /// The value of a key that may be missing.
    fn optional<T: FromStr>(&self, key: &str) -> Result<Option<T>, Unread> {
        let value = self.get(key).map(str::parse);
        value.transpose().map_err(|_| self.wrong(key))
    }

    /// The facts of the pool's plan.
    fn asked(&self, pool: &PoolInfo) -> Result<Asked, Unread> {
        Ok(Asked {
            requests: self.requests()?,
            steps: self.steps()?,
            load: self.load()?,
            users: self.users()?,
            stop: AskedStop {
                duration: self.optional("stop.duration")?,
                requests: self.optional("stop.requests")?,
                iterations: self.optional("stop.iterations")?,
            },
            transport: self.transport(pool)?,
        })
    }

    fn requests(&self) -> Result<Listed<AskedRequest>, Unread> {
        let places = (0..LISTED_MAX).map(|index| format!("requests[{index}]"));
        let places = places.take_while(|place| self.get(&format!("{place}.url")).is_some());
        let first = places.map(|place| self.request(&place));
        let first: Vec<AskedRequest> = first.collect::<Result<_, _>>()?;
        let count = self.optional("requests")?;
        Ok(Listed::counted(first, count))
    }

    fn request(&self, place: &str) -> Result<AskedRequest, Unread> {
        let key = |name: &str| format!("{place}.{name}");
        let headers = self.all(&key("header"));
        let headers = headers.filter(|setting| setting.key.is_empty());
        let headers = headers.map(|setting| {
            let (name, value) = setting.text.split_once(": ").unwrap_or((setting.text, ""));
            AskedHeader {
                name: name.to_owned(),
                value: value.to_owned(),
            }
        });
        let body = match self.get(&key("body")) {
            Some(_) => AskedBody::Template,
            None => self
                .optional(&key("body_bytes"))?
                .map_or(AskedBody::None, AskedBody::Bytes),
        };
        Ok(AskedRequest {
            url: self.needed(&key("url"))?.to_owned(),
            method: self.needed(&key("method"))?.to_owned(),
            headers: headers.collect(),
            call: match self.get(&key("call")) {
                Some(name) => Some(self.call(name, place)?),
                None => None,
            },
            body,
        })
    }

    fn call(&self, name: &str, place: &str) -> Result<AskedCall, Unread> {
        let key = |name: &str| format!("{place}.{name}");
        let (service, method) = name
            .rsplit_once('/')
            .ok_or_else(|| self.wrong(&key("call")))?;
        Ok(AskedCall {
            service: service.to_owned(),
            method: method.to_owned(),
            deadline: self.optional(&key("deadline"))?,
            streaming: Streaming {
                send: self.optional(&key("stream.send"))?,
                interval: self.optional(&key("stream.interval"))?.unwrap_or_default(),
                duration: self.optional(&key("stream.duration"))?,
                receive: self.optional(&key("stream.receive"))?,
            },
        })
    }

    fn steps(&self) -> Result<Listed<AskedStep>, Unread> {
        let mut first = Vec::new();
        for index in 0..LISTED_MAX {
            let Some(Setting { key, text }) = self.all(&format!("scenario[{index}].")).next()
            else {
                break;
            };
            let wrong = || Unread(format!("`scenario[{index}].{key}` is `{text}`"));
            first.push(step(key, text).ok_or_else(wrong)?);
        }
        let count = self.optional("scenario")?;
        Ok(Listed::counted(first, count))
    }

    fn load(&self) -> Result<AskedLoad, Unread> {
        let users = "load.users";
        Ok(match (self.get("load.think_time"), self.get(users)) {
            (Some(_), _) => AskedLoad::Closed {
                users: self.value(users)?,
                think: self.value("load.think_time")?,
                pace: self.optional("load.pace")?.unwrap_or_default(),
            },
            (None, Some(_)) => AskedLoad::PerUser {
                users: self.value(users)?,
                law: self.law()?,
                late: self.late()?,
            },
            (None, None) => AskedLoad::Open {
                law: self.law()?,
                arrivals: match self.needed("load.arrivals")? {
                    "constant" => Arrivals::Constant,
                    "poisson" => Arrivals::Poisson,
                    _ => return Err(self.wrong("load.arrivals")),
                },
                late: self.late()?,
            },
        })
    }

    /// The law of the load. A trace was written as the number of its times, so that its times are
    /// read by a function that only counts.
    fn law(&self) -> Result<AskedSequence, Unread> {
        let mut counts = Vec::new();
        let mut read = |inside: &str| {
            let count = inside.strip_suffix(" times").map(str::parse);
            match count {
                Some(Ok(count)) => counts.push(count),
                _ => return Err("not a number of times".to_owned()),
            }
            Ok(Vec::new())
        };
        let law = Sequence::parse_with(self.needed("load.rate")?, &mut read);
        let law = law.map_err(|_| self.wrong("load.rate"))?;
        let mut counts = counts.into_iter();
        let piece = |law| match law {
            Law::Trace { .. } => AskedLaw::Trace {
                times: counts.next().unwrap_or_default(),
            },
            law => AskedLaw::Law(law),
        };
        Ok(AskedSequence(law.0.into_iter().map(piece).collect()))
    }

    fn late(&self) -> Result<LatePolicy, Unread> {
        let key = "load.late";
        let text = self.needed(key)?;
        let after = text.strip_prefix("drop(");
        let after = after.and_then(|after| after.strip_suffix(')')?.parse().ok());
        match (text, after) {
            ("queue", _) => Ok(LatePolicy::Queue),
            ("skip", _) => Ok(LatePolicy::Skip),
            (_, Some(after)) => Ok(LatePolicy::Drop(after)),
            (_, None) => Err(self.wrong(key)),
        }
    }

    /// The number of users over time, as `5 from 0, 9 from 1m`.
    fn users(&self) -> Result<Option<Users>, Unread> {
        let Some(text) = self.get("users") else {
            return Ok(None);
        };
        let change = |text: &str| {
            let (count, at) = text.split_once(" from ")?;
            Some((at.parse().ok()?, count.parse().ok()?))
        };
        let changes: Option<Vec<(Nanos, u32)>> = text.split(", ").map(change).collect();
        let users = changes.and_then(Users::changing);
        users.map(Some).ok_or_else(|| self.wrong("users"))
    }

    fn transport(&self, pool: &PoolInfo) -> Result<AskedTransport, Unread> {
        let connections = self.needed("connections")?;
        let as_needed = connections.strip_prefix("as needed, at most ");
        let count = as_needed.unwrap_or(connections).parse();
        let keep_alive = self.needed("keep_alive")?;
        let limit = keep_alive.strip_suffix(" requests");
        let limit = limit.and_then(|limit| limit.parse().ok());
        Ok(AskedTransport {
            connections: count.map_err(|_| self.wrong("connections"))?,
            growth: match as_needed {
                Some(_) => Growth::AsNeeded,
                None => Growth::Ahead,
            },
            version: match self.get("http") {
                Some(_) => HttpVersion::Http2,
                None => HttpVersion::Http1,
            },
            streams: self.optional("streams")?.unwrap_or(pool.streams),
            keep_alive: match (keep_alive, limit) {
                ("yes", _) => KeepAlive::Yes,
                ("no", _) => KeepAlive::No,
                (_, Some(limit)) => KeepAlive::AtMost(limit),
                (_, None) => return Err(self.wrong("keep_alive")),
            },
            life: Life {
                age: self.optional::<Pause>("connection_age")?,
                churn: self
                    .optional("connection_age.mean")?
                    .map(|mean| Churn { mean }),
                idle: self.optional("connection_idle")?,
            },
            timeouts: Timeouts {
                total: self.value("timeout.total")?,
                connect: self.value("timeout.connect")?,
                tls: self.value("timeout.tls")?,
                head: self.value("timeout.head")?,
            },
            is_compressed: self.get("compressed").is_some(),
            redirects: self.optional("redirects")?,
            is_proxied: false,
        })
    }
}

/// The step that this key and text stand for.
fn step(key: &str, text: &str) -> Option<AskedStep> {
    let place = |list: &str, text: &str| {
        let number = text.strip_prefix(list)?.strip_prefix('[')?;
        number.strip_suffix(']')?.parse().ok()
    };
    Some(match key {
        "request" => AskedStep::Request(place("requests", text)?),
        "pause" => match (text.strip_prefix("until "), text.strip_prefix("at least ")) {
            (Some(time), _) => AskedStep::Until(time.parse().ok()?),
            (_, Some(time)) => AskedStep::AtLeast(time.parse().ok()?),
            (None, None) => AskedStep::Pause(text.parse().ok()?),
        },
        "set" => {
            let variable = text.strip_prefix("variable ")?.parse().ok()?;
            AskedStep::Set(VariableId(variable))
        }
        "if" => AskedStep::If(place("scenario", text.strip_prefix("else ")?)?),
        "jump" => AskedStep::Jump(place("scenario", text)?),
        "repeat" => AskedStep::Repeat(match text {
            "a template" => None,
            times => Some(times.parse().ok()?),
        }),
        "again" => AskedStep::Again(place("scenario", text)?),
        "end" => AskedStep::End,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Model;

    /// The facts of a run with these pools, and nothing that its plan asked.
    fn info(pools: &[&str]) -> RunInfo {
        let pool = |name: &&str| PoolInfo {
            connections: 8,
            ..PoolInfo::new(name, Model::Open, [""; 0])
        };
        RunInfo {
            id: "run".to_owned(),
            threads: 2,
            threads_planned: 2,
            ..RunInfo::new(pools.iter().map(pool).collect())
        }
    }

    fn described(pools: &[&str], settings: &[(&str, &str)]) -> RunInfo {
        let mut info = info(pools);
        let settings = settings.iter().map(|(key, text)| Setting { key, text });
        PlanText(settings.collect()).describe(&mut info);
        info
    }

    /// Keys that every pool had.
    const TRANSPORT: [(&str, &str); 6] = [
        ("connections", "8"),
        ("keep_alive", "yes"),
        ("timeout.total", "30s"),
        ("timeout.connect", "10s"),
        ("timeout.tls", "10s"),
        ("timeout.head", "5124095h34m33s709ms551us615ns"),
    ];

    #[test]
    fn a_pool_of_the_first_version_is_read() {
        let mut settings = vec![
            ("requests[0].url", "http://h.test/?token=***"),
            ("requests[0].method", "POST"),
            ("requests[0].header", "Accept: a: b"),
            ("requests[0].header", "Cookie: ***"),
            ("requests[0].body_bytes", "12"),
            ("requests", "40"),
            ("scenario[0].request", "requests[7]"),
            ("scenario[1].pause", "at least 5s"),
            ("scenario[2].pause", "until 6s"),
            ("scenario[3].pause", "lognormal(1s,0.5)"),
            ("scenario[4].if", "else scenario[9]"),
            ("scenario[5].repeat", "a template"),
            ("scenario[6].end", ""),
            ("load.rate", "trace(12 times) step(1/s,2/s,1/s,1s)"),
            ("load.arrivals", "poisson"),
            ("load.late", "drop(2s)"),
            ("users", "1 from 0, 64 from 1m"),
            ("stop.duration", "8s"),
        ];
        settings.extend(TRANSPORT);
        settings.extend([
            ("warmup", "auto"),
            ("threads", "16"),
            ("threshold", "p99<1s"),
            ("abort", "failed>50%"),
        ]);
        let info = described(&["main"], &settings);
        assert_eq!(info.notes, Vec::<String>::new());
        assert_eq!(info.threads_planned, 16);
        let rules: Vec<String> = info.thresholds.iter().map(ToString::to_string).collect();
        assert_eq!(rules, ["p99<1s", "failed>50%"]);
        assert!(info.thresholds[1].is_condition());
        let asked = info.pools[0].asked.as_ref().unwrap();
        let first = &asked.requests.first[0];
        assert_eq!((asked.requests.count, first.method.as_str()), (40, "POST"));
        assert_eq!(first.headers[0].value, "a: b");
        assert_eq!(first.headers[1].value, "***");
        assert_eq!(first.body, AskedBody::Bytes(12));
        let expected = [
            AskedStep::Request(7),
            AskedStep::AtLeast(Nanos::from_secs(5)),
            AskedStep::Until(Nanos::from_secs(6)),
            AskedStep::Pause("lognormal(1s,0.5)".parse().unwrap()),
            AskedStep::If(9),
            AskedStep::Repeat(None),
            AskedStep::End,
        ];
        assert_eq!(asked.steps.first, expected);
        let AskedLoad::Open { law, late, .. } = &asked.load else {
            panic!("{:?}", asked.load);
        };
        assert_eq!(law.0[0], AskedLaw::Trace { times: 12 });
        assert_eq!(law.to_string(), "trace(12 times) step(1/s,2/s,1/s,1s)");
        assert_eq!(*late, LatePolicy::Drop(Nanos::from_secs(2)));
        assert_eq!(asked.users.as_ref().map(Users::most), Some(64));
        assert_eq!(asked.stop.duration, Some(Nanos::from_secs(8)));
        assert_eq!(asked.transport.timeouts.head, Nanos::MAX);
    }

    #[test]
    fn pools_have_keys_of_their_own() {
        let mut settings = vec![
            ("pools.calls.requests[0].url", "http://h.test/a.B/C"),
            ("pools.calls.requests[0].method", "POST"),
            ("pools.calls.requests[0].call", "a.B/C"),
            ("pools.calls.requests[0].deadline", "1s"),
            ("pools.calls.requests[0].stream.send", "5"),
            ("pools.calls.load.users", "3"),
            ("pools.calls.load.think_time", "exponential(1s)"),
            ("pools.calls.load.pace", "2s"),
            ("pools.calls.http", "2"),
            ("pools.calls.streams", "7"),
            ("pools.calls.redirects", "0"),
            ("pools.calls.connection_age.mean", "10m"),
            ("warmup", "0"),
        ];
        let own = |(key, text)| {
            let key: &'static str = format!("pools.calls.{key}").leak();
            (key, text)
        };
        settings.extend(TRANSPORT.map(own));
        let info = described(&["calls", "other"], &settings);
        assert_eq!(info.notes, Vec::<String>::new());
        assert_eq!(info.pools[1].asked, None);
        let asked = info.pools[0].asked.as_ref().unwrap();
        let call = asked.requests.first[0].call.as_ref().unwrap();
        assert_eq!((call.service.as_str(), call.method.as_str()), ("a.B", "C"));
        assert_eq!(call.streaming.send, Some(5));
        let expected = AskedLoad::Closed {
            users: 3,
            think: "exponential(1s)".parse().unwrap(),
            pace: Nanos::from_secs(2),
        };
        assert_eq!(asked.load, expected);
        let transport = &asked.transport;
        assert_eq!((transport.streams, transport.redirects), (7, Some(0)));
        assert_eq!(transport.version, HttpVersion::Http2);
        let churn = transport.life.churn.map(|churn| churn.mean);
        assert_eq!(churn, Some(Nanos::from_secs(600)));
    }

    #[test]
    fn a_text_that_is_not_understood_is_a_note() {
        let mut settings = vec![
            ("load.rate", "hyperbolic(5/s)"),
            ("load.arrivals", "constant"),
            ("load.late", "queue"),
            ("threshold", "p99<1s"),
            ("threshold", "quality>9"),
            ("abort", "gloom>50%"),
        ];
        settings.extend(TRANSPORT);
        let info = described(&["main"], &settings);
        assert_eq!(info.pools[0].asked, None);
        assert_eq!(info.thresholds.len(), 1);
        let starts = [
            "this version can't read the plan of pool main: `load.rate` is `hyperbolic(5/s)`",
            "this version can't read the threshold `quality>9`, so the rule is not judged again: ",
            "this version can't read the threshold `gloom>50%`, so the rule is not judged again: ",
        ];
        assert_eq!(info.notes.len(), starts.len(), "{:?}", info.notes);
        for (note, start) in info.notes.iter().zip(starts) {
            assert!(note.starts_with(start), "{note}");
        }
        let missing = described(&["main"], &settings[1..3]);
        assert!(
            missing.notes[0].ends_with("`load.rate` is missing"),
            "{:?}",
            missing.notes
        );
    }
}
