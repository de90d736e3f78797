//! From a document to a plan.
//!
//! ```text
//! document ─► pool over defaults ─► load · transport · requests ─► plan ─► its own check
//!                                          │
//!                              calls: reach ─► schema ─► method ─► data
//! ```
//!
//! Every step notes mistakes and goes on with defaults, so that all mistakes are reported at once.
//! A server is asked only where there were none before.

use crate::call::{Calls, Made, silent};
use crate::diagnostic::Diagnostic;
use crate::form::fields::Fields as _;
use crate::host::Host;
use crate::load::{self, Multiplexing};
use crate::requests;
use crate::schema;
use crate::scope::{Scope, is_on};
use crate::target::{self, CallTarget};
use crate::transport;
use crate::{check, feeds};
use drumfire_data::Sources;
use drumfire_plan::document::{Ask, Document, Generator as WrittenGenerator, Place, Pool, Text};
use drumfire_plan::{
    Expect, Generator, HttpRequest, HttpVersion, Plan, PlanParts, Samples, Spin, Threshold, Url,
};
use drumfire_schema::Schema;
use drumfire_schema::reflection::Wanted;
use drumfire_units::Nanos;
use std::sync::Arc;

/// The default seed of all random values.
const SEED_DEFAULT: u64 = 1;
/// The length of an interval.
const INTERVAL_DEFAULT: Nanos = Nanos::from_secs(1);

/// The plan that a document describes.
///
/// # Errors
/// Everything that keeps it from being run.
pub fn compile(document: &Document, host: &Arc<dyn Host>) -> Result<Plan, Vec<Diagnostic>> {
    let mut scope = Scope::new(host);
    let sources = feeds::sources(&document.feeds, &mut scope);
    let Some(pool) = pool_of(document, &mut scope) else {
        return Err(scope.found.into_inner());
    };
    let parts = match is_of_calls(&pool, &mut scope) {
        true => calls(document, &pool, &sources, &mut scope),
        false => Some(http(document, &pool, &mut scope)),
    };
    let plan = parts.and_then(|parts| check::checked(parts, document, &pool, &mut scope));
    finished(scope, plan)
}

/// The schema of the calls of a document's pool.
///
/// # Errors
/// Everything that keeps it from being had.
pub fn schema_of(
    document: &Document,
    wanted: &Wanted,
    host: &Arc<dyn Host>,
) -> Result<Schema, Vec<Diagnostic>> {
    let mut scope = Scope::new(host);
    let schema = pool_of(document, &mut scope).and_then(|pool| {
        let reach = reach(document, &pool, &mut scope)?;
        let written = &pool.settings.schema;
        schema::schema(written, &reach, wanted, &Place::Nowhere, &mut scope)
    });
    finished(scope, schema)
}

/// The result, or the mistakes found on the way.
fn finished<T>(scope: Scope<'_>, made: Option<T>) -> Result<T, Vec<Diagnostic>> {
    match made.filter(|_| scope.found.is_empty()) {
        Some(made) => Ok(made),
        None => Err(scope.found.into_inner()),
    }
}

/// A document's one pool, filled in from the document's defaults.
fn pool_of(document: &Document, scope: &mut Scope<'_>) -> Option<Pool> {
    let mut pools = document.pools.iter();
    let Some(first) = pools.next() else {
        let message = "there is nothing to send; write a pool with requests";
        scope.found.add(&Place::Nowhere, message);
        return None;
    };
    if let Some(second) = pools.next() {
        let message = "a run has one pool as yet; write a plan for each";
        scope.found.add(&second.name.place, message);
    }
    let mut pool = first.clone();
    pool.settings.fill(&document.defaults);
    pool.stop.fill(&document.stop);
    Some(pool)
}

/// Whether a pool makes gRPC calls; one that does both is refused.
fn is_of_calls(pool: &Pool, scope: &mut Scope<'_>) -> bool {
    let calls = |ask: &Ask| matches!(ask, Ask::Call(_));
    let asks = || pool.requests.iter().map(|request| &request.ask);
    let is_of_calls = asks().any(calls);
    if is_of_calls
        && let Some(Ask::Url { url: text, .. } | Ask::List { file: text, .. }) =
            asks().find(|ask| !calls(ask))
    {
        let message = "a pool sends HTTP requests or makes calls; give each a pool of its own";
        scope.found.add(&text.place, message);
    }
    is_of_calls
}

