//! From a document to a plan.
//!
//! ```text
//! document ─► pool over defaults ─► load · transport · requests ─► plan ─► its own check
//!                                          │
//!                              calls: server ─► schema ─► method ─► data
//! ```
//!
//! Every step notes mistakes and continues with defaults, so that all mistakes are reported at
//! once. A server is contacted only if no mistake was found before.
//!
//! The order of the steps matters in two places. Feeds are read before any pool, because templates
//! of all pools read them. Pools are made one after the other, because the users of earlier pools
//! decide which rows of a shared feed remain ([`Dealer`]).
//!
//! Three steps examine the finished pools. Templates that lack the variables of an unreadable feed
//! cause further mistakes, and those are dropped ([`lost`]). A load above a modest size gets the
//! guard of targets unless the document owns its target; this is decided for all pools together,
//! because many small pools are one large load. A file of rows needs samples, so every pool then
//! keeps them.
//!
//! A document never produces a partial plan. [`finished`] returns the plan if there are no
//! mistakes, and otherwise all mistakes. A step can therefore fill in any default after a mistake:
//! nothing that depends on the default is ever sent.

use crate::call::{Calls, ReadOptions, silent};
use crate::dealer::Dealer;
use crate::host::Host;
use crate::idle_flags;
use crate::idle_keys;
use crate::kept;
use crate::llm::{self, Draws, LlmPool};
use crate::load::{self, Multiplexing, Replay};
use crate::made::Made;
use crate::requests::RequestCompiler;
use crate::scenario::{Scenario, choice, scenario};
use crate::schema;
use crate::scope::{Scope, is_on};
use crate::sockets;
use crate::target::{self, CallTarget};
use crate::template_scope::TemplateScope;
use crate::trace::traced;
use crate::transport;
use crate::{ammo, check, feeds, script};
use drumfire_data::Sources;
use drumfire_document::Layer as _;
use drumfire_document::names;
use drumfire_document::{
    Ask, Count, Diagnostic, Document, Generator as WrittenGenerator, Place, Pool, Request, Stop,
};
use drumfire_plan::{
    CERTAIN_RATE, ClockChoice, Cookies, Expect, Generator, Guard, HttpRequest, HttpVersion,
    Inquiry, POOLS_MAX, Plan, PlanParts, Program, Samples, Threads, Threshold, Url, WaitChoice,
    is_extreme, is_modest,
};
use drumfire_schema::Schema;
use drumfire_schema::reflection::Wanted;
use drumfire_units::Nanos;
use drumfire_units::rounded::count as grouped;
use std::sync::Arc;

/// The default seed of all random values. It is fixed, so that a run without a written seed can be
/// repeated.
const SEED_DEFAULT: u64 = 1;
/// How workers wait if nothing is written. Adaptive waiting has an effect only at full speed.
const WAIT_DEFAULT: WaitChoice = WaitChoice::Adaptive;
/// The default length of an interval.
const INTERVAL_DEFAULT: Nanos = Nanos::from_secs(1);

/// The plan that a document describes.
///
/// The host supplies files and certificates, and fetches the schema of calls without a written
/// schema. Compiling can therefore take as long as the timeout of the schema's server. Nothing else
/// is sent, and no target of HTTP requests is contacted.
///
/// # Errors
/// All mistakes of the document, in the order of its lines; never an empty list.
pub fn compile(document: &Document, host: &Arc<dyn Host>) -> Result<Plan, Vec<Diagnostic>> {
    compile_in(document, Scope::new(host)).map_err(in_order)
}

/// Sorts mistakes by their lines in the file.
pub(crate) fn in_order(mut found: Vec<Diagnostic>) -> Vec<Diagnostic> {
    found.sort_by_key(|found| found.place.position());
    found
}

