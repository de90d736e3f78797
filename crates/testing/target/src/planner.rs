//! Turns a request into the plan of its answer: routes and behaviour, without a protocol.

use crate::answer::{
    Afterwards, Answer, Body, Constancy, Content, Counting, FILLER_PIECE, Pace, RawBytes, RawEnd,
};
use crate::arrivals;
use crate::events::EventsRequest;
use crate::fault::Chance;
use crate::grpc_code::GrpcCode;
use crate::llm::{LlmAnswer, LlmDrawn, LlmIntent, LlmReport, PROMPT_MAX};
use crate::options::Behaviour;
use crate::parameter::{BadParameter, parse};
use crate::reaction::{AnswerPlan, Reaction};
use crate::request::{RequestBody, RequestHead, encode};
use crate::shared::Shared;
use crate::shop::{ENTRY_MAX, Shop, ShopRequest};
use crate::upgrade::{SocketPlan, UpgradeAnswer, UpgradeRequest};
use drumfire_corpus::StreamEnd;
use drumfire_units::{Nanos, Xoshiro256};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write as _;
use std::num::NonZeroU32;
use std::sync::Arc;

/// The maximum size of a body that is built in memory before it is sent: compressed or chunked.
const MADE_BODY_MAX: u64 = 64 << 20;
/// The maximum number of consecutive redirects, more than any client follows.
const REDIRECTS_MAX: u32 = 1_000;

/// The intent of a request, from its head; the body, if any, has not arrived yet.
#[derive(Debug)]
pub(crate) struct Intent {
    route: Route,
    behaviour: Behaviour,
    content: Content,
}

#[derive(Debug)]
enum Route {
    Arrivals,
    /// A response of the conformance corpus, byte for byte.
    Case(RawBytes),
    /// The list of the conformance responses.
    Cases,
    Counters,
    /// The text of the request's head, to which the length of its body is added.
    Echo(String),
    Events(Box<EventsRequest>),
    /// The log of the writes of event streams.
    EventLog,
    Filler,
    Gzip,
    /// /gzip for a client that does not accept gzip.
    Identity,
    Llm(Box<LlmIntent>),
    Plaintext,
    Redirect {
        location: String,
    },
    Shop(Box<ShopRequest>),
    ShopStats,
    /// A WebSocket, or a refusal if the request does not ask for one.
    Socket(Box<UpgradeRequest>, Option<Box<UpgradeAnswer>>),
}

impl Intent {
    /// Whether the request belongs to the load or only reads its counters.
    pub(crate) fn counting(&self) -> Counting {
        match &self.route {
            Route::Llm(intent) if intent.report().is_some() => Counting::Uncounted,
            Route::Arrivals | Route::EventLog | Route::Counters | Route::ShopStats => {
                Counting::Uncounted
            }
            _ => Counting::Counted,
        }
    }

    /// Whether the request opens a WebSocket.
    pub(crate) const fn is_socket(&self) -> bool {
        matches!(self.route, Route::Socket(_, Some(_)))
    }

    /// The part of a request on which its answer depends.
    pub(crate) fn keying(&self) -> Keying {
        match &self.route {
            Route::Filler | Route::Plaintext | Route::Redirect { .. } => Keying::Target,
            Route::Shop(request) if request.is_constant() => Keying::Target,
            _ => Keying::Head,
        }
    }

    /// The number of bytes of the body on which the answer depends.
    pub(crate) fn kept_max(&self) -> usize {
        match self.route {
            // One byte more, to detect a longer body.
            Route::Shop(_) => ENTRY_MAX + 1,
            Route::Llm(_) => PROMPT_MAX + 1,
            _ => 0,
        }
    }
}

/// The plan for a gRPC call, in addition to the method's own behaviour.
#[derive(Debug, Default)]
pub(crate) struct CallPlan {
    /// The delay of the answer.
    pub(crate) delay: Option<Nanos>,
    /// The fault that replaces the answer.
    pub(crate) end: Option<RawEnd>,
    /// The code that replaces the method's.
    pub(crate) code: Option<GrpcCode>,
    /// The time between two messages, if the method sets none.
    pub(crate) gap: Nanos,
    pub(crate) afterwards: Afterwards,
}

