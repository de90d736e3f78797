//! From a document to a plan.
//!
//! ```text
//! document ─► pool over defaults ─► load · transport · requests ─► plan ─► its own check
//!                                          │
//!                              calls: server ─► schema ─► method ─► data
//! ```
//!
//! Every step notes mistakes and goes on with defaults, so that all mistakes are reported at once.
//! A server is asked only where there were none before.
//!
//! The order of the steps matters in two places. Feeds are read before any pool, since templates in
//! all of them read them; and pools are made one after the other, since the rows of a feed that
//! several pools share are dealt by the users of those before ([`Dealer`]).
//!
//! Three steps look at the finished pools. Feeds that could not be read have left templates without
//! their variables, and those mistakes are dropped ([`lost`]). A load that is more than modest gets
//! the guard of targets unless the document owns its target, and that is decided of all pools
//! together: many small pools are one large load. A file of rows is made of samples, which every pool
//! keeps where it was asked for.
//!
//! A document never makes half a plan. [`finished`] gives the plan where nothing was found, and all
//! mistakes otherwise, so that a step may fill in a default behind a mistake without a second
//! thought: nothing that was made so is ever sent.

use crate::call::{Calls, ReadOptions, silent};
use crate::dealer::Dealer;
use crate::host::Host;
use crate::idle_flags;
use crate::kept;
use crate::load::{self, Multiplexing, Replay};
use crate::made::Made;
use crate::requests::Requests;
use crate::scenario::{Scenario, choice, scenario};
use crate::schema;
use crate::scope::{Scope, is_on};
use crate::target::{self, CallTarget};
use crate::template_scope::TemplateScope;
use crate::trace::traced;
use crate::transport;
use crate::{ammo, check, feeds, script};
use drumfire_data::Sources;
use drumfire_document::Layer as _;
use drumfire_document::{
    Ask, Count, Diagnostic, Document, Generator as WrittenGenerator, Place, Pool, Request, Stop,
};
use drumfire_plan::{
    ClockChoice, Cookies, Expect, Generator, Guard, HttpRequest, HttpVersion, Inquiry, POOLS_MAX,
    Plan, PlanParts, Program, Samples, Spin, Threads, Threshold, Url, is_modest,
};
use drumfire_schema::Schema;
use drumfire_schema::reflection::Wanted;
use drumfire_units::Nanos;
use std::sync::Arc;

/// The default seed of all random values. It is fixed, so that a run without a seed can be repeated
/// too.
const SEED_DEFAULT: u64 = 1;
/// The default length of an interval.
const INTERVAL_DEFAULT: Nanos = Nanos::from_secs(1);

/// The plan that a document describes.
///
/// The host is asked for files, for certificates, and, of calls without a schema, for the answer of
/// their server: compiling may take as long as that server's timeout. Nothing else is sent, and no
/// target of HTTP requests is reached.
///
/// # Errors
/// All mistakes of the document, in the order of its lines; never an empty list.
pub fn compile(document: &Document, host: &Arc<dyn Host>) -> Result<Plan, Vec<Diagnostic>> {
    compile_in(document, Scope::new(host)).map_err(in_order)
}

/// Mistakes in the order of a file's lines.
pub(crate) fn in_order(mut found: Vec<Diagnostic>) -> Vec<Diagnostic> {
    found.sort_by_key(|found| found.place.position());
    found
}

/// The plan of a document in this scope, or all mistakes: those that the scope had before, and
/// those that were found.
///
/// A scope that is not new is a draft's: it has the mistakes of the document's form, and the record
/// of values that a setup takes.
pub(crate) fn compile_in(
    document: &Document,
    mut scope: Scope<'_>,
) -> Result<Plan, Vec<Diagnostic>> {
    let generator = generator(&document.generator, &mut scope);
    let before = scope.found.len();
    let sources = feeds::sources(document, generator.seed, &mut scope);
    let known = scope.found.len();
    let thresholds = thresholds(document, &mut scope);
    let written = pools_of(document, &mut scope);
    let mut dealer = Dealer::new(&document.feeds, &sources, &written);
    let mut pools = Vec::with_capacity(written.len());
    for pool in &written {
        let own = script::sources(pool, &dealer.sources(), &mut scope);
        let templates = TemplateScope::new(&own.sources, generator.seed);
        let templates = templates.with_late(&scope.late).with_script(own.script);
        let made = match is_of_calls(pool) {
            true => calls(document, pool, templates, generator, &mut scope),
            false => Some(http(pool, templates, &mut scope)),
        };
        dealer.made(made.as_ref(), &mut scope);
        pools.extend(made);
    }
    // A feed with a mistyped name or an unreadable file is one mistake, not a second one here.
    if scope.found.len() == before {
        dealer.note_idle(&mut scope);
    }
    scope
        .found
        .drop_missing_from(known, &lost(document, &sources));
    let is_owned = is_on(&document.generator.i_own_this_target);
    if !is_owned && !is_modest(&pools) {
        let guard = Guard::of_lines(&scope.host.allowed_targets());
        for pool in &mut pools {
            pool.reach.guard = Some(guard.clone());
        }
    }
    if document.outputs.rows.is_some() {
        for pool in &mut pools {
            pool.samples = Samples::Keep;
        }
    }
    // Of pools that could not be made, everything was said.
    let parts = (!pools.is_empty() && pools.len() == written.len()).then_some(PlanParts {
        pools,
        generator,
        thresholds,
    });
    let plan =
        parts.and_then(|parts| check::checked(Plan::new(parts), document, &written, &mut scope));
    finished(scope, plan)
}