/// Compiles a document in this scope. Returns the plan, or all mistakes: those the scope had before
/// and those found here.
///
/// A scope that is not new belongs to a draft. It has the mistakes of the document's form, and the
/// record of values that a setup takes.
pub(crate) fn compile_in(
    document: &Document,
    mut scope: Scope<'_>,
) -> Result<Plan, Vec<Diagnostic>> {
    let mut generator = generator(&document.generator, &mut scope);
    let before = scope.found.len();
    let sources = feeds::sources(document, generator.seed, &mut scope);
    let known = scope.found.len();
    let thresholds = thresholds(document, &mut scope);
    let mut written = pools_of(document, &mut scope);
    let draws = Draws {
        seed: generator.seed,
        nonce: document.generator.nonce.as_ref().map(|nonce| nonce.value),
    };
    let mut prompts = llm::prepare(&mut written, draws, &mut scope);
    let mut dealer = Dealer::new(&document.feeds, &sources, &written);
    let mut pools = Vec::with_capacity(written.len());
    for (pool, llm) in written.iter().zip(&mut prompts) {
        let sources = llm.with_feeds(dealer.sources(), &mut scope);
        let own = script::sources(pool, &sources, &mut scope);
        let templates = TemplateScope::new(&own.sources, generator.seed);
        let templates = templates.with_late(&scope.late).with_script(own.script);
        let made = match is_of_calls(pool) {
            true => calls(document, pool, templates, generator, &mut scope),
            false => Some(http(pool, templates, llm, &mut scope)),
        };
        dealer.made(made.as_ref(), &mut scope);
        pools.extend(made);
    }
    // A feed with a mistyped name or an unreadable file is one mistake, not a second one here.
    let has_feeds = scope.found.len() == before;
    // A mistake in a pool may be the reason why a key has no effect.
    if scope.found.is_empty() {
        idle_keys::note(document, &written, &pools, &mut scope);
    }
    if has_feeds {
        note_idle_feeds(document, &dealer, &mut scope);
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
    if !is_owned {
        note_extreme(&written, &pools, &mut scope);
    }
    if document.outputs.rows.is_some() || document.outputs.vllm_json.is_some() {
        for pool in &mut pools {
            pool.samples = Samples::Keep;
        }
    }
    if document.generator.clock.is_none() {
        generator.clock = clock_for(&pools);
    }
    // Every pool that could not be made has already noted its mistakes.
    let parts = (!pools.is_empty() && pools.len() == written.len()).then_some(PlanParts {
        name: document.name.as_ref().map(|name| name.value.clone()),
        pools,
        generator,
        thresholds,
    });
    let plan =
        parts.and_then(|parts| check::checked(Plan::new(parts), document, &written, &mut scope));
    finished(scope, plan)
}

/// The clock of a run whose plan names none: the kernel's, unless some users send as fast as they
/// can, whose rate its cost would lower.
fn clock_for(pools: &[drumfire_plan::Pool]) -> ClockChoice {
    match pools.iter().all(|pool| pool.load.is_open()) {
        true => ClockChoice::Wire,
        false => ClockChoice::Program,
    }
}

/// Notes rates that are more likely typing errors than loads. A document that owns its target may
/// have any rate.
fn note_extreme(written: &[Pool], pools: &[drumfire_plan::Pool], scope: &mut Scope<'_>) {
    for (written, pool) in written.iter().zip(pools) {
        if let Some(rate) = written
            .load
            .rate
            .as_ref()
            .filter(|_| is_extreme(&pool.load))
        {
            let owned = names::setting(&rate.place, "i_own_this_target", "true");
            let message = format!(
                "`{}` is above {}/s, which is more than one machine sends; write a lower rate, or \
                 confirm it with {owned}",
                rate.value.escape_debug(),
                grouped(CERTAIN_RATE)
            );
            scope.found.add(&rate.place, message);
        }
    }
}

/// Notes feeds that no pool reads. A setup or a teardown may read the feeds of its plan, so that only
/// those of the command line are noted if there is one.
fn note_idle_feeds(document: &Document, dealer: &Dealer<'_>, scope: &mut Scope<'_>) {
    let has_phases = !document.setup.is_empty() || !document.teardown.is_empty();
    for (place, why) in dealer.idle() {
        let is_key = matches!(place, Place::File { .. } | Place::Setting { .. });
        if is_key && !has_phases && scope.taken.is_none() {
            scope
                .found
                .add(place, format!("the feed has no effect: {why}"));
        }
        idle_flags::refuse(place, &why, scope);
    }
}

/// The names of the feeds that could not be read. Their mistakes were noted, so templates that
/// cannot find them are not noted again.
fn lost<'d>(document: &'d Document, sources: &Sources) -> Vec<&'d str> {
    let names = document.feeds.iter().map(|feed| feed.name.value.as_str());
    names
        .filter(|name| sources.names().all(|known| known != *name))
        .collect()
}

/// The schema of the calls of a document's first pool, without a plan. Commands that list or
/// describe a server's services use it.
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

/// The result, or the mistakes found on the way. A step without a result must have noted a mistake;
/// otherwise the list of mistakes would be empty. A result is dropped if there are mistakes.
fn finished<T>(scope: Scope<'_>, made: Option<T>) -> Result<T, Vec<Diagnostic>> {
    match made.filter(|_| scope.found.is_empty()) {
        Some(made) => Ok(made),
        None => Err(scope.found.into_inner()),
    }
}

/// The pools of a document, with the document's defaults filled in. A setting of a pool overrides
/// the default.
///
/// Pools beyond the maximum number of pools are noted once and left out, so that a generated
/// document with a million pools is refused without compiling them.
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
        sockets::keep_apart(pool);
    }
    pools
}

/// Whether a pool makes gRPC calls, perhaps in addition to other requests. One call is enough: the
/// whole pool then uses HTTP/2 unless the document sets a version, because its requests share
/// connections.
fn is_of_calls(pool: &Pool) -> bool {
    let mut requests = pool.every_request();
    requests.any(|request| request.ask.is_call())
}

