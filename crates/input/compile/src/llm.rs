//! Requests to language models: a pool's `llm`, and its steps `llm: prompt`.
//!
//! Such a request is an ordinary one: a POST whose body is a template, and a feed whose rows are
//! prompts ([`drumfire_data::Prompts`]). [`prepare`] replaces each `llm: prompt` of a pool by that
//! request before anything is compiled, and returns the feeds, whose names no template of a user can
//! have. All other steps of compiling know nothing of language models.
//!
//! Each request of a pool has a feed of its own, so that two steps of an iteration send different
//! prompts. A trace has one sequence of requests, so that its pool has one such step.

mod api;
mod body;
mod session;
mod settings;
mod trace;

use crate::host::Host;
use crate::scope::{Scope, is_on};
use api::path;
use body::{BodyParts, SessionBody, Templates, body};
use drumfire_data::{
    AtEnd, Feed, FeedOrder, Lengths, PrefixPool, PromptOptions, Prompts, Sources, Trace,
    TraceTotals,
};
use drumfire_document::names;
use drumfire_document::{
    Ask, Count, Field, Fields, LlmSettings, Payload, Place, Pool, Request, RequestStep, Step, Text,
};
use drumfire_plan::LlmApi;
use drumfire_units::Nanos;
use settings::SessionPlan;
use std::sync::Arc;
use trace::TraceContent;

/// The word of a step that sends a prompt.
const PROMPT: &str = "prompt";
/// The default length of a prompt, and the default limit of an answer.
const LENGTH_DEFAULT: Lengths = Lengths::Fixed(128);
/// The limit of an answer that leaves it to the server.
const FREE: &str = "free";
/// The default time after which a stream without an event has failed, and that of a pool's exchanges.
/// A timeout that is given replaces both.
const GAP_DEFAULT: &str = "60s";
const TIMEOUT_DEFAULT: &str = "10m";

/// The feeds of a pool's requests to language models, and what follows from them.
#[derive(Default)]
pub(crate) struct LlmPool {
    /// The place of the first of them.
    place: Option<Place>,
    feeds: Vec<(String, Feed, FeedOrder)>,
    /// The times of a trace at which the requests are sent.
    pub(crate) times: Option<Vec<Nanos>>,
    /// The number of requests within the budget.
    pub(crate) count: Option<u64>,
}

impl LlmPool {
    /// The sources of the pool's templates, with its prompts.
    pub(crate) fn with_feeds(&self, sources: Arc<Sources>, scope: &mut Scope<'_>) -> Arc<Sources> {
        if self.feeds.is_empty() {
            return sources;
        }
        let mut sources = (*sources).clone();
        for (name, feed, order) in &self.feeds {
            let added = sources.add(name, feed.clone(), *order);
            let place = self.place.as_ref().unwrap_or(&Place::Nowhere);
            scope.found.ok(place, added);
        }
        Arc::new(sources)
    }
}

/// What the prompts of a run depend on, apart from their pool.
#[derive(Clone, Copy)]
pub(crate) struct Draws {
    pub(crate) seed: u64,
    /// The nonce of the run. Without one, texts are the same in every run.
    pub(crate) nonce: Option<u64>,
}

/// Replaces each step `llm: prompt` of the pools by its request. The result has an entry for each
/// pool.
pub(crate) fn prepare(pools: &mut [Pool], draws: Draws, scope: &mut Scope<'_>) -> Vec<LlmPool> {
    let numbered = (0..).zip(pools);
    let prepared = numbered.map(|(number, pool)| of_pool(number, pool, draws, scope));
    prepared.collect()
}

/// The sums over the requests of a pool's trace, which is read again; `None` without a trace, or if
/// the trace is invalid.
#[must_use]
pub fn trace_totals(pool: &Pool, seed: u64, host: &Arc<dyn Host>) -> Option<TraceTotals> {
    let settings = &pool.llm;
    let turns = settings::turns_of_trace(settings);
    let mut scope = Scope::new(host);
    let file = settings.trace.file.as_ref()?;
    match trace::read(file, &settings.trace, turns, seed, &mut scope)?.content {
        TraceContent::Requests(trace) => trace.totals().ok(),
        TraceContent::Sessions(trace) => Some(trace.totals()),
    }
}