/// The feeds that could not be read, of which all mistakes were noted. That templates can't find
/// them is not noted again.
fn lost<'d>(document: &'d Document, sources: &Sources) -> Vec<&'d str> {
    let names = document.feeds.iter().map(|feed| feed.name.value.as_str());
    names
        .filter(|name| sources.names().all(|known| known != *name))
        .collect()
}

/// The schema of the calls of a document's first pool, without a plan: for commands that list or
/// describe what a server offers.
pub fn schema_of(
    document: &Document,
    wanted: &Wanted,
    host: &Arc<dyn Host>,
) -> Result<Schema, Vec<Diagnostic>> {
    let mut scope = Scope::new(host);
    let generator = generator(&document.generator, &mut scope);
    let pool = pools_of(document, &mut scope).into_iter().next();
    let schema = pool.and_then(|pool| {
        let server = server(document, &pool, generator, &mut scope)?;
        let written = &pool.settings.schema;
        let other = asked(document, &pool, generator, &mut scope);
        let server = other.unwrap_or(server);
        schema::schema(written, &server, wanted, &Place::Nowhere, &mut scope)
    });
    finished(scope, schema)
}

/// The result, or the mistakes found on the way. Where there is no result, a mistake was noted; a
/// step that gives up in silence would give an error without a word. A result beside mistakes is
/// dropped.
fn finished<T>(scope: Scope<'_>, made: Option<T>) -> Result<T, Vec<Diagnostic>> {
    match made.filter(|_| scope.found.is_empty()) {
        Some(made) => Ok(made),
        None => Err(scope.found.into_inner()),
    }
}

/// The pools of a document, each filled in from its defaults: a setting of a pool stands in the
/// place of the same one of the defaults.
///
/// A pool beyond the greatest number of pools is noted once, and the ones behind it are left out,
/// so that a generated document with a million pools is not compiled before it is refused.
fn pools_of(document: &Document, scope: &mut Scope<'_>) -> Vec<Pool> {
    if document.pools.is_empty() {
        let message = "there is nothing to send; write a pool with requests";
        scope.found.add(&Place::Nowhere, message);
    }
    let mut pools = document.pools.clone();
    if let Some(pool) = pools.get(POOLS_MAX) {
        let message = format!("a plan has at most {POOLS_MAX} pools");
        scope.found.add(&pool.name.place, message);
        pools.truncate(POOLS_MAX);
    }
    for pool in &mut pools {
        if pool.name.value.trim().is_empty() {
            let message = "the name of the pool is empty; reports and thresholds need one";
            scope.found.add(&pool.name.place, message);
        }
        pool.settings.fill(&document.defaults);
        pool.stop.fill(&document.stop);
    }
    pools
}

/// Whether a pool makes gRPC calls, perhaps beside other requests. One call is enough: the whole
/// pool then speaks HTTP/2 unless the document names a version, since its requests share
/// connections.
fn is_of_calls(pool: &Pool) -> bool {
    let mut requests = pool.every_request();
    requests.any(|request| request.ask.is_call())
}

/// A pool of HTTP requests.
fn http(pool: &Pool, templates: TemplateScope, scope: &mut Scope<'_>) -> drumfire_plan::Pool {
    // They have no effect here, and are not taken for right when they are wrong.
    let _unused = ReadOptions::of(&pool.settings.options, scope);
    let mut requests = Requests::new(pool, scope);
    let mut all = all(pool, templates, scope, |request, may_read, made, scope| {
        requests.add(request, may_read, made, scope);
    });
    let replay = all.made.times.take().map(Replay::of);
    let requests = traced(all.made.requests, pool);
    let mut made = made_of(pool, requests, HttpVersion::Http1, replay, scope);
    made.program = all.program;
    ask_at_most(all.made.count, pool, &mut made);
    made
}

