//! Requests to the mock: which answer they get.

use super::api::{Api, error_type};
use super::behaviour::LlmBehaviour;
use super::cache::PrefixCache;
use super::embedding::{embeddings, ranking};
use super::fault::{DueFault, StreamFaultKind};
use super::form::{FormSetting, TokenCounts, form};
use super::generation::{AnswerLength, AnswerStream};
use super::job::{AnswerWork, LlmJob};
use super::log::LlmRecord;
use super::metrics::LlmMetrics;
use super::options::LlmOptions;
use super::request::{LlmRequest, Mistake, Tool};
use super::vocabulary::{Vocabulary, words};
use crate::answer::{Afterwards, Answer, Body};
use crate::clock;
use crate::parameter::BadParameter;
use crate::request::{RequestHead, pairs};
use drumfire_units::{Nanos, Xoshiro256};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The name of the model in `/v1/models`. Requests can name any model.
const MODEL: &str = "drumfire-mock";
/// The header with parameters in the form of a query, for clients that cannot change the URL.
const WORDS_FIELD: &str = "x-drumfire";
/// The maximum length of a request's id that is kept.
const ID_MAX: usize = 256;

/// The state of the mock that all workers share.
#[derive(Debug)]
pub(crate) struct LlmShared {
    options: LlmOptions,
    defaults: Arc<LlmBehaviour>,
    vocabulary: Mutex<Vocabulary>,
    cache: Option<Mutex<PrefixCache>>,
    /// The number of requests so far.
    count: AtomicU64,
}