/// Whether a pool sends prompts that are new to the server in each run: made-up ones that repeat and
/// share nothing on purpose.
#[must_use]
pub fn sends_new_prompts(pool: &Pool) -> bool {
    let llm = &pool.llm;
    let repeats = [
        llm.prefix.is_some(),
        llm.prompt.is_some(),
        llm.messages.0.is_some(),
        llm.turns.is_some(),
        llm.tools.0.is_some(),
        llm.trace.file.is_some(),
        is_on(&llm.same_prompts),
    ];
    // A request has been replaced by then, or is still to be.
    let has_model = llm.model.is_some();
    has_model && !repeats.contains(&true)
}

fn of_pool(number: u64, pool: &mut Pool, draws: Draws, scope: &mut Scope<'_>) -> LlmPool {
    let settings = pool.llm.clone();
    let asks: Vec<Text> = pool.every_request().filter_map(asked).collect();
    let Some(first) = asks.first() else {
        note_unused(&settings, scope);
        return LlmPool::default();
    };
    for ask in asks.iter().filter(|ask| ask.value != PROMPT) {
        let shown = ask.value.escape_debug();
        let message = format!("unknown request `{shown}` to a language model; write `llm: prompt`");
        scope.found.add(&ask.place, message);
    }
    let Some(mut maker) = Maker::new(&settings, number, draws, first, scope) else {
        return LlmPool::default();
    };
    if maker.has_trace
        && let Some(second) = asks.get(1)
    {
        let message = "a trace has one sequence of requests, so that only one step can send it";
        scope.found.add(&second.place, message);
    }
    maker.has_timeout = pool.settings.timeouts.timeout.is_some();
    maker.has_gap = pool.settings.events.gap_timeout.is_some();
    let language = pool.settings.templates.as_ref();
    if language.is_some_and(|language| language.value == "none") {
        maker.templates = Templates::Literal;
    }
    maker.own_headers.clone_from(&pool.settings.fields.headers);
    maker.note_load(pool, scope);
    if maker.session.is_some() {
        maker.make_sessions(pool, scope);
    } else {
        maker.make_requests(pool, scope);
    }
    let timeout = || Text::new(TIMEOUT_DEFAULT.to_owned(), first.place.clone());
    let limits = &mut pool.settings.timeouts;
    limits.timeout.get_or_insert_with(timeout);
    maker.made
}

impl Maker<'_> {
    /// Replaces the requests of a pool.
    fn make_requests(&mut self, pool: &mut Pool, scope: &mut Scope<'_>) {
        let mut requests: Vec<&mut Request> = pool.requests.iter_mut().collect();
        for step in &mut pool.scenario {
            add_requests(step, &mut requests);
        }
        for step in pool
            .scenarios
            .iter_mut()
            .flat_map(|scenario| &mut scenario.steps)
        {
            add_requests(step, &mut requests);
        }
        for request in requests {
            if let Some(ask) = asked(request) {
                self.make(request, &ask, scope);
            }
        }
    }

    /// Replaces the requests of a pool by the steps of sessions.
    fn make_sessions(&mut self, pool: &mut Pool, scope: &mut Scope<'_>) {
        if let [_, second, ..] = &pool.requests[..] {
            let message = "sessions with several turns are the only requests of their pool; write \
                           the others under `scenario`, or in another pool";
            scope.found.add(&second.ask.text().place, message);
            return;
        }
        if let Some(request) = pool.requests.pop() {
            let step = RequestStep {
                request,
                on_fail: None,
            };
            pool.scenario = vec![Step::Request(Box::new(step))];
            // A session is an iteration.
            let requests = pool.stop.requests.take();
            pool.stop.iterations = pool.stop.iterations.take().or(requests);
        }
        self.replace(&mut pool.scenario, scope);
        for scenario in &mut pool.scenarios {
            self.replace(&mut scenario.steps, scope);
        }
    }

    /// Replaces each request of these steps by the steps of a session.
    fn replace(&mut self, steps: &mut Vec<Step>, scope: &mut Scope<'_>) {
        for step in std::mem::take(steps) {
            match step {
                Step::Request(step) if asked(&step.request).is_some() => {
                    steps.extend(self.session_steps(&step, scope));
                }
                Step::If(mut branch) => {
                    self.replace(&mut branch.steps, scope);
                    self.replace(&mut branch.otherwise, scope);
                    steps.push(Step::If(branch));
                }
                Step::Repeat(mut repeated) => {
                    self.replace(&mut repeated.steps, scope);
                    steps.push(Step::Repeat(repeated));
                }
                other => steps.push(other),
            }
        }
    }

    /// The steps of a session in place of a request, and the feed of its turns.
    fn session_steps(&mut self, step: &RequestStep, scope: &mut Scope<'_>) -> Vec<Step> {
        let (Some(mut plan), Some(ask)) = (self.session.take(), asked(&step.request)) else {
            return Vec::new();
        };
        if let Some(on_fail) = &step.on_fail {
            let message = "a session ends with its first failed request; leave `on_fail` out";
            scope.found.add(&on_fail.place, message);
        }
        let index = self.made.feeds.len() as u64;
        let feed = self.feed_name();
        let parts = plan.parts(self.api, &feed, self.settings, self.templates, &ask.place);
        let steps = parts.steps(|body| {
            let mut request = step.request.clone();
            let made = self.make_request(&mut request, &ask, &feed, Some(&body), scope);
            made.then_some(request)
        });
        let prompts = Prompts::new(self.options(index), None);
        let (sessions, order) = plan.sessions(prompts);
        if let Some(budget) = &self.settings.budget_tokens {
            self.limit(sessions.rows_within(budget.value), budget, scope);
        }
        self.add_feed(feed, sessions.into_feed(), order, &ask);
        self.session = Some(plan);
        // After a mistake, the step stays, so that nobody reads that the pool has no requests.
        steps.unwrap_or_else(|| vec![Step::Request(Box::new(step.clone()))])
    }
}