/// The parts of a request on which its answer depends, in addition to the method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keying {
    /// Only path and query.
    Target,
    /// Also the header fields.
    Head,
}

/// Plans the answers to requests; one per worker.
pub(crate) struct Planner {
    shared: Arc<Shared>,
    /// The worker's.
    index: usize,
    defaults: Behaviour,
    random: Xoshiro256,
}

impl Planner {
    pub(crate) fn new(
        shared: Arc<Shared>,
        index: usize,
        defaults: Behaviour,
        random: Xoshiro256,
    ) -> Self {
        Self {
            shared,
            index,
            defaults,
            random,
        }
    }

    /// The intent of a request, from its head.
    pub(crate) fn intent(&self, head: &RequestHead<'_>) -> Result<Intent, BadParameter> {
        let behaviour = behaviour(&self.defaults, head)?;
        let route = match case(head, &behaviour)? {
            Some(raw) => Route::Case(raw),
            None => self.route(head, &behaviour)?,
        };
        let made = matches!(route, Route::Gzip) || behaviour.chunked.is_some();
        if made && behaviour.size > MADE_BODY_MAX {
            return Err(BadParameter(format!(
                "size: a compressed or chunked body can have at most {MADE_BODY_MAX} bytes"
            )));
        }
        Ok(Intent {
            route,
            behaviour,
            content: if head.method == "HEAD" {
                Content::Described
            } else {
                Content::Sent
            },
        })
    }

    /// The route of a request.
    fn route(&self, head: &RequestHead<'_>, behaviour: &Behaviour) -> Result<Route, BadParameter> {
        if self.shared.shop.is_some() {
            if head.path() == "/shop/stats" {
                return Ok(Route::ShopStats);
            }
            if let Some(request) = ShopRequest::read(head) {
                return Ok(Route::Shop(Box::new(request)));
            }
        }
        if let Some(llm) = &self.shared.llm
            && let Some(intent) = LlmIntent::read(head, llm)?
        {
            return Ok(Route::Llm(Box::new(intent)));
        }
        route(head, behaviour)
    }

    /// The plan for a request, after its body has arrived.
    ///
    /// Random values are drawn in a fixed order: delay, reset, hangup, status, close, cut.
    pub(crate) fn plan(&mut self, intent: Intent, body: &RequestBody) -> AnswerPlan {
        let (counting, is_socket) = (intent.counting(), intent.is_socket());
        let Intent {
            route,
            behaviour,
            content,
        } = intent;
        if counting == Counting::Uncounted {
            return self.report(&route, content);
        }
        let constancy = if behaviour.is_constant() && repeats(&route) {
            Constancy::Constant
        } else {
            Constancy::Varying
        };
        let random = &mut self.random;
        // The delay of a WebSocket is that of each echo.
        let law = behaviour.delay.filter(|_| !is_socket);
        let delay = law.map(|law| law.draw(random));
        let act = match (choose_raw_end(&behaviour, random), route) {
            (Some(end), _) => Reaction::Raw(RawBytes {
                end,
                ..RawBytes::default()
            }),
            (None, Route::Case(raw)) => Reaction::Raw(raw),
            (None, Route::Llm(intent)) => {
                let drawn = LlmDrawn {
                    delay,
                    status: behaviour.status.and_then(|odds| odds.draw(random)),
                    afterwards: afterwards(&behaviour, random),
                };
                self.react(*intent, body, drawn)
            }
            (None, route) => {
                let status = behaviour.status.and_then(|odds| odds.draw(random));
                let afterwards = afterwards(&behaviour, random);
                let route = match open_socket(route, status, &behaviour, random) {
                    Ok(plan) => {
                        return AnswerPlan {
                            delay,
                            act: Reaction::Socket(plan),
                            constancy,
                            counting,
                        };
                    }
                    Err(route) => route,
                };
                let mut answer = match (route, status, &self.shared.shop) {
                    (Route::Shop(request), None, Some(shop)) => shop.answer(&request, &body.kept),
                    (Route::Events(request), None, _) => request.answer(behaviour.size, random),
                    (route, _, _) => answer(route, &behaviour, body.length),
                };
                answer.status = status.unwrap_or(answer.status);
                let drip = behaviour.drip.map(Pace::Drip);
                answer.pace = drip.or(answer.pace);
                answer.chunked = behaviour.chunked.or(answer.chunked);
                answer.content = content;
                answer.afterwards = afterwards;
                Reaction::Answer(answer)
            }
        };
        AnswerPlan {
            delay,
            act,
            constancy,
            counting,
        }
    }