/// A pool of HTTP requests, some of which may be prompts.
fn http(
    pool: &Pool,
    templates: TemplateScope,
    llm: &mut LlmPool,
    scope: &mut Scope<'_>,
) -> drumfire_plan::Pool {
    // The options of calls have no effect here, but mistakes in them are noted.
    let _unused = ReadOptions::from_options(&pool.settings.options, scope);
    let mut requests = RequestCompiler::new(pool, scope);
    let mut all = all(pool, templates, scope, |request, may_read, made, scope| {
        requests.add_requests(request, may_read, made, scope);
    });
    let times = llm.times.take().or_else(|| all.made.times.take());
    let replay = times.map(Replay::new);
    all.made.bound(llm.count);
    let requests = traced(all.made.requests, pool);
    let mut made = made_of(pool, requests, HttpVersion::Http1, replay, scope);
    made.program = all.program;
    ask_at_most(all.made.count, pool, &mut made);
    made
}

/// A pool of calls, perhaps mixed with other requests. Returns `None` if the way to its server is
/// invalid; the mistakes were noted.
///
/// The calls decide the way to the server and the HTTP version, and the other requests use both.
/// Cookies are kept only if there are such requests.
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
    // The target of calls can have a form other than a URL.
    let mut requests = pool.every_request();
    let is_mixed = requests.any(|request| !request.ask.is_call());
    let mut others = is_mixed.then(|| RequestCompiler::new(pool, scope));
    let all = all(
        pool,
        templates,
        scope,
        |request, may_read, made, scope| match (&request.ask, &mut others) {
            (_, Some(others)) if !request.ask.is_call() => {
                others.add_requests(request, may_read, made, scope);
            }
            (Ask::Call(name), _) => calls.add_call(name, request, may_read, made, scope),
            (Ask::Ammo(written), _) => {
                // `add_calls` has already noted its flaws.
                let _made = ammo::add_calls(&mut calls, written, request, may_read, made, scope);
            }
            (Ask::Url { .. } | Ask::List { .. } | Ask::Llm(_) | Ask::Socket(_), _) => {}
        },
    );
    let mut made = server.into_pool();
    if !is_mixed {
        // Calls carry no cookies.
        made.cookies = Cookies::Ignore;
    }
    made.requests = traced(all.made.requests, pool);
    made.program = all.program;
    ask_at_most(all.made.count, pool, &mut made);
    Some(made)
}

/// The requests of a pool's list, one per arrival, or the steps of its scenarios.
///
/// `add` compiles the requests of one kind of pool. It is a parameter so that lists and scenarios
/// of HTTP requests and of calls follow the same order of steps.
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
/// The default duration then no longer applies: of a file of ten thousand rows that are used once,
/// all are meant to be sent. A written duration stays, and so does the duration of a law of users,
/// which is the length of the law.
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
/// This value passes the check of a plan. A flaw in a setting is therefore found before the server
/// is contacted, and the request for the schema has the same path as the calls: proxy, socket,
/// certificates and timeouts.
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

/// The server from which the schema of a pool's calls is fetched. Returns `None` if that is the
/// server of the calls, or after a mistake was noted.
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

/// Builds a pool with these requests and reads all of its settings. `usual` is the HTTP version
/// unless the document sets one. A `replay` replaces the pool's rate.
///
/// The load is read before connections and stop, because their defaults depend on it: the number of
/// users decides the number of connections, and the end of the load decides the duration.
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

/// The settings of the generator: threads, seed, warm-up, interval. They apply to all pools,
/// because the run has one set of worker threads and one clock.
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
        wait: wait(written, scope),
        clock: clock.unwrap_or_default(),
        seed: written
            .seed
            .as_ref()
            .map_or(SEED_DEFAULT, |seed| seed.value),
        warmup: warmup.unwrap_or_default(),
        interval: interval.unwrap_or(INTERVAL_DEFAULT),
    }
}

/// How workers wait: `spin: true` is short for `wait: spin`.
fn wait(written: &WrittenGenerator, scope: &mut Scope<'_>) -> WaitChoice {
    let words = [
        ("sleep", WaitChoice::Sleep),
        ("adaptive", WaitChoice::Adaptive),
        ("spin", WaitChoice::Spin),
    ];
    let chosen = scope.word(written.wait.as_ref(), &words, "way to wait");
    match (chosen, is_on(&written.spin)) {
        (None, true) => WaitChoice::Spin,
        (Some(WaitChoice::Sleep | WaitChoice::Adaptive), true) => {
            if let Some(text) = &written.wait {
                let message = "`spin: true` needs `wait: spin`; leave one of them out";
                scope.found.add(&text.place, message.to_owned());
            }
            WaitChoice::Spin
        }
        (chosen, _) => chosen.unwrap_or(WAIT_DEFAULT),
    }
}

/// The rules that the result must satisfy, then the conditions that end the run.
///
/// The rules keep the order of the document, from which [`crate::check`] finds the place of a rule.
/// A condition in a pool is refused, because it would also end the run of the other pools.
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
