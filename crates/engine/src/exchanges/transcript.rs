//! What is kept of exchanges beyond their figures: some in full, where the plan asks for it, and
//! the first body of each kind of failure.
//!
//! Nothing here is called for an exchange that is ok and not asked for.

use super::look::{Look, seen_status};
use super::own::OwnRequest;
use super::response::BodyUse;
use super::{Exchange, Exchanges};
use crate::id::ExchangeId;
use crate::limits::{KEPT_TRANSCRIPTS_BYTES, SHOWN_BYTES, SHOWN_MESSAGES, TRANSCRIPT_BYTES};
use crate::prepare::{
    CallRequest, Message, PreparedPool, Rendered, Request, StreamRequest, message_count,
};
use crate::wire::{Extra, Fields, Whole};
use drumfire_measure::{
    Excerpt, FAILED_BODY_BYTES, FailedBodies, FailedBody, Field, Outcome, Particulars, Sample,
    Side, SlowRequest, Slowest, Transcript, Written,
};
use drumfire_plan::secret::{self, is_secret};
use drumfire_plan::{Direction, Response, TRACEPARENT, Transcripts};
use drumfire_units::Nanos;
use std::mem::take;

/// How many digits the id of a trace has.
const TRACE_DIGITS: usize = 32;

/// What a worker keeps of a pool's exchanges until the next interval is closed.
#[derive(Debug, Default)]
pub(super) struct Records {
    /// Which exchanges are written down in full.
    kinds: Transcripts,
    /// Whether any is.
    pub(super) shows: bool,
    /// Whether the end of any exchange takes more than its sample.
    pub(super) attends: bool,
    /// Those that are.
    pub(super) transcripts: Vec<Transcript>,
    /// Bytes of their bodies, which may be a server's.
    bytes: usize,
    /// The kinds of failure of which this worker has kept a body.
    known: FailedBodies,
    /// Bodies that are not handed over yet.
    bodies: Vec<FailedBody>,
    /// Whether any request carries a trace.
    traces: bool,
    /// The slowest of this worker's that are not handed over yet.
    slowest: Slowest,
    /// A response time beyond it is one of the slowest so far.
    pub(super) slow_from: Nanos,
}

impl Records {
    /// None yet.
    pub(super) fn new(prepared: &PreparedPool, varies: bool) -> Self {
        let transcripts = prepared.pool().transcripts;
        let shows = transcripts != Transcripts::None;
        Self {
            kinds: transcripts,
            shows,
            traces: prepared.requests.iter().any(Request::is_traced),
            attends: shows || varies,
            ..Self::default()
        }
    }

    /// Whether an exchange that has ended is written down.
    pub(super) fn wants(&self, sample: &Sample) -> bool {
        match self.kinds {
            Transcripts::None => false,
            Transcripts::Every => true,
            Transcripts::From(least) => {
                sample.status >= least && self.bytes < KEPT_TRANSCRIPTS_BYTES
            }
        }
    }

    /// Whether each part of an exchange that a redirect ends is written down.
    pub(super) fn wants_hops(&self) -> bool {
        self.kinds == Transcripts::Every
    }
}

/// A part of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// A response that a redirect leads on from: the request's checks are not about it.
    Hop,
    Last,
}

impl Exchanges {
    /// What was written down since the last call.
    pub(crate) fn take_written(&mut self) -> Written {
        self.records.bytes = 0;
        Written {
            transcripts: take(&mut self.records.transcripts),
            failed_bodies: take(&mut self.records.bodies),
            slow: self.records.slowest.take(),
        }
    }

    /// Keeps of an exchange that has ended what the plan asks for beyond its sample.
    #[inline(never)]
    pub(super) fn attend(&mut self, id: ExchangeId, sample: &Sample) {
        if self.records.wants(sample) {
            self.transcribe(id, *sample, Part::Last);
        }
        let is_slow = sample.response_time() > self.records.slow_from;
        if is_slow && sample.intended >= self.measure_from {
            self.keep_slow(id, sample);
        }
    }

    /// Keeps an exchange that is slower than most.
    #[cold]
    fn keep_slow(&mut self, id: ExchangeId, sample: &Sample) {
        let trace = match self.records.traces {
            true => self.trace_of(id).unwrap_or_default(),
            false => String::new(),
        };
        let slow = SlowRequest {
            trace,
            pool: self.prepared.id.0,
            step: sample.step,
            outcome: sample.outcome,
            status: sample.status,
            intended: sample.intended,
            response_time: sample.response_time(),
        };
        let records = &mut self.records;
        records.slowest.add(slow);
        records.slow_from = records.slow_from.max(records.slowest.bound());
    }