    /// The answer of the mock.
    fn react(&mut self, intent: LlmIntent, body: &RequestBody, drawn: LlmDrawn) -> Reaction {
        let metrics = &self.shared.worker(self.index).llm.metrics;
        let Some(llm) = &self.shared.llm else {
            // Without a mock there are no such intents.
            return Reaction::Raw(RawBytes::default());
        };
        match intent.answer(llm, metrics, &body.kept, drawn, &mut self.random) {
            LlmAnswer::Ready(answer) => Reaction::Answer(answer),
            LlmAnswer::Tokens(job) => Reaction::Tokens(job),
        }
    }

    /// The plan for a gRPC call, from the flags and from the call's own parameters.
    ///
    /// Random values are drawn in the same order, with the code instead of the status.
    pub(crate) fn plan_call(&mut self, words: &str) -> Result<CallPlan, BadParameter> {
        let target = format!("/?{words}");
        let head = RequestHead {
            method: "POST",
            target: &target,
            protocol: "HTTP/2",
            fields: Vec::new(),
        };
        let behaviour = if words.is_empty() {
            self.defaults.clone()
        } else {
            behaviour(&self.defaults, &head)?
        };
        let random = &mut self.random;
        let delay = behaviour.delay.map(|law| law.draw(random));
        let end = choose_raw_end(&behaviour, random);
        if end.is_some() {
            return Ok(CallPlan {
                delay,
                end,
                ..CallPlan::default()
            });
        }
        let code = behaviour.grpc_status.and_then(|odds| odds.draw(random));
        Ok(CallPlan {
            delay,
            end: None,
            code,
            gap: behaviour.drip.map_or(Nanos::ZERO, |drip| drip.interval),
            afterwards: afterwards(&behaviour, random),
        })
    }

    /// The answer to a request for counters, arrivals or cases.
    fn report(&self, route: &Route, content: Content) -> AnswerPlan {
        let (kind, text) = match route {
            Route::Arrivals => ("text/plain", arrivals::print(&self.shared.arrivals())),
            Route::EventLog => ("text/plain", arrivals::print(&self.shared.event_writes())),
            Route::Llm(intent) => match intent.report() {
                Some(LlmReport::Log) => ("application/jsonl", self.shared.llm_log()),
                _ => ("text/plain; version=0.0.4", self.shared.llm_metrics()),
            },
            Route::ShopStats => {
                let stats = self.shared.shop.as_ref().map(Shop::stats);
                ("application/json", stats.unwrap_or_default())
            }
            _ => ("application/json", self.shared.counters().to_json()),
        };
        let mut answer = plain(200, kind, Body::bytes(text));
        answer.content = content;
        AnswerPlan {
            delay: None,
            act: Reaction::Answer(answer),
            constancy: Constancy::Varying,
            counting: Counting::Uncounted,
        }
    }
}

/// The defaults, overridden by the request's query. Unknown parameters are ignored, because clients
/// add them to avoid caches.
fn behaviour(defaults: &Behaviour, head: &RequestHead<'_>) -> Result<Behaviour, BadParameter> {
    let mut behaviour = defaults.clone();
    for (name, value) in head.parameters() {
        match &*name {
            "delay" => behaviour.delay = Some(parse(&name, &value)?),
            "size" => behaviour.size = parse::<drumfire_units::ByteSize>(&name, &value)?.0,
            "status" => behaviour.status = Some(parse(&name, &value)?),
            "grpc-status" => behaviour.grpc_status = Some(parse(&name, &value)?),
            "close" => behaviour.close = parse::<Chance>(&name, &value)?,
            "hangup" => behaviour.hangup = parse::<Chance>(&name, &value)?,
            "cut" => behaviour.cut = parse::<Chance>(&name, &value)?,
            "reset" => behaviour.reset = parse::<Chance>(&name, &value)?,
            "drip" => behaviour.drip = Some(parse(&name, &value)?),
            "chunked" => {
                let size = parse::<drumfire_units::ByteSize>(&name, &value)?.0;
                let size = u32::try_from(size).ok().and_then(NonZeroU32::new);
                let size = size.ok_or_else(|| BadParameter("chunked: 1 byte to 4 GiB".into()))?;
                behaviour.chunked = Some(size);
            }
            _ => {}
        }
    }
    Ok(behaviour)
}