/// The kind of a request to a language model, if it is one.
fn asked(request: &Request) -> Option<Text> {
    match &request.ask {
        Ask::Llm(kind) => Some(kind.clone()),
        _ => None,
    }
}

/// Appends the requests of a step and of the steps within it.
fn add_requests<'s>(step: &'s mut Step, out: &mut Vec<&'s mut Request>) {
    match step {
        Step::Request(step) => out.push(&mut step.request),
        Step::Pause(_) | Step::Set(_) => {}
        Step::If(branch) => {
            for step in branch.steps.iter_mut().chain(&mut branch.otherwise) {
                add_requests(step, out);
            }
        }
        Step::Repeat(repeated) => {
            for step in &mut repeated.steps {
                add_requests(step, out);
            }
        }
    }
}

/// Notes settings of a pool without a step that uses them.
fn note_unused(settings: &LlmSettings, scope: &mut Scope<'_>) {
    let texts = [
        &settings.api,
        &settings.model,
        &settings.input,
        &settings.output,
        &settings.prompt,
    ];
    let place = texts.into_iter().flatten().map(|text| &text.place).next();
    let place = place.or_else(|| settings.trace.file.as_ref().map(|file| &file.place));
    if let Some(place) = place {
        let message = "no request of the pool uses `llm`; write one as `llm: prompt`";
        scope.found.add(place, message);
    }
}

/// The maker of a pool's requests to a language model.
struct Maker<'a> {
    settings: &'a LlmSettings,
    api: LlmApi,
    /// The number of the pool, from 0.
    number: u64,
    /// Whether the pool has a timeout.
    has_timeout: bool,
    draws: Draws,
    input: Lengths,
    output: Option<Lengths>,
    prefix: Option<PrefixPool>,
    models: Vec<(String, u64)>,
    trace: Option<Trace>,
    /// Whether a trace decides how many requests are sent.
    has_trace: bool,
    /// Whether the pool limits the time between two events.
    has_gap: bool,
    /// Whether the texts of the plan are templates.
    templates: Templates,
    /// The header fields of every request of the pool.
    own_headers: Vec<Field>,
    /// The turns of sessions, if requests are turns.
    session: Option<SessionPlan>,
    made: LlmPool,
}