    /// The id of the trace that an exchange carried.
    fn trace_of(&self, id: ExchangeId) -> Option<String> {
        let exchange = &self.list[id.index()];
        let request = &self.prepared.requests[exchange.task.request as usize];
        let sent = exchange.sent(&request.message);
        let mut fields = sent.fields.iter();
        let field = fields.find(|field| field.name.eq_ignore_ascii_case(TRACEPARENT));
        let trace = field?.value.split('-').nth(1)?;
        Some(trace.chars().take(TRACE_DIGITS).collect())
    }

    /// A response of an unexpected status has come in one piece.
    #[cold]
    pub(super) fn sample_whole(&mut self, id: ExchangeId, whole: &Whole<'_>) {
        self.sample_body(id, &whole.fields);
        let exchange = &mut self.list[id.index()];
        let mut body = take(&mut exchange.body);
        // The sample is for a person: a body that does not decode is kept as far as it does.
        let _undecodable = body.read(whole.body, exchange.look.as_deref_mut());
    }

    /// The head of a response of an unexpected status has come: its body is sampled.
    #[cold]
    pub(super) fn sample_body(&mut self, id: ExchangeId, fields: &Fields<'_>) {
        let exchange = &mut self.list[id.index()];
        exchange.look.get_or_insert_default().clear();
        exchange.body = BodyUse::sample(FAILED_BODY_BYTES, fields);
    }

    /// Keeps the body of an exchange that failed, if it is the first of its kind.
    pub(super) fn keep_failed_body(&mut self, id: ExchangeId, sample: &Sample) {
        let exchange = &self.list[id.index()];
        let Some(look) = &exchange.look else {
            return;
        };
        let is_known = !self.records.known.wants(sample.outcome, sample.status);
        if is_known || sample.intended < self.measure_from || look.body().is_empty() {
            return;
        }
        let mut bytes = look.body().to_vec();
        bytes.truncate(FAILED_BODY_BYTES);
        let request = &self.prepared.requests[exchange.task.request as usize];
        let sent = exchange.sent(&request.message);
        let secrets = sent.fields.iter().filter(|field| is_secret(&field.name));
        let values: Vec<&str> = secrets.map(|field| field.value.as_str()).collect();
        let whole = match std::str::from_utf8(&bytes) {
            Ok(text) => Some(text),
            // It was cut within a character.
            Err(error) if error.error_len().is_none() => {
                std::str::from_utf8(&bytes[..error.valid_up_to()]).ok()
            }
            Err(_) => None,
        };
        bytes = match whole {
            Some(text) => secret::body(text, &values).into_bytes(),
            None => secret::bytes(&bytes, &values),
        };
        let body = FailedBody {
            outcome: sample.outcome,
            status: sample.status,
            pool: self.prepared.id.index(),
            step: sample.step,
            end: sample.end,
            body: Excerpt {
                bytes,
                length: look.length(),
                text: None,
            },
        };
        let kind = FailedBody {
            body: Excerpt::default(),
            ..body
        };
        self.records.known.add(kind);
        self.records.bodies.push(body);
    }

    /// Writes down the part of an exchange that a redirect ends. Its time is not known apart.
    #[cold]
    pub(super) fn transcribe_hop(&mut self, id: ExchangeId) {
        let exchange = &self.list[id.index()];
        let step = self.prepared.requests[exchange.task.request as usize].step;
        let end = exchange.times.first_byte;
        let sample = exchange.sample(end, Outcome::Ok, exchange.status, step);
        self.transcribe(id, sample, Part::Hop);
    }

    /// Writes an exchange down that is over, or that a redirect leads on.
    #[cold]
    pub(super) fn transcribe(&mut self, id: ExchangeId, sample: Sample, part: Part) {
        let prepared = &self.prepared;
        let exchange = &self.list[id.index()];
        let request = &prepared.requests[exchange.task.request as usize];
        let mut sent = exchange.sent(&request.message);
        let call = request.call();
        if let Some(call) = call {
            sent.bodies = exchange.sent_messages(call);
        }
        let look = exchange.look.as_deref();
        let time = sample.end - sample.intended;
        let has_response = exchange.status != 0 || look.is_some_and(Look::has_head);
        let response = look.filter(|_| has_response).map(|look| {
            let mut side = look.side(exchange.status);
            if let Some(check) = call.and_then(|call| call.plan.reply_check.as_ref()) {
                for message in &mut side.bodies {
                    message.text = check.text(Direction::Reply, &message.bytes);
                }
            }
            side
        });
        let inspection = request.inspection.as_ref();
        let findings = match (inspection, look, part) {
            (Some(inspection), Some(look), Part::Last) if has_response => {
                inspection.findings(&Response {
                    status: seen_status(exchange.status),
                    fields: look.fields(),
                    body: look.body(),
                    time,
                })
            }
            _ => Vec::new(),
        };
        let sides = [Some(&sent), response.as_ref()];
        let bodies = sides.into_iter().flatten().flat_map(|side| &side.bodies);
        let bytes: usize = bodies.map(|body| body.bytes.len()).sum();
        self.records.bytes += bytes + TRANSCRIPT_BYTES;
        self.records.transcripts.push(Transcript {
            pool: prepared.id.index(),
            sample,
            request: sent,
            response,
            detail: exchange.detail.clone(),
            findings,
        });
    }