/// A pool of calls, perhaps with other requests between them. `None` where its server can't be
/// reached even in theory, of which the mistakes were noted.
///
/// The calls decide the way to the server and the version of HTTP; the other requests of the pool
/// take both as they are. Cookies are kept only where there are such requests.
fn calls(
    document: &Document,
    pool: &Pool,
    templates: TemplateScope,
    generator: Generator,
    scope: &mut Scope<'_>,
) -> Option<drumfire_plan::Pool> {
    let server = server(document, pool, generator, scope)?;
    let other = asked(document, pool, generator, scope);
    let mut calls = Calls::new(pool, &server, other.as_ref().unwrap_or(&server));
    // A target of calls need not be a URL.
    let mut requests = pool.every_request();
    let is_mixed = requests.any(|request| !request.ask.is_call());
    let mut others = is_mixed.then(|| Requests::new(pool, scope));
    let all = all(
        pool,
        templates,
        scope,
        |request, may_read, made, scope| match (&request.ask, &mut others) {
            (_, Some(others)) if !request.ask.is_call() => {
                others.add(request, may_read, made, scope);
            }
            (Ask::Call(name), _) => calls.add(name, request, may_read, made, scope),
            (Ask::Ammo(written), _) => {
                // Flaws are noted already.
                let _made = ammo::add_calls(&mut calls, written, request, may_read, made, scope);
            }
            (Ask::Url { .. } | Ask::List { .. }, _) => {}
        },
    );
    let mut made = server.into_pool();
    if !is_mixed {
        // Calls carry none.
        made.cookies = Cookies::Ignore;
    }
    made.requests = traced(all.made.requests, pool);
    made.program = all.program;
    ask_at_most(all.made.count, pool, &mut made);
    Some(made)
}

/// The requests of a pool's list, of which an arrival takes one, or those of its scenarios.
///
/// `add` is the compiler of one kind of pool. It is a parameter so that lists and scenarios have
/// one order of steps for HTTP and for calls.
fn all(
    pool: &Pool,
    templates: TemplateScope,
    scope: &mut Scope<'_>,
    mut add: impl FnMut(&Request, &TemplateScope, &mut Made, &mut Scope<'_>),
) -> Scenario {
    if !pool.scenario.is_empty() || !pool.scenarios.is_empty() {
        return scenario(pool, templates, scope, add);
    }
    let mut made = Made::default();
    for request in &pool.requests {
        if let Some(take) = request.take.first() {
            let message = "`take` works only in a scenario: in a list of requests, no later step \
                           can read the value";
            scope.found.add(&take.name.place, message);
        }
        add(request, &templates, &mut made, scope);
        made.weigh(request.weight.as_ref());
    }
    if let Some(choice) = made.choice.take() {
        let program = Program::Requests(choice);
        return Scenario { made, program };
    }
    let weights: Vec<Option<&Count>> = made.weights.iter().map(Option::as_ref).collect();
    let choice = choice(&weights, pool.mix.as_ref(), scope);
    let chosen: Vec<u32> = (0..made.requests.len() as u32).collect();
    made.settle(&choice, &chosen, scope);
    Scenario {
        program: Program::Requests(choice),
        made,
    }
}

/// Bounds a pool's number of requests, or of a scenario's iterations, by the data that is used
/// once.
///
/// The default duration then bounds nothing any more: of a file of ten thousand rows, to be used
/// once, all are meant to be sent. A duration that was written stays, and so does that of users who
/// come and go by a law, whose course the duration is.
fn ask_at_most(count: Option<u64>, written: &Pool, pool: &mut drumfire_plan::Pool) {
    let users = written.load.users.as_ref();
    let is_usual = written.stop.after.is_none()
        && users.is_none_or(|users| users.value.parse::<u32>().is_ok());
    if count.is_some() && is_usual {
        pool.stop.duration = None;
    }
    let bound = match pool.program {
        Program::Requests(_) => &mut pool.stop.requests,
        Program::Steps(_) => &mut pool.stop.iterations,
    };
    *bound = (*bound).into_iter().chain(count).min();
}

/// The server of a pool's calls, and the way to it.
///
/// It passes the check of a plan, so that a flaw in a setting is found before the server is asked,
/// and the question goes the way that the calls will go: by the same proxy, socket, certificates
/// and timeouts.
fn server(
    document: &Document,
    pool: &Pool,
    generator: Generator,
    scope: &mut Scope<'_>,
) -> Option<Inquiry> {
    let CallTarget { url, unix_socket } =
        target::of_calls(&pool.settings.reach, &pool.name.place, scope)?;
    let request = silent(url, &pool.settings.options, scope)?;
    let mut made = made_of(pool, vec![request], HttpVersion::Http2, None, scope);
    made.reach.unix_socket = unix_socket.or_else(|| made.reach.unix_socket.take());
    let inquiry = Inquiry::new(made, generator);
    check::checked(inquiry, document, std::slice::from_ref(pool), scope)
}

/// The server that is asked for the schema of a pool's calls. `None` where that is the server of the
/// calls, or where a mistake was noted already.
fn asked(
    document: &Document,
    pool: &Pool,
    generator: Generator,
    scope: &mut Scope<'_>,
) -> Option<Inquiry> {
    let target = pool.settings.schema.reflection.target.as_ref();
    let target = target.filter(|_| scope.found.is_empty())?;
    let mut other = pool.clone();
    other.settings.reach.target = Some(target.clone());
    other.settings.reach.unix_socket = None;
    server(document, &other, generator, scope)
}

/// A pool with these requests, all of its settings read. `usual` is the version of HTTP that they
/// speak unless the document names one. A `replay` stands in the place of the pool's rate.
///
/// The load is read before connections and stop, which have their defaults from it: the number of
/// connections from that of users, and the duration from the load's own end.
fn made_of(
    pool: &Pool,
    requests: Vec<HttpRequest>,
    usual: HttpVersion,
    replay: Option<Replay>,
    scope: &mut Scope<'_>,
) -> drumfire_plan::Pool {
    let settings = &pool.settings;
    let version = settings.http.http.as_ref();
    let version = scope.word(version, &transport::HTTP_VERSIONS, "HTTP version");
    let version = version.unwrap_or(usual);
    let multiplexing = match version {
        HttpVersion::Http1 => Multiplexing::None,
        HttpVersion::Http2 => Multiplexing::Streams,
    };
    let loaded = load::load(pool, multiplexing, replay, scope);
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
        program: Program::default(),
        load: loaded.load,
        users: loaded.users,
        begun: 0,
        connections,
        expect: expect.unwrap_or_default(),
        cookies: transport::cookies(settings, scope),
        samples: kept::samples(settings),
        transcripts: kept::transcripts(settings, scope),
    };
    idle_flags::note(settings, &made, scope);
    made
}

