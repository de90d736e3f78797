//! Short notation for plans.

use crate::Said;
use drumfire_plan::{
    Affinity, Arrivals, Body, Call, CallKind, ClockChoice, Connections, Cookies, Expect, Flaw,
    Generator, Growth, HttpOptions, HttpRequest, HttpVersion, KeepAlive, KeepAliveHints,
    LatePolicy, Life, Load, Method, Pause, Plan, PlanParts, Pool, Program, Reach, ReusedClosed,
    Samples, Sequence, Spread, Stop, Threads, Threshold, Timeouts, Transcripts, Url, UserSteps,
    WaitChoice, Warmup,
};
use drumfire_units::Nanos;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// A plan under construction: by default GET `http://sut/` on one connection and one thread. All
/// fields of its pool can be changed directly; further pools can be added.
#[derive(Clone, Debug)]
pub struct Draft {
    pool: Pool,
    others: Vec<Pool>,
    /// The settings of the generator.
    pub generator: Generator,
    /// The rules that the result must satisfy.
    pub thresholds: Vec<Threshold>,
}

impl Deref for Draft {
    type Target = Pool;

    fn deref(&self) -> &Pool {
        &self.pool
    }
}

impl DerefMut for Draft {
    fn deref_mut(&mut self) -> &mut Pool {
        &mut self.pool
    }
}

/// An open-model plan with a rate law such as `const(500,10s)`.
///
/// # Panics
/// If the text is not a rate law.
#[must_use]
pub fn open(law: &str) -> Draft {
    draft(Load::Open {
        rate: sequence(law),
        arrivals: Arrivals::Constant,
        late: LatePolicy::Queue,
    })
}

/// A plan with `users` users, each with a separate connection and a separate rate law such as
/// `const(5,10s)`.
///
/// # Panics
/// If the text is not a rate law.
#[must_use]
pub fn per_user(law: &str, users: u32) -> Draft {
    let load = Load::PerUser {
        users,
        rate: sequence(law),
        late: LatePolicy::Queue,
    };
    draft(load).connections(users)
}

#[expect(clippy::panic, reason = "a script with a wrong law is a wrong test")]
fn sequence(law: &str) -> Sequence {
    match law.parse() {
        Ok(rate) => rate,
        Err(error) => panic!("`{law}`: {error:?}"),
    }
}

/// A closed-model plan with `users` users, each with a separate connection.
#[must_use]
pub fn closed(users: u32) -> Draft {
    let load = Load::Closed {
        users,
        think: Pause::NONE,
        pace: Nanos::ZERO,
    };
    draft(load).connections(users)
}

fn draft(load: Load) -> Draft {
    let pool = Pool {
        name: "main".to_owned(),
        requests: vec![get("http://sut/")],
        program: Program::default(),
        load,
        users: None,
        stop: Stop::default(),
        reach: Reach::default(),
        http: HttpOptions::default(),
        connections: Connections {
            opening: drumfire_plan::Opening::Waiting,
            count: 1,
            streams: 1,
            keep_alive: KeepAlive::Yes,
            reused_closed: ReusedClosed::Fail,
            hints: KeepAliveHints::Ignore,
            tls_end: drumfire_plan::TlsEnd::Confirmed,
            growth: Growth::Ahead,
            affinity: Affinity::Shared,
            backoff_max: Nanos::from_millis(100),
            spread: Spread::Turn,
            ping: None,
            life: Life::default(),
        },
        timeouts: Timeouts::default(),
        expect: Expect::default(),
        begun: 0,
        cookies: Cookies::Ignore,
        samples: Samples::Forget,
        transcripts: Transcripts::None,
    };
    Draft {
        pool,
        others: Vec::new(),
        generator: Generator {
            threads: Threads::Exactly(1),
            wait: WaitChoice::Sleep,
            clock: ClockChoice::Program,
            seed: 1,
            warmup: Warmup::NONE,
            interval: Nanos::from_secs(1),
        },
        thresholds: Vec::new(),
    }
}

/// GET of a URL, in a step with its own name.
#[expect(clippy::panic, reason = "a script with a wrong URL is a wrong test")]
fn get(url: &str) -> HttpRequest {
    let parsed = match Url::parse(url) {
        Ok(parsed) => parsed,
        Err(error) => panic!("`{url}`: {error}"),
    };
    HttpRequest {
        step: url.to_owned(),
        ..HttpRequest::new(Method::get(), parsed)
    }
}

impl Draft {
    /// Times responses with this clock.
    #[must_use]
    pub fn clock(mut self, clock: ClockChoice) -> Self {
        self.generator.clock = clock;
        self
    }

    /// GETs of these URLs in turn, each in a separate step.
    #[must_use]
    pub fn to(mut self, urls: &[&str]) -> Self {
        self.pool.requests = urls.iter().map(|url| get(url)).collect();
        self
    }

