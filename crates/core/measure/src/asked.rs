//! The facts of a pool's plan that reports show with its figures.
//!
//! [`Asked::from_pool`] takes the facts from a [`Pool`] when the run starts. From then on they are
//! values that are stored, sent, read back and compared, and this crate does not use the plan
//! again. Reports choose the texts for them, so that a text can change without a new version of the
//! stored form.
//!
//! Every value here has three properties, for any plan:
//!
//! - It is small. Lists are cut at [`LISTED_MAX`] and contain their full length ([`Listed`]),
//!   bodies are lengths, and a trace is only the number of its times. The facts are part of every
//!   run's record and of every report.
//! - It contains no secrets. URLs and fields are masked by the rules of [`drumfire_plan::secret`]
//!   when they are taken; [`Asked::with_texts`] masks further texts that a session knows to be
//!   secret.
//! - It can be decoded from hostile bytes: its table of forms checks each bound again.

mod law;
mod request;
mod step;

pub use law::{AskedLaw, AskedSequence};
pub use request::{AskedBody, AskedCall, AskedHeader, AskedRequest};
pub use step::AskedStep;

use crate::form;
use crate::form::{Form, FormError, Input, push_number, put_text};
use drumfire_plan::{
    Arrivals, Compressed, Expect, Growth, HttpVersion, KeepAlive, LatePolicy, Life, Load, Pause,
    Pool, Redirects, Timeouts, UserSteps,
};
use drumfire_units::Nanos;

/// The maximum number of entries that the facts contain of each list of a plan.
pub const LISTED_MAX: usize = 16;

/// The facts of a pool's plan: its requests, their schedule, and the connections.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    /// The requests of its list.
    pub requests: Listed<AskedRequest>,
    /// The steps of its scenarios; empty if an arrival is one request.
    pub steps: Listed<AskedStep>,
    /// The rule by which requests start.
    pub load: AskedLoad,
    /// The number of users over time, if the plan changes it: the first [`LISTED_MAX`] changes.
    pub users: Option<UserSteps>,
    /// The ends of the load.
    pub stop: AskedStop,
    /// The connections, and the limits of an exchange.
    pub transport: AskedTransport,
    /// The statuses that are ok, if they are the same for all requests; `None` if they differ, or
    /// if the record of the run lacks them.
    pub expect: Option<Expect>,
}

/// The first entries of a list, and its length. A report shows the entries and the number of
/// further ones.
#[derive(Clone, Debug, PartialEq)]
pub struct Listed<T> {
    /// The first entries, at most [`LISTED_MAX`].
    pub first: Vec<T>,
    /// The number of entries in the whole list.
    pub count: u64,
}

/// The rule by which requests start.
#[derive(Clone, Debug, PartialEq)]
pub enum AskedLoad {
    /// Arrivals by a law.
    Open {
        /// The law.
        law: AskedSequence,
        /// How arrivals are spread.
        arrivals: Arrivals,
        /// What happens to an arrival if no connection is free.
        late: LatePolicy,
    },
    /// Users that start again when they have finished.
    Closed {
        /// The number of users.
        users: u32,
        /// The pause between two iterations of a user.
        think: Pause,
        /// The minimum time between the starts of a user's iterations.
        pace: Nanos,
    },
    /// Arrivals by a law for each user.
    PerUser {
        /// The number of users.
        users: u32,
        /// The law of each.
        law: AskedSequence,
        /// What happens to an arrival whose user is busy.
        late: LatePolicy,
    },
}

/// The ends of a load; the first one applies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AskedStop {
    /// No request starts after this span.
    pub duration: Option<Nanos>,
    /// Exactly this many requests start.
    pub requests: Option<u64>,
    /// Exactly this many iterations start.
    pub iterations: Option<u64>,
}

/// The connections of a pool, and the limits of an exchange.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AskedTransport {
    /// The maximum number of connections to each target.
    pub connections: u32,
    /// When the connections are opened.
    pub growth: Growth,
    /// The version of HTTP.
    pub version: HttpVersion,
    /// The number of simultaneous exchanges on a connection.
    pub streams: u32,
    /// Whether a connection carries more than one request.
    pub keep_alive: KeepAlive,
    /// The age or the number of requests at which a working connection is closed.
    pub life: Life,
    /// The time limits of an exchange.
    pub timeouts: Timeouts,
    /// Whether compressed bodies are accepted and decoded.
    pub is_compressed: bool,
    /// The maximum number of redirects that a request follows; `None` if redirects are not
    /// followed.
    pub redirects: Option<u32>,
    /// Whether the connections lead to a proxy.
    pub is_proxied: bool,
}

/// The facts without the expected statuses, which [`StoredAsked`] appends: the key of a plan is a
/// digest of these bytes, and runs recorded before there were expected statuses keep their key.
impl Form for Asked {
    fn write(value: &Self, out: &mut Vec<u8>) {
        let Self {
            requests,
            steps,
            load,
            users,
            stop,
            transport,
            expect: _,
        } = value;
        form::write(requests, out);
        form::write(steps, out);
        form::write(load, out);
        form::write(users, out);
        form::write(stop, out);
        form::write(transport, out);
    }

    fn read(input: &mut Input<'_>) -> Result<Self, FormError> {
        Ok(Self {
            requests: form::read(input)?,
            steps: form::read(input)?,
            load: form::read(input)?,
            users: form::read(input)?,
            stop: form::read(input)?,
            transport: form::read(input)?,
            expect: None,
        })
    }
}

/// The facts of a pool in the record of a run: 0 if they are unknown; 1 and the facts; or 2, the
/// facts and the expected statuses.
#[derive(Debug)]
pub(crate) struct StoredAsked;