/// The plan of a pool of HTTP requests.
fn http(document: &Document, pool: &Pool, scope: &mut Scope<'_>) -> PlanParts {
    let requests = requests::requests(pool, scope);
    parts(document, pool, requests, HttpVersion::Http1, scope)
}

/// The plan of a pool of calls.
fn calls(
    document: &Document,
    pool: &Pool,
    sources: &Arc<Sources>,
    scope: &mut Scope<'_>,
) -> Option<PlanParts> {
    let reach = reach(document, pool, scope)?;
    let Made { requests, count } = Calls::new(pool, sources, &reach).requests(scope);
    let mut parts = reach.into_parts();
    let made = &mut parts.pools[0];
    made.requests = requests;
    // Data that are used once bound the number of requests.
    if let Some(count) = count {
        let asked = made.stop.requests.unwrap_or(u64::MAX);
        made.stop.requests = Some(asked.min(count));
    }
    Some(parts)
}

/// A plan that reaches the server of a pool's calls, without a message yet.
fn reach(document: &Document, pool: &Pool, scope: &mut Scope<'_>) -> Option<Plan> {
    let CallTarget { url, unix_socket } =
        target::of_calls(&pool.settings.reach, &pool.name.place, scope)?;
    let request = silent(url, &pool.settings.options, scope)?;
    let mut parts = parts(document, pool, vec![request], HttpVersion::Http2, scope);
    let reach = &mut parts.pools[0].reach;
    reach.unix_socket = unix_socket.or_else(|| reach.unix_socket.take());
    check::checked(parts, document, pool, scope)
}

/// A plan's parts with these requests; `usual` is the version of HTTP that they speak unless the
/// document names one.
fn parts(
    document: &Document,
    pool: &Pool,
    requests: Vec<HttpRequest>,
    usual: HttpVersion,
    scope: &mut Scope<'_>,
) -> PlanParts {
    let settings = &pool.settings;
    let versions = [("1", HttpVersion::Http1), ("2", HttpVersion::Http2)];
    let version = scope.word(settings.http.http.as_ref(), &versions, "no version of HTTP");
    let version = version.unwrap_or(usual);
    let multiplexing = match version {
        HttpVersion::Http1 => Multiplexing::None,
        HttpVersion::Http2 => Multiplexing::Streams,
    };
    let loaded = load::load(pool, multiplexing, scope);
    let urls: Vec<Url> = requests.iter().map(|request| request.url.clone()).collect();
    let connections = transport::connections(settings, &loaded, scope);
    let expect: Option<Expect> = scope.found.parse(settings.http.expect.status.as_ref());
    let made = drumfire_plan::Pool {
        name: pool.name.value.clone(),
        reach: transport::reach(settings, &urls, scope),
        http: transport::http(settings, version, scope),
        timeouts: transport::timeouts(&settings.timeouts, scope),
        stop: load::stop(&pool.stop, &loaded, scope),
        requests,
        load: loaded.load,
        users: loaded.users,
        connections,
        expect: expect.unwrap_or_default(),
        samples: Samples::Forget,
    };
    PlanParts {
        pools: vec![made],
        generator: generator(&document.generator, scope),
        thresholds: thresholds(&document.thresholds, scope),
    }
}

/// The program that sends.
fn generator(written: &WrittenGenerator, scope: &mut Scope<'_>) -> Generator {
    let threads = scope.count(written.threads.as_ref());
    let interval = scope.found.parse(written.interval.as_ref());
    let warmup = scope.found.parse(written.warmup.as_ref());
    Generator {
        threads: threads.unwrap_or_else(|| scope.host.cores()),
        spin: match is_on(&written.spin) {
            true => Spin::Yes,
            false => Spin::No,
        },
        seed: written
            .seed
            .as_ref()
            .map_or(SEED_DEFAULT, |seed| seed.value),
        warmup: warmup.unwrap_or_default(),
        interval: interval.unwrap_or(INTERVAL_DEFAULT),
    }
}

/// The rules that the result must satisfy.
fn thresholds(texts: &[Text], scope: &mut Scope<'_>) -> Vec<Threshold> {
    let mut thresholds = Vec::new();
    for text in texts {
        match text.value.parse() {
            Ok(threshold) => thresholds.push(threshold),
            Err(error) => {
                let error: drumfire_plan::ThresholdError = error;
                scope.found.mark(text, error.at, &error.message);
            }
        }
    }
    thresholds
}