impl LlmShared {
    pub(crate) fn new(options: &LlmOptions) -> Self {
        let cache = options.prefix_cache;
        let cache = cache.map(|size| Mutex::new(PrefixCache::new(size.blocks, size.block)));
        Self {
            defaults: Arc::new(options.behaviour.clone()),
            options: options.clone(),
            vocabulary: Mutex::default(),
            cache,
            count: AtomicU64::new(0),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The intent of a request to the mock.
#[derive(Debug)]
pub(crate) struct LlmIntent {
    route: LlmRoute,
    behaviour: Arc<LlmBehaviour>,
    request_id: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LlmRoute {
    Generate(Api),
    Models,
    Health,
    Tokenize,
    Detokenize,
    Reset,
    Metrics,
    Log,
    /// The path exists, but needs this method.
    WrongMethod(&'static str),
}

/// A report on the mock, which is not part of the load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LlmReport {
    Metrics,
    Log,
}

/// The answer to a request.
pub(crate) enum LlmAnswer {
    Ready(Answer),
    Tokens(Box<LlmJob>),
}

/// The random values that a request gets as any other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LlmDrawn {
    pub(crate) delay: Option<Nanos>,
    /// The status of an error that replaces the answer.
    pub(crate) status: Option<u16>,
    pub(crate) afterwards: Afterwards,
}

impl LlmIntent {
    /// The intent of a request, if its path is one of the mock's.
    ///
    /// # Errors
    /// If a parameter of the query or of the header `x-drumfire` is invalid.
    pub(crate) fn read(
        head: &RequestHead<'_>,
        shared: &LlmShared,
    ) -> Result<Option<Self>, BadParameter> {
        let (method, route) = match head.path() {
            "/v1/models" => ("GET", LlmRoute::Models),
            "/health" => ("GET", LlmRoute::Health),
            "/metrics" => ("GET", LlmRoute::Metrics),
            "/llm/log" => ("GET", LlmRoute::Log),
            "/tokenize" => ("POST", LlmRoute::Tokenize),
            "/detokenize" => ("POST", LlmRoute::Detokenize),
            "/reset_prefix_cache" | "/flush_cache" => ("POST", LlmRoute::Reset),
            path => match Api::of_path(path) {
                Some(api) => ("POST", LlmRoute::Generate(api)),
                None => return Ok(None),
            },
        };
        let is_right = head.method == method || (head.method == "HEAD" && method == "GET");
        let id = head.values("x-request-id").next();
        let id = id.and_then(|id| std::str::from_utf8(id).ok());
        Ok(Some(Self {
            route: if is_right {
                route
            } else {
                LlmRoute::WrongMethod(method)
            },
            behaviour: behaviour(head, &shared.defaults)?,
            request_id: id.filter(|id| id.len() <= ID_MAX).map(str::to_owned),
        }))
    }

    /// The report that the request asks for.
    pub(crate) fn report(&self) -> Option<LlmReport> {
        match self.route {
            LlmRoute::Metrics => Some(LlmReport::Metrics),
            LlmRoute::Log => Some(LlmReport::Log),
            _ => None,
        }
    }

    /// The answer to a request, after its body has arrived.
    pub(crate) fn answer(
        self,
        shared: &LlmShared,
        metrics: &LlmMetrics,
        body: &[u8],
        drawn: LlmDrawn,
        random: &mut Xoshiro256,
    ) -> LlmAnswer {
        let api = match self.route {
            LlmRoute::Generate(api) => api,
            _ => Api::default(),
        };
        let result = match (drawn.status, self.route) {
            (Some(status), _) => Err((status, "a failure by chance".to_owned())),
            (None, LlmRoute::Generate(api)) => {
                let job = self.job(api, shared, metrics, (body, drawn), random);
                job.map(|job| LlmAnswer::Tokens(Box::new(job)))
                    .map_err(|mistake| (400, mistake))
            }
            (None, route) => side(route, shared, body).map(|body| ready(200, &body, drawn)),
        };
        result.unwrap_or_else(|(status, mistake)| {
            ready(status, &api.error(error_type(status), &mistake), drawn)
        })
    }

    /// Plans an answer with tokens.
    fn job(
        self,
        api: Api,
        shared: &LlmShared,
        metrics: &LlmMetrics,
        (body, drawn): (&[u8], LlmDrawn),
        random: &mut Xoshiro256,
    ) -> Result<LlmJob, Mistake> {
        let read = clock::now();
        let behaviour = self.behaviour;
        let block = shared.options.block();
        let request = LlmRequest::read(api, body, block, &lock(&shared.vocabulary))?;
        let cached = shared.cache.as_ref();
        let cached = cached.map_or(0, |cache| lock(cache).admit(&request.prompt));
        let counts = TokenCounts {
            prompt: request.prompt.tokens,
            cached,
            ..TokenCounts::default()
        };
        metrics.prompt(counts.prompt, cached);
        // The streams of a worker draw from their own numbers, so that they do not depend on the
        // order in which their tokens are due.
        let mut random = Xoshiro256::new(random.bits(), 0);
        let ttft = behaviour.ttft.draw(counts.prompt - cached, &mut random);
        let number = shared.count.fetch_add(1, Ordering::Relaxed);
        let work = match api {
            Api::Embeddings => AnswerWork::Ready(embeddings(&request, counts)),
            Api::Rerank => AnswerWork::Ready(ranking(number, &request, counts)),
            _ => {
                let is_cut = drawn.afterwards == Afterwards::Cut;
                generate(
                    (api, number),
                    &request,
                    &behaviour,
                    (counts, is_cut),
                    &mut random,
                )
            }
        };
        Ok(LlmJob {
            record: LlmRecord {
                number,
                api,
                request_id: self.request_id,
                is_streamed: matches!(work, AnswerWork::Stream(_)),
                prompt_tokens: counts.prompt,
                cached_tokens: cached,
                read,
                ..LlmRecord::default()
            },
            start: read + drawn.delay.unwrap_or(Nanos::ZERO),
            ttft,
            behaviour,
            random,
            work,
            afterwards: drawn.afterwards,
        })
    }
}

/// The tokens of an answer.
fn generate(
    (api, number): (Api, u64),
    request: &LlmRequest,
    behaviour: &LlmBehaviour,
    (counts, is_cut): (TokenCounts, bool),
    random: &mut Xoshiro256,
) -> AnswerWork {
    let extent = AnswerLength::draw(api, request, behaviour, random);
    let tool = match &request.tool {
        Tool::Always(name) | Tool::Maybe(name) => name.clone(),
        Tool::Never => String::new(),
    };
    let mut setting = FormSetting::new(api, request, tool, behaviour);
    setting.number = number;
    setting.created = clock::wall().0 / 1_000_000_000;
    let words = Xoshiro256::new(random.bits(), 0);
    let form = form(api, setting);
    let mut generation = AnswerStream::new(form, extent, counts, behaviour, words);
    if is_cut {
        generation.set_fault(DueFault {
            kind: StreamFaultKind::Reset,
            after: extent.tokens / 2,
        });
    }
    match request.is_streamed {
        true => AnswerWork::Stream(generation),
        false => AnswerWork::Whole(generation),
    }
}

/// The behaviour of a request: the flags, the query, then the header.
fn behaviour(
    head: &RequestHead<'_>,
    defaults: &Arc<LlmBehaviour>,
) -> Result<Arc<LlmBehaviour>, BadParameter> {
    let field = head.values(WORDS_FIELD).next().unwrap_or_default();
    let field = std::str::from_utf8(field)
        .map_err(|_| BadParameter(format!("{WORDS_FIELD}: the parameters must be UTF-8")))?;
    let mut own: Option<LlmBehaviour> = None;
    for (name, value) in head.parameters().chain(pairs(field)) {
        let behaviour = own.get_or_insert_with(|| LlmBehaviour::clone(defaults));
        let bad = |error| BadParameter(format!("{name}: {error}"));
        behaviour.set(&name, &value).map_err(bad)?;
    }
    Ok(own.map_or_else(|| Arc::clone(defaults), Arc::new))
}

/// An answer in JSON.
fn ready(status: u16, body: &Value, drawn: LlmDrawn) -> LlmAnswer {
    let text = match body {
        Value::Null => String::new(),
        body => body.to_string(),
    };
    let mut answer = Answer::new(status, Body::bytes(text));
    answer
        .fields
        .push(("Content-Type", "application/json".to_owned()));
    answer.afterwards = drawn.afterwards;
    LlmAnswer::Ready(answer)
}

/// The answer of a path without generation.
fn side(route: LlmRoute, shared: &LlmShared, body: &[u8]) -> Result<Value, (u16, Mistake)> {
    let bad = |mistake: &str| (400, mistake.to_owned());
    let json = || {
        serde_json::from_slice::<Value>(body)
            .map_err(|error| (400, format!("the body is not JSON: {error}")))
    };
    match route {
        LlmRoute::Models => Ok(json!({
            "object": "list",
            "data": [{
                "id": MODEL, "object": "model", "created": 0, "owned_by": "drumfire", "root": MODEL,
            }],
        })),
        LlmRoute::Tokenize => {
            let body = json()?;
            let text = body["prompt"]
                .as_str()
                .ok_or_else(|| bad("`prompt` is missing"))?;
            let mut vocabulary = lock(&shared.vocabulary);
            let ids: Result<Vec<u32>, _> = words(text).map(|word| vocabulary.id(word)).collect();
            let ids = ids.map_err(|_| (503, "there are too many different words".to_owned()))?;
            Ok(json!({ "count": ids.len(), "tokens": ids }))
        }
        LlmRoute::Detokenize => {
            let body = json()?;
            let ids = body["tokens"]
                .as_array()
                .ok_or_else(|| bad("`tokens` is missing"))?;
            let vocabulary = lock(&shared.vocabulary);
            let mut prompt = String::new();
            for id in ids {
                if !prompt.is_empty() {
                    prompt.push(' ');
                }
                let number = id.as_u64().and_then(|id| u32::try_from(id).ok());
                if !number.is_some_and(|id| vocabulary.push_word(id, &mut prompt)) {
                    return Err((400, format!("`tokens`: unknown token {id}")));
                }
            }
            Ok(json!({ "prompt": prompt }))
        }
        LlmRoute::Reset => {
            if let Some(cache) = &shared.cache {
                lock(cache).reset();
            }
            Ok(Value::Null)
        }
        LlmRoute::WrongMethod(method) => Err((405, format!("this path needs {method}"))),
        // The reports are not answered here, and generation is a job.
        LlmRoute::Health | LlmRoute::Metrics | LlmRoute::Log | LlmRoute::Generate(_) => {
            Ok(Value::Null)
        }
    }
}