impl Form<Option<Asked>> for StoredAsked {
    fn write(value: &Option<Asked>, out: &mut Vec<u8>) {
        let Some(asked) = value else {
            return push_number(out, 0);
        };
        push_number(out, 1 + u64::from(asked.expect.is_some()));
        form::write(asked, out);
        if let Some(expect) = asked.expect {
            put_text(out, &expect.to_string());
        }
    }

    fn read(input: &mut Input<'_>) -> Result<Option<Asked>, FormError> {
        let has_expect = match input.number()? {
            0 => return Ok(None),
            1 => false,
            2 => true,
            _ => {
                return Err(FormError::Malformed(
                    "the facts of a plan are of an unknown kind",
                ));
            }
        };
        let mut asked: Asked = form::read(input)?;
        if has_expect {
            let text = input.text()?;
            let expect = text.parse().ok();
            let expect = expect.filter(|expect: &Expect| expect.to_string() == text);
            asked.expect = Some(expect.ok_or(FormError::Malformed("no set of statuses"))?);
        }
        Ok(Some(asked))
    }
}

/// The entries, then the length of the whole list.
impl<T: Form> Form for Listed<T> {
    fn write(value: &Self, out: &mut Vec<u8>) {
        form::write(&value.first, out);
        form::write(&value.count, out);
    }

    fn read(input: &mut Input<'_>) -> Result<Self, FormError> {
        let (first, count): (Vec<T>, u64) = form::read(input)?;
        match first.len() <= LISTED_MAX && first.len() as u64 <= count {
            true => Ok(Self { first, count }),
            false => Err(FormError::Malformed(
                "a list with more entries than its length",
            )),
        }
    }
}

form! {
    enum AskedLoad {
        0 => Open { law, arrivals, late },
        1 => Closed { users, think, pace },
        2 => PerUser { users, law, late },
    }
}

form! { struct AskedStop { duration, requests, iterations } }

form! {
    struct AskedTransport {
        connections, growth, version, streams, keep_alive, life, timeouts, is_compressed, redirects,
        is_proxied,
    }
}

impl Asked {
    /// The facts of a pool.
    #[must_use]
    pub fn from_pool(pool: &Pool) -> Self {
        let steps = pool.program.scenarios().map_or(&[][..], |all| all.steps());
        Self {
            requests: Listed::from_list(&pool.requests, AskedRequest::from_request),
            steps: Listed::from_list(steps, AskedStep::from_step),
            load: AskedLoad::from_load(&pool.load),
            users: pool.users.as_ref().and_then(first_changes),
            stop: AskedStop {
                duration: pool.stop.duration,
                requests: pool.stop.requests,
                iterations: pool.stop.iterations,
            },
            transport: AskedTransport::from_pool(pool),
            expect: common_expect(pool),
        }
    }

    /// The facts, with every text that a person wrote replaced by the result of `rewrite`: URLs,
    /// methods, fields, and the names of services and methods.
    #[must_use]
    pub fn with_texts(mut self, rewrite: &dyn Fn(&str) -> String) -> Self {
        for request in &mut self.requests.first {
            request.rewrite_texts(rewrite);
        }
        self
    }
}

impl<T> Listed<T> {
    /// The first entries of a list, as facts.
    pub(crate) fn from_list<S>(list: &[S], fact: impl Fn(&S) -> T) -> Self {
        Self {
            first: list.iter().take(LISTED_MAX).map(fact).collect(),
            count: list.len() as u64,
        }
    }
}

/// The statuses that are ok for every request; `None` if requests differ, or if no status is ok.
fn common_expect(pool: &Pool) -> Option<Expect> {
    let mut all = pool
        .requests
        .iter()
        .map(|request| request.expect.unwrap_or(pool.expect));
    let first = all.next()?;
    (first != Expect::NONE && all.all(|other| other == first)).then_some(first)
}

/// The first changes of a number of users.
fn first_changes(users: &UserSteps) -> Option<UserSteps> {
    let first = users.changes().iter().take(LISTED_MAX);
    UserSteps::changing(first.copied().collect())
}

impl AskedLoad {
    fn from_load(load: &Load) -> Self {
        match load {
            Load::Open {
                rate,
                arrivals,
                late,
            } => Self::Open {
                law: AskedSequence::from_sequence(rate),
                arrivals: *arrivals,
                late: *late,
            },
            Load::Closed { users, think, pace } => Self::Closed {
                users: *users,
                think: *think,
                pace: *pace,
            },
            Load::PerUser { users, rate, late } => Self::PerUser {
                users: *users,
                law: AskedSequence::from_sequence(rate),
                late: *late,
            },
        }
    }

    /// The late policy, if the load has arrivals.
    #[must_use]
    pub const fn late(&self) -> Option<LatePolicy> {
        match self {
            Self::Open { late, .. } | Self::PerUser { late, .. } => Some(*late),
            Self::Closed { .. } => None,
        }
    }
}

impl AskedTransport {
    fn from_pool(pool: &Pool) -> Self {
        let connections = &pool.connections;
        Self {
            connections: connections.count,
            growth: connections.growth,
            version: pool.http.version,
            streams: connections.streams,
            keep_alive: connections.keep_alive,
            life: connections.life,
            timeouts: pool.timeouts,
            is_compressed: pool.http.compressed != Compressed::AsSent,
            redirects: match pool.http.redirects {
                Redirects::Follow(limit) => Some(limit),
                Redirects::Report | Redirects::Refuse => None,
            },
            is_proxied: pool.reach.proxy.is_some(),
        }
    }
}