impl<'a> Maker<'a> {
    /// Reads the settings of a pool. Returns `None` after a mistake was noted without which nothing
    /// can be made.
    fn new(
        settings: &'a LlmSettings,
        number: u64,
        draws: Draws,
        first: &Text,
        scope: &mut Scope<'_>,
    ) -> Option<Self> {
        let apis = LlmApi::ALL.map(|api| (api.name(), api));
        let api = scope.word(settings.api.as_ref(), &apis, "API");
        let api = api.unwrap_or(LlmApi::Chat);
        settings::check(settings, api, scope);
        let input: Option<Lengths> = scope.found.parse(settings.input.as_ref());
        let output = match &settings.output {
            Some(text) if text.value == FREE => None,
            text => Some(scope.found.parse(text.as_ref()).unwrap_or(LENGTH_DEFAULT)),
        };
        let prefix = scope.found.parse(settings.prefix.as_ref());
        let models = models(settings.model.as_ref(), first, scope)?;
        let turns = settings::turns_of_trace(settings);
        let read = match &settings.trace.file {
            Some(file) => Some(trace::read(
                file,
                &settings.trace,
                turns,
                draws.seed,
                scope,
            )?),
            None => None,
        };
        let mut made = LlmPool::default();
        let (mut requests, mut sessions, mut speed) = (None, None, None);
        if let Some(read) = read {
            made.times = read.times;
            speed = read.speed;
            match read.content {
                TraceContent::Requests(trace) => requests = Some(trace),
                TraceContent::Sessions(trace) => sessions = Some(trace),
            }
        }
        let has_trace = requests.is_some() || sessions.is_some();
        let session = SessionPlan::compile(settings, api, sessions, speed, scope);
        let is_fresh = !is_on(&settings.same_prompts);
        Some(Self {
            settings,
            api,
            number,
            has_timeout: false,
            has_gap: false,
            templates: Templates::Expanded,
            own_headers: Vec::new(),
            draws: Draws {
                nonce: draws.nonce.filter(|_| is_fresh),
                ..draws
            },
            input: match &settings.prompt {
                // For the budget: a word is about a token.
                Some(prompt) => Lengths::Fixed(prompt.value.split_whitespace().count() as u64),
                None => input.unwrap_or(LENGTH_DEFAULT),
            },
            // A trace has its own lengths.
            output: output.filter(|_| !has_trace || settings.output.is_some()),
            prefix,
            models,
            trace: requests,
            has_trace,
            session,
            made,
        })
    }

    /// Notes a load beside the times of a trace.
    fn note_load(&self, pool: &Pool, scope: &mut Scope<'_>) {
        let Some(speed) = &self.settings.trace.speed else {
            return;
        };
        if let Some(other) = pool.load.rate.as_ref().or(pool.load.users.as_ref()) {
            let name = names::name(&speed.place, "trace.speed");
            let message = format!(
                "{name} sends the requests at their recorded times; leave out the rate and the \
                 users, or {name}"
            );
            scope.found.add(&other.place, message);
        }
    }

    /// The name of the next feed.
    fn feed_name(&self) -> String {
        match self.made.feeds.len() {
            0 => "llm".to_owned(),
            n => format!("llm_{}", n + 1),
        }
    }

    /// The options of the prompts of the feed with this number.
    fn options(&self, index: u64) -> PromptOptions {
        PromptOptions {
            seed: self.draws.seed,
            pool: self.number | (index << 32),
            nonce: self.draws.nonce,
            input: self.input,
            output: self.output,
            prefix: self.prefix,
            models: self.models.clone(),
        }
    }

    /// Replaces a request by one over HTTP, and adds the feed of its prompts.
    fn make(&mut self, request: &mut Request, ask: &Text, scope: &mut Scope<'_>) {
        let index = self.made.feeds.len() as u64;
        let feed = self.feed_name();
        if !self.make_request(request, ask, &feed, None, scope) {
            return;
        }
        let trace = self.trace.take();
        let order = match &trace {
            Some(_) => FeedOrder::Once(AtEnd::Stop),
            None => FeedOrder::InTurn,
        };
        let prompts = Prompts::new(self.options(index), trace);
        if let Some(budget) = &self.settings.budget_tokens {
            self.limit(prompts.rows_within(budget.value), budget, scope);
        }
        self.add_feed(feed, prompts.into_feed(), order, ask);
    }

    /// Replaces a request by one over HTTP with the prompts of a feed. Returns whether it could be
    /// made; otherwise a mistake was noted.
    fn make_request(
        &self,
        request: &mut Request,
        ask: &Text,
        feed: &str,
        session: Option<&SessionBody>,
        scope: &mut Scope<'_>,
    ) -> bool {
        let parts = BodyParts {
            api: self.api,
            feed,
            settings: self.settings,
            models: &self.models,
            has_limit: self.output.is_some() || self.has_trace && !self.is_free(),
            has_messages: self.trace.as_ref().is_some_and(Trace::has_messages),
            templates: self.templates,
            session,
        };
        let Some(body) = body(&parts, scope) else {
            return false;
        };
        let path = self
            .settings
            .path
            .as_ref()
            .map_or_else(|| path(self.api), |path| &path.value);
        let made = |text: &str| Text::new(text.to_owned(), ask.place.clone());
        request.ask = Ask::Url {
            method: made("POST"),
            url: made(path),
        };
        // A mistake in a template is most likely one of the user's own.
        let given = self
            .settings
            .prompt
            .as_ref()
            .or(self.settings.messages.0.as_ref());
        let given = given.or(self.settings.extra.0.as_ref());
        let place = given.map_or(&ask.place, |text| &text.place);
        request.data.payload = Some(Payload::Text(Text::new(body, place.clone())));
        // The body is always a template, in which literal texts are escaped.
        request.data.templates = Some(made("jinja"));
        self.add_fields(request, ask);
        self.read_answer(request, ask);
        true
    }