/// The response of the conformance corpus that `?case=NAME` selects.
fn case(head: &RequestHead<'_>, behaviour: &Behaviour) -> Result<Option<RawBytes>, BadParameter> {
    let Some((_, name)) = head.parameters().find(|(name, _)| name == "case") else {
        return Ok(None);
    };
    if head.protocol == "HTTP/2" {
        return Err(BadParameter(
            "case: these responses exist for HTTP/1.1 only".into(),
        ));
    }
    let case = drumfire_corpus::find(&name).ok_or_else(|| {
        let name = name.escape_default();
        BadParameter(format!("case: unknown name `{name}`; GET /cases lists all"))
    })?;
    Ok(Some(RawBytes {
        bytes: case.bytes(),
        drip: behaviour.drip,
        end: match case.end {
            StreamEnd::Open => RawEnd::Open,
            StreamEnd::Fin => RawEnd::Closed,
            StreamEnd::Rst => RawEnd::Reset,
        },
    }))
}

/// The names of all conformance responses.
fn cases() -> String {
    drumfire_corpus::names()
        .map(|name| format!("{name}\n"))
        .collect()
}

/// The route of a request outside the shop.
fn route(head: &RequestHead<'_>, behaviour: &Behaviour) -> Result<Route, BadParameter> {
    Ok(match head.path() {
        "/arrivals" => Route::Arrivals,
        "/cases" => Route::Cases,
        "/counters" => Route::Counters,
        "/echo" => Route::Echo(echo(head)),
        "/events" => Route::Events(Box::new(EventsRequest::read(head, behaviour.size)?)),
        "/events/log" => Route::EventLog,
        "/gzip" if head.lists("accept-encoding", "gzip") => Route::Gzip,
        "/gzip" => Route::Identity,
        "/plaintext" => Route::Plaintext,
        "/redirect" => redirect(head)?,
        "/ws" => {
            let request = UpgradeRequest::read(head, behaviour.size)?;
            let handshake = UpgradeAnswer::read(head, &request);
            Route::Socket(Box::new(request), handshake.map(Box::new))
        }
        _ => Route::Filler,
    })
}

/// A request's head as text: the request line, then each field with its name in lower case.
fn echo(head: &RequestHead<'_>) -> String {
    let mut text = format!("{} {} {}\n", head.method, head.target, head.protocol);
    for field in &head.fields {
        text.push_str(&field.name.to_ascii_lowercase());
        text.push_str(": ");
        text.push_str(&field.value.escape_ascii().to_string());
        text.push('\n');
    }
    text
}

/// The next of `n` redirects; the last one leads to `to`.
fn redirect(head: &RequestHead<'_>) -> Result<Route, BadParameter> {
    let (mut to, mut n) = (String::from("/"), 1_u32);
    for (name, value) in head.parameters() {
        match &*name {
            "to" => to = value.into_owned(),
            "n" => n = parse(&name, &value)?,
            _ => {}
        }
    }
    if !(1..=REDIRECTS_MAX).contains(&n) {
        return Err(BadParameter(format!("n: 1 to {REDIRECTS_MAX} redirects")));
    }
    if to.bytes().any(|byte| !(0x21..=0x7e).contains(&byte)) {
        return Err(BadParameter(
            "to: a URL must be ASCII without spaces".into(),
        ));
    }
    let location = match n {
        1 => to,
        n => format!("/redirect?to={}&n={}", encode(&to), n - 1),
    };
    Ok(Route::Redirect { location })
}