    /// What is known of an exchange that has just ended beside its sample.
    #[cold]
    pub(crate) fn particulars(&self, id: ExchangeId) -> Particulars {
        let exchange = &self.list[id.index()];
        Particulars {
            arrival: exchange.task.turn.arrival,
            began: exchange.times.started.max(exchange.times.intended),
            written: exchange.times.written,
        }
    }
}

impl Exchange {
    /// The request that it has sent, or would have.
    fn sent(&self, message: &Message) -> Side {
        let message = match &self.follow {
            Some(follow) => follow.message().unwrap_or(message),
            None => message,
        };
        match message {
            Message::Http1(rendered) => of_http1(rendered),
            Message::Http2(stream) => {
                let extra = self.call.as_ref().map(|call| call.extra());
                let own = extra.filter(|_| stream.call.as_ref().is_some_and(|c| c.fixed.is_none()));
                of_http2(stream, own, &stream.body)
            }
            Message::Varying(varying) => match &self.own {
                None => Side::default(),
                Some(own) => match own.opening(varying) {
                    None => of_http1(own.rendered()),
                    Some(opening) => {
                        let fields = opening.head.fields();
                        of_fields(fields, opening.extra, OwnRequest::body(own, varying))
                    }
                },
            },
        }
    }

    /// The first messages that its call sends, made once more.
    fn sent_messages(&self, call: &CallRequest) -> Vec<Excerpt> {
        let Some(state) = &self.call else {
            return Vec::new();
        };
        let context = state.context();
        let count = message_count(&call.plan, context).min(SHOWN_MESSAGES);
        let check = call.plan.reply_check.as_ref();
        let made = (0..count).map_while(|index| {
            let mut bytes = Vec::new();
            call.plan.data.message(context, index, &mut bytes).ok()?;
            let text = check.and_then(|check| check.text(Direction::Request, &bytes));
            Some(Excerpt {
                text,
                ..excerpt(&bytes)
            })
        });
        made.collect()
    }
}

/// The beginning of a body, as it is shown.
pub(super) fn excerpt(bytes: &[u8]) -> Excerpt {
    Excerpt {
        bytes: bytes[..bytes.len().min(SHOWN_BYTES)].to_vec(),
        length: bytes.len() as u64,
        text: None,
    }
}

fn bodies(body: &[u8]) -> Vec<Excerpt> {
    (!body.is_empty())
        .then(|| excerpt(body))
        .into_iter()
        .collect()
}

/// A request as HTTP/1.1 sends it.
fn of_http1(rendered: &Rendered) -> Side {
    let length = rendered.length();
    let mut bytes = Vec::with_capacity(length);
    while bytes.len() < length {
        bytes.extend_from_slice(rendered.piece(bytes.len(), length));
    }
    let (head, body) = bytes.split_at(rendered.head_length.min(bytes.len()));
    let head = String::from_utf8_lossy(head);
    let mut lines = head.split("\r\n").filter(|line| !line.is_empty());
    let line = lines.next().unwrap_or_default().to_owned();
    let fields = lines.filter_map(|line| line.split_once(':'));
    Side {
        line,
        fields: fields
            .map(|(name, value)| Field::of(name.as_bytes(), value.trim().as_bytes()))
            .collect(),
        bodies: bodies(body),
        ..Side::default()
    }
}

/// A request as HTTP/2 sends it.
fn of_http2(stream: &StreamRequest, extra: Option<Extra<'_>>, body: &[u8]) -> Side {
    of_fields(stream.head.fields(), extra, body)
}

/// The same from its fields: those of its own take the place of pseudo-fields.
fn of_fields<'a>(
    fields: impl Iterator<Item = (&'a [u8], &'a [u8])>,
    extra: Option<Extra<'a>>,
    body: &[u8],
) -> Side {
    let mut side = Side::default();
    let (mut method, mut path, mut authority) = (String::new(), String::new(), None);
    let own = extra.into_iter().flat_map(Extra::iter);
    for (name, value) in fields.chain(own) {
        let field = Field::of(name, value);
        match field.name.as_str() {
            ":method" => method = field.value,
            ":path" => path = field.value,
            ":authority" => authority = Some(field.value),
            ":scheme" => {}
            _ => side.fields.push(field),
        }
    }
    if let Some(authority) = authority {
        side.fields
            .insert(0, Field::of(b"host", authority.as_bytes()));
    }
    side.line = format!("{method} {path} HTTP/2");
    side.bodies = bodies(body);
    side
}