    /// Limits the number of iterations to those within a budget.
    fn limit(&mut self, count: u64, budget: &Count, scope: &mut Scope<'_>) {
        let message = "the first request alone needs more tokens than the budget";
        scope.found.add_if(count == 0, &budget.place, message);
        self.made.count = Some(self.made.count.map_or(count, |other| other.min(count)));
    }

    fn add_feed(&mut self, name: String, feed: Feed, order: FeedOrder, ask: &Text) {
        self.made.place.get_or_insert_with(|| ask.place.clone());
        self.made.feeds.push((name, feed, order));
    }

    /// Whether the server decides the lengths of the answers.
    fn is_free(&self) -> bool {
        let output = self.settings.output.as_ref();
        output.is_some_and(|output| output.value == FREE)
    }

    /// Adds the header fields of the API that neither the request nor its pool has.
    fn add_fields(&self, request: &mut Request, ask: &Text) {
        let Fields::Listed(fields) = &mut request.fields else {
            return;
        };
        let made = |text: &str| Text::new(text.to_owned(), ask.place.clone());
        let mut all = vec![(made("Content-Type"), made("application/json"))];
        if self.api == LlmApi::Messages {
            all.push((made("anthropic-version"), made("2023-06-01")));
        }
        if let Some(key) = &self.settings.key {
            all.push(match self.api {
                LlmApi::Messages => (made("x-api-key"), key.clone()),
                _ => (
                    made("Authorization"),
                    key.with(format!("Bearer {}", key.value)),
                ),
            });
        }
        for (name, value) in all {
            let is_own = |field: &Field| field.name.value.eq_ignore_ascii_case(&name.value);
            if !fields.iter().chain(&self.own_headers).any(is_own) {
                fields.push(Field { name, value });
            }
        }
    }

    /// Sets how the answer is read, and how long it may pause.
    fn read_answer(&self, request: &mut Request, ask: &Text) {
        let made = |text: &str| Text::new(text.to_owned(), ask.place.clone());
        request.events.read = Some(made(self.api.name()));
        let is_limited = self.has_timeout || request.timeout.is_some();
        let has_limit = is_limited || self.has_gap || request.events.gap_timeout.is_some();
        if self.streams() && !has_limit {
            request.events.gap_timeout = Some(made(GAP_DEFAULT));
        }
    }

    fn streams(&self) -> bool {
        self.api.streams() && is_streamed(self.settings)
    }
}

/// Whether answers are streamed, if the API can.
fn is_streamed(settings: &LlmSettings) -> bool {
    settings.stream.as_ref().is_none_or(|stream| stream.value)
}

/// The models with their weights.
fn models(
    written: Option<&Text>,
    first: &Text,
    scope: &mut Scope<'_>,
) -> Option<Vec<(String, u64)>> {
    let Some(text) = written else {
        let name = names::name(&first.place, "llm.model");
        let message = format!(
            "the model is missing; set {name} to one that the server lists under `/v1/models`"
        );
        scope.found.add(&first.place, message);
        return None;
    };
    let parts: Vec<&str> = text.value.split(',').map(str::trim).collect();
    // A colon belongs to the name of a single model, such as `llama3:8b`.
    let weighed = |part: &str| match part.rsplit_once(':') {
        Some((name, weight)) if parts.len() > 1 => match weight.parse::<u32>() {
            Ok(weight) => (name.to_owned(), u64::from(weight)),
            Err(_) => (part.to_owned(), 1),
        },
        _ => (part.to_owned(), 1),
    };
    let models: Vec<(String, u64)> = parts.iter().map(|part| weighed(part)).collect();
    let is_wrong = models
        .iter()
        .any(|(name, weight)| name.is_empty() || *weight == 0);
    let message =
        "the name of a model is missing, or its weight is 0; write one as `small:3,large:1`";
    scope.found.add_if(is_wrong, &text.place, message);
    (!is_wrong).then_some(models)
}