/// The WebSocket of a route, unless a status was drawn; otherwise the route itself.
fn open_socket(
    route: Route,
    status: Option<u16>,
    behaviour: &Behaviour,
    random: &mut Xoshiro256,
) -> Result<Box<SocketPlan>, Route> {
    match (route, status) {
        (Route::Socket(request, Some(handshake)), None) => {
            let mut filler = match request.count {
                0 => Body::Empty,
                _ => Body::filler(behaviour.size),
            };
            let filler = String::from_utf8_lossy(&filler.all()).replace('\n', " ");
            Ok(Box::new(SocketPlan {
                handshake: *handshake,
                request: *request,
                delay: behaviour.delay,
                filler,
                random: Xoshiro256::new(random.bits(), 0),
            }))
        }
        (route, _) => Err(route),
    }
}

/// The fault that replaces an answer.
fn choose_raw_end(behaviour: &Behaviour, random: &mut Xoshiro256) -> Option<RawEnd> {
    let ends = [
        (behaviour.reset, RawEnd::Reset),
        (behaviour.hangup, RawEnd::Closed),
    ];
    let end = ends.into_iter().find(|(chance, _)| chance.happens(random));
    end.map(|(_, end)| end)
}

/// What happens to the connection. Both probabilities are drawn, and a cut overrides a close.
fn afterwards(behaviour: &Behaviour, random: &mut Xoshiro256) -> Afterwards {
    let close = behaviour.close.happens(random);
    match (behaviour.cut.happens(random), close) {
        (true, _) => Afterwards::Cut,
        (false, true) => Afterwards::Close,
        (false, false) => Afterwards::Stay,
    }
}

/// Whether equal requests of a route have equal answers.
fn repeats(route: &Route) -> bool {
    match route {
        Route::Echo(_) | Route::Case(_) | Route::Events(_) | Route::Llm(_) | Route::Socket(..) => {
            false
        }
        Route::Shop(request) => request.is_constant(),
        _ => true,
    }
}

/// The answer of a route, before random faults.
fn answer(route: Route, behaviour: &Behaviour, body_length: u64) -> Answer {
    match route {
        // For the shop, events and WebSockets, an answer with a drawn status. The mock has its own.
        Route::Arrivals
        | Route::Case(_)
        | Route::Counters
        | Route::EventLog
        | Route::Events(_)
        | Route::Filler
        | Route::Llm(_)
        | Route::Shop(_)
        | Route::ShopStats
        | Route::Socket(_, Some(_)) => plain(200, "text/plain", Body::filler(behaviour.size)),
        Route::Cases => plain(200, "text/plain", Body::bytes(cases())),
        Route::Echo(head) => {
            let text = format!("{head}body-length: {body_length}\n");
            plain(200, "text/plain", Body::bytes(text))
        }
        Route::Gzip => {
            let mut answer = plain(200, "text/plain", Body::bytes(gzip(behaviour.size)));
            answer.fields.push(("Content-Encoding", "gzip".into()));
            answer.fields.push(("Vary", "Accept-Encoding".into()));
            answer
        }
        Route::Identity => {
            let mut answer = plain(200, "text/plain", Body::filler(behaviour.size));
            answer.fields.push(("Vary", "Accept-Encoding".into()));
            answer
        }
        Route::Plaintext => plain(200, "text/plain", Body::bytes(&b"Hello, World!"[..])),
        Route::Socket(_, None) => {
            let text = "this is a WebSocket of version 13\n";
            let mut answer = plain(426, "text/plain", Body::bytes(text));
            answer.fields.push(("Sec-WebSocket-Version", "13".into()));
            answer
        }
        Route::Redirect { location } => {
            let mut answer = plain(302, "text/plain", Body::Empty);
            answer.fields.push(("Location", location));
            answer
        }
    }
}

fn plain(status: u16, kind: &str, body: Body) -> Answer {
    let mut answer = Answer::new(status, body);
    answer.fields.push(("Content-Type", kind.into()));
    answer
}

/// Filler of this size, compressed.
fn gzip(size: u64) -> Vec<u8> {
    let mut body = Body::filler(size);
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    while !body.is_empty() {
        // Writing to a Vec can't fail.
        let _ = encoder.write_all(&body.next_bytes(FILLER_PIECE as u64));
    }
    encoder.finish().unwrap_or_default()
}