/// The settings of the generator: threads, seed, warm-up, interval. They hold for all pools, since
/// the worker threads and the clock are the whole run's.
fn generator(written: &WrittenGenerator, scope: &mut Scope<'_>) -> Generator {
    let threads = scope.count(written.threads.as_ref());
    let interval = scope.found.parse(written.interval.as_ref());
    let warmup = scope.found.parse(written.warmup.as_ref());
    let clocks = [
        ("program", ClockChoice::Program),
        ("receive", ClockChoice::Receive),
        ("wire", ClockChoice::Wire),
    ];
    let clock = scope.word(written.clock.as_ref(), &clocks, "clock");
    Generator {
        threads: threads.map_or(Threads::AsMany, Threads::Exactly),
        spin: match is_on(&written.spin) {
            true => Spin::Yes,
            false => Spin::No,
        },
        clock: clock.unwrap_or_default(),
        seed: written
            .seed
            .as_ref()
            .map_or(SEED_DEFAULT, |seed| seed.value),
        warmup: warmup.unwrap_or_default(),
        interval: interval.unwrap_or(INTERVAL_DEFAULT),
    }
}

/// The rules that the result must satisfy, then the conditions that end the run.
///
/// The order is that of the document, by which [`crate::check`] finds the place of a rule again. A
/// condition in a pool is refused: it would end the run of the other pools, which its place does
/// not say.
fn thresholds(document: &Document, scope: &mut Scope<'_>) -> Vec<Threshold> {
    let Stop {
        abort, max_errors, ..
    } = &document.stop;
    let pools = document.pool_names();
    let rules = document
        .thresholds
        .iter()
        .map(|text| (text, Threshold::rule_of(&text.value, &pools)));
    let conditions = abort
        .iter()
        .map(|text| (text, Threshold::abort_on_of(&text.value, &pools)));
    let mut thresholds = Vec::new();
    for (text, parsed) in rules.chain(conditions) {
        match parsed {
            Ok(threshold) => thresholds.push(threshold),
            Err(error) => scope.found.mark(text, error.at, &error.message),
        }
    }
    thresholds.extend(
        max_errors
            .as_ref()
            .map(|max| Threshold::failures_above(max.value)),
    );
    for pool in &document.pools {
        let own = pool.stop.abort.iter().map(|text| &text.place);
        let own = own.chain(pool.stop.max_errors.iter().map(|max| &max.place));
        for place in own {
            let message = "this ends the whole run; move it to the plan's own `stop`, where POOL: \
                           before a metric selects a pool";
            scope.found.add(place, message);
        }
    }
    thresholds
}