    /// Makes every request a POST with this body.
    ///
    /// # Panics
    /// Never: POST is a method.
    #[must_use]
    #[expect(clippy::expect_used, reason = "POST is a token")]
    pub fn posting(mut self, body: &[u8]) -> Self {
        for request in &mut self.pool.requests {
            request.method = Method::parse("POST").expect("POST is a token");
            request.body = Body(Some(body.into()));
        }
        self
    }

    /// Sets the number of connections to each target.
    #[must_use]
    pub fn connections(mut self, count: u32) -> Self {
        self.pool.connections.count = count;
        self
    }

    /// Uses HTTP/2, with this number of concurrent exchanges on each connection.
    #[must_use]
    pub fn http2(mut self, streams: u32) -> Self {
        self.pool.http.version = HttpVersion::Http2;
        self.pool.connections.streams = streams;
        self
    }

    /// Makes every request a gRPC call of this kind, over HTTP/2.
    ///
    /// # Panics
    /// Never: POST is a method.
    #[must_use]
    pub fn calls(self, kind: CallKind, said: Said) -> Self {
        self.calls_with(kind, said, |_| {})
    }

    /// Makes every request a gRPC call of this kind, with changes to the call.
    ///
    /// # Panics
    /// Never: POST is a method.
    #[must_use]
    #[expect(clippy::expect_used, reason = "POST is a token")]
    pub fn calls_with(self, kind: CallKind, said: Said, change: impl FnOnce(&mut Call)) -> Self {
        let mut call = said.call(kind);
        change(&mut call);
        let call = Arc::new(call);
        let streams = self.pool.connections.streams;
        let mut draft = self.http2(streams);
        for request in &mut draft.pool.requests {
            request.method = Method::parse("POST").expect("POST is a token");
            request.url.target = format!("/{}/{}", call.service, call.method);
            request.call = Some(Arc::clone(&call));
        }
        draft
    }

    /// Sets a number of users that changes over time; a closed load gets the maximum.
    #[must_use]
    pub fn users(mut self, changes: UserSteps) -> Self {
        if let Load::Closed { users, .. } | Load::PerUser { users, .. } = &mut self.pool.load {
            *users = changes.most();
        }
        self.pool.users = Some(changes);
        self
    }

    /// Sets the number of workers.
    #[must_use]
    pub fn threads(mut self, count: u32) -> Self {
        self.generator.threads = Threads::Exactly(count);
        self
    }

    /// Starts no requests after this time.
    #[must_use]
    pub fn lasts(mut self, duration: Nanos) -> Self {
        self.pool.stop.duration = Some(duration);
        self
    }

    /// Sends exactly `count` requests.
    #[must_use]
    pub fn requests(mut self, count: u64) -> Self {
        self.pool.stop.requests = Some(count);
        self
    }

    /// Sends the list exactly `count` times.
    #[must_use]
    pub fn iterations(mut self, count: u64) -> Self {
        self.pool.stop.iterations = Some(count);
        self
    }

    /// Does not measure this span at the start.
    #[must_use]
    pub fn warmup(mut self, span: Nanos) -> Self {
        self.generator.warmup = Warmup::Span(span);
        self
    }

    /// Makes arrivals random, at the same rate.
    #[must_use]
    pub fn poisson(mut self) -> Self {
        if let Load::Open { arrivals, .. } = &mut self.pool.load {
            *arrivals = Arrivals::Poisson;
        }
        self
    }

    /// Sets what happens to arrivals without a free connection.
    #[must_use]
    pub fn late(mut self, policy: LatePolicy) -> Self {
        if let Load::Open { late, .. } | Load::PerUser { late, .. } = &mut self.pool.load {
            *late = policy;
        }
        self
    }

    /// Sets the pause between a user's requests.
    #[must_use]
    pub fn thinks(mut self, time: Nanos) -> Self {
        if let Load::Closed { think, .. } = &mut self.pool.load {
            *think = Pause::constant(time);
        }
        self
    }

    /// Sets the seed of the plan's random numbers.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.generator.seed = seed;
        self
    }

    /// Changes the pool in any other way.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Pool)) -> Self {
        change(&mut self.pool);
        self
    }

    /// Sets the length of an interval.
    #[must_use]
    pub fn interval(mut self, interval: Nanos) -> Self {
        self.generator.interval = interval;
        self
    }

    /// Sets the name of the pool.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        name.clone_into(&mut self.pool.name);
        self
    }

    /// Adds another draft's pools to the run, under separate names. The generator keeps this
    /// draft's settings.
    #[must_use]
    pub fn beside(mut self, other: Self) -> Self {
        self.others.push(other.pool);
        self.others.extend(other.others);
        self
    }

    /// Builds the plan.
    ///
    /// # Errors
    /// The flaws that prevent it from running.
    pub fn plan(&self) -> Result<Plan, Vec<Flaw>> {
        let first = std::iter::once(self.pool.clone());
        Plan::new(PlanParts {
            name: None,
            pools: first.chain(self.others.iter().cloned()).collect(),
            generator: self.generator,
            thresholds: self.thresholds.clone(),
        })
    }
}
