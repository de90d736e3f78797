//! A ghz command line to a plan.

use super::options::Options;
use super::render::Presentation;
use super::setup::{self, Given, GivenMetadata};
use super::target::{self, Target};
use super::template::{CallNames, FunctionSet, Role, Templates, World};
use super::{Mistake, schedule};
use crate::{Defaults, Outcome, Question, Source};
use drumfire_plan::{
    Affinity, Arrivals, Body, Call, CallContext, CallData, CallKind, Connections, Drain, Expect,
    Header, HttpOptions, HttpRequest, HttpVersion, KeepAlive, KeepAliveHints, LatePolicy, Law,
    Load, MessageCompression, Method as Verb, Ping, Plan, ReusedClosed, Samples, Sequence, Spin,
    Spread, Stop, Streaming, Threshold, Timeouts, Unresolved, Users,
};
use drumfire_schema::reflection::Wanted;
use drumfire_schema::{Input, Metadata, Method, Refresh, ReplyForm, Schema};
use drumfire_units::Nanos;
use std::rc::Rc;
use std::sync::Arc;

/// Calls that may be under way at a time where nothing else bounds them (`--async`).
const IN_FLIGHT_MAX: u32 = 16_384;

/// How long a connection waits at most before it dials a refusing target again.
const BACKOFF_MAX: Nanos = Nanos::from_millis(250);

/// grpc-go asks for no sign of life sooner.
const SILENCE_MIN: Nanos = Nanos::from_secs(10);

/// Everything that is known before the schema is.
struct Request {
    options: Options,
    data: Given,
    metadata: GivenMetadata,
    limits: (u64, u64),
    world: Arc<dyn World>,
    /// What reaches the target; it says nothing yet.
    plan: Plan,
}

/// Makes a run of the options, or says what is wanted for it.
pub(super) fn lower(
    options: Options,
    source: &Rc<dyn Source>,
    world: &Arc<dyn World>,
    defaults: Defaults,
) -> Result<Outcome, Mistake> {
    let limits = setup::limits(&options).map_err(Mistake::Line)?;
    setup::check(&options)?;
    let tls = setup::tls(&options, &**source)?;
    let data = setup::data(&options, &**source)?;
    let metadata = setup::metadata(&options, &**source)?;
    let plan = reach(&options, tls, defaults)?;
    let schema = schema(&options, source)?;
    let request = Request {
        options,
        data,
        metadata,
        limits,
        world: Arc::clone(world),
        plan,
    };
    match schema {
        Some(schema) => Ok(request.run(&schema)?),
        None => Ok(request.ask()?),
    }
}

/// The schema of the files that are named, if any are.
fn schema(options: &Options, source: &Rc<dyn Source>) -> Result<Option<Schema>, String> {
    if !options.proto.is_empty() {
        let source = Rc::clone(source);
        let read = move |path: &str| source.read(path);
        let files = [options.proto.clone()];
        return Schema::from_proto(&files, &options.import_paths, read)
            .map(Some)
            .map_err(|error| error.to_string());
    }
    if !options.protoset.is_empty() {
        let path = &options.protoset;
        let wrong = |why: String| {
            let path = crate::go_text::quoted(path);
            format!("could not load protoset file {path}: {why}")
        };
        let bytes = source
            .read(path)
            .map_err(|error| wrong(crate::go_text::open_failed(path, &error)))?;
        return Schema::from_protoset(&bytes)
            .map(Some)
            .map_err(|error| wrong(error.to_string()));
    }
    Ok(None)
}

impl Request {
    /// Asks the server for the schema first.
    fn ask(self) -> Result<Outcome, String> {
        let wanted = Wanted::call(&self.options.call).map_err(|error| error.to_string())?;
        let metadata = self.options.reflect_metadata.iter();
        let metadata = metadata
            .map(|(key, value)| header(key, value))
            .collect::<Result<_, _>>()?;
        Ok(Outcome::NeedsSchema(Box::new(Question {
            plan: self.plan.clone(),
            wanted,
            metadata,
            limit: self.plan.timeouts.connect,
            then: Box::new(move |schema| {
                let outcome = schema.and_then(|schema| self.run(&schema));
                outcome.unwrap_or_else(|why| Mistake::Raw(why).into())
            }),
        })))
    }

    /// The run, now that the schema is known.
    fn run(mut self, schema: &Schema) -> Result<Outcome, String> {
        let method = schema
            .method(&self.options.call)
            .map_err(|error| error.to_string())?;
        let call = self.call(&method)?;
        self.plan.http.unresolved = Unresolved::Fail;
        let request = &mut self.plan.requests[0];
        let url = &mut request.url;
        url.target = method.path();
        request.call = Some(Arc::new(call));
        let fixed = self.fixed_headers(self.templates(&method).as_ref())?;
        self.plan.requests[0].headers.extend(fixed);
        if let Some(finding) = self.plan.check().first() {
            return Err(finding.to_string());
        }
        let (data, metadata) = (&self.data, &self.metadata);
        let presentation =
            Presentation::new(&self.options, &self.plan, data, metadata, &self.world)?;
        Ok(Outcome::Run {
            plan: Box::new(self.plan),
            presentation: presentation.into(),
        })
    }

    /// What the calls are.
    fn call(&self, method: &Method) -> Result<Call, String> {
        let options = &self.options;
        let input = self.input(method)?;
        let first = CallContext {
            number: 0,
            user: 0,
            connection: 0,
            unix_time: 0,
            seed: self.plan.seed,
        };
        input.check(&first).map_err(|error| error.to_string())?;
        Ok(Call {
            service: method.service().to_owned(),
            method: method.name().to_owned(),
            kind: method.kind(),
            data: Arc::new(input) as Arc<dyn CallData>,
            compression: match options.compression {
                true => MessageCompression::Gzip,
                // Go's client has gzip and says so in every call.
                false => MessageCompression::GzipReplies,
            },
            deadline: (options.timeout > Nanos::ZERO).then_some(options.timeout),
            streaming: streaming(options, method.kind()),
            receive_limit: self.limits.0,
            send_limit: self.limits.1,
            reply_check: Some(Arc::new(ReplyForm::of(method))),
        })
    }

    /// What the calls send.
    fn input(&self, method: &Method) -> Result<Input, String> {
        let templates = self.templates(method);
        let input = match &self.data {
            Given::Nothing => Ok(Input::empty(method)),
            Given::Binary(bytes) => Input::binary(method, bytes),
            Given::Json(text) if text.trim().is_empty() => {
                return Err("no data provided for request".to_owned());
            }
            Given::Json(text) => match parse(templates.as_ref(), text, Role::Data(0))? {
                Some(template) => Ok(Input::text(method, template)),
                None => Input::json(method, text),
            },
        };
        let mut input = input.map_err(|error| match &self.data {
            Given::Json(text) => {
                format!("Error creating message from data. Data: '{text}' Error: {error}")
            }
            _ => error.to_string(),
        })?;
        if self.options.stream_dynamic {
            input = input.with_refresh(Refresh::Message);
        }
        for metadata in self.varying_metadata(templates.as_ref())? {
            input = input.with_metadata(metadata);
        }
        Ok(input)
    }

    /// The templates of the run; `None` where nothing is one.
    fn templates(&self, method: &Method) -> Option<Templates> {
        if self.options.no_templates {
            return None;
        }
        let names = CallNames {
            service: method.service().to_owned(),
            method: method.name().to_owned(),
            input: method.input().name().to_owned(),
            output: method.output().name().to_owned(),
            client_streams: method.kind().client_streams(),
            server_streams: method.kind().server_streams(),
        };
        let set = match self.options.no_functions {
            true => FunctionSet::Builtin,
            false => FunctionSet::All,
        };
        Some(Templates::new(names, set, Arc::clone(&self.world)))
    }

    /// Metadata that differs between calls.
    fn varying_metadata(&self, templates: Option<&Templates>) -> Result<Vec<Metadata>, String> {
        let mut varying = Vec::new();
        match &self.metadata {
            GivenMetadata::Raw(text) => {
                let template = parse(templates, text, Role::Metadata(0))?;
                varying.extend(template.map(|template| Metadata::object(template)));
            }
            GivenMetadata::Texts(texts) => {
                for (n, (key, value)) in (0..).zip(texts) {
                    let template = parse(templates, value, Role::Metadata(n))?;
                    varying.extend(template.map(|template| Metadata::value(key, template)));
                }
            }
        }
        Ok(varying)
    }

    /// Metadata that is the same for all calls.
    fn fixed_headers(&self, templates: Option<&Templates>) -> Result<Vec<Header>, String> {
        let is_fixed = |text: &str| {
            let template = parse(templates, text, Role::Metadata(0))?;
            Ok::<bool, String>(template.is_none())
        };
        let texts = match &self.metadata {
            GivenMetadata::Texts(texts) => texts.clone(),
            GivenMetadata::Raw(text) if is_fixed(text)? => crate::grammar::go_json::text_map(text)
                .map_err(|why| format!("error unmarshaling metadata '{}': {why}", text.trim()))?,
            GivenMetadata::Raw(_) => return Ok(Vec::new()),
        };
        let mut headers = Vec::new();
        for (key, value) in &texts {
            if is_fixed(value)? {
                headers.push(header(key, value)?);
            }
        }
        Ok(headers)
    }
}

/// A text as a template, if it is one.
fn parse(
    templates: Option<&Templates>,
    text: &str,
    role: Role,
) -> Result<Option<Arc<super::template::CallTemplate>>, String> {
    let Some(templates) = templates else {
        return Ok(None);
    };
    let parsed = templates.parse(text, role);
    parsed
        .map(|template| template.map(Arc::new))
        .map_err(|error| error.to_string())
}

fn header(key: &str, value: &str) -> Result<Header, String> {
    Header::new(&key.to_ascii_lowercase(), value.as_bytes())
        .map_err(|error| format!("metadata: {error}"))
}

/// How streams go. A client's stream that only time ends goes through its data again and again.
fn streaming(options: &Options, kind: CallKind) -> Streaming {
    let count = (options.stream_call_count > 0).then_some(options.stream_call_count);
    let duration = options.stream_call_duration;
    let duration = (duration > Nanos::ZERO && kind != CallKind::Unary).then_some(duration);
    let endless = duration.map(|_| u64::MAX);
    Streaming {
        send: count.or(endless).filter(|_| kind.client_streams()),
        interval: options.stream_interval,
        duration,
        receive: count.filter(|_| kind == CallKind::ServerStream),
    }
}

/// A plan that can reach the target.
fn reach(options: &Options, tls: drumfire_plan::Tls, defaults: Defaults) -> Result<Plan, String> {
    let scheme = match options.insecure {
        true => "http",
        false => "https",
    };
    let Target { url, unix_socket } = target::parse(&options.host, scheme, "/")?;
    let authority = match (options.authority.as_str(), options.cname.as_str()) {
        ("", cname) if options.insecure || cname.is_empty() => None,
        ("", cname) => Some(cname),
        (authority, _) => Some(authority),
    };
    let authority = authority.map(|name| header("host", name)).transpose()?;
    let request = HttpRequest {
        url,
        method: Verb::parse("POST").map_err(|error| error.to_string())?,
        headers: authority.into_iter().collect(),
        body: Body(None),
        step: options.call.clone(),
        call: None,
    };
    let (load, users) = load(options);
    let thresholds = options.thresholds.iter().map(|text| {
        let threshold = text.parse::<Threshold>();
        threshold.map_err(|error| format!("threshold: {}", error.message))
    });
    Ok(Plan {
        requests: vec![request],
        connections: connections(options, users.as_ref()),
        users: users.filter(|users| match load {
            Load::Open { .. } => true,
            Load::Closed { .. } => users.changes().len() > 1,
        }),
        load,
        stop: stop(options),
        warmup: Nanos::ZERO,
        http: HttpOptions {
            version: HttpVersion::Http2,
            tls,
            unix_socket,
            ..HttpOptions::default()
        },
        timeouts: timeouts(options),
        expect: Expect::BELOW_400,
        samples: Samples::Keep,
        thresholds: thresholds.collect::<Result<_, _>>()?,
        seed: defaults.seed,
        interval: Nanos::from_secs(1),
    })
}

/// What ends the run: `-x` with `-n`, `-z` without, and only one of them.
fn stop(options: &Options) -> Stop {
    let total = (options.total > 0).then_some(options.total);
    let (duration, requests) = match (options.max_duration, options.duration) {
        (Nanos::ZERO, Nanos::ZERO) => (None, total),
        (Nanos::ZERO, duration) => (Some(duration), None),
        (longest, _) => (Some(longest), total),
    };
    Stop {
        duration,
        requests,
        iterations: None,
        drain: match options.duration_stop.to_ascii_lowercase().as_str() {
            "wait" => Drain::Wait,
            "ignore" => Drain::Ignore,
            _ => Drain::Close,
        },
    }
}

/// When calls start, and who makes them; nobody in particular with `--async`.
fn load(options: &Options) -> (Load, Option<Users>) {
    let stop = stop(options);
    let rate = schedule::rate(options, stop.requests, stop.duration);
    let users = (!options.asynchronous).then(|| schedule::workers(options));
    let open = |law| Load::Open {
        rate: Sequence(vec![law]),
        arrivals: Arrivals::Constant,
        late: LatePolicy::Queue,
    };
    match (rate, users) {
        (Some(rate), users) => (open(rate), users),
        (None, None) => {
            let duration = Nanos::MAX;
            (open(Law::Unlimited { duration }), None)
        }
        (None, Some(users)) => {
            let load = Load::Closed {
                users: users.most().max(1),
                think_time: Nanos::ZERO,
            };
            (load, Some(users))
        }
    }
}

/// The connections, and how many calls each carries at a time.
fn connections(options: &Options, users: Option<&Users>) -> Connections {
    let count = options.connections.clamp(1, u64::from(u32::MAX)) as u32;
    let most = users.map_or(IN_FLIGHT_MAX, Users::most);
    let threads = u32::try_from(options.cpus).unwrap_or(u32::MAX);
    Connections {
        count,
        streams: most.div_ceil(count).max(1),
        keep_alive: KeepAlive::Yes,
        reused_closed: ReusedClosed::Fail,
        hints: KeepAliveHints::Ignore,
        affinity: Affinity::User,
        backoff_max: BACKOFF_MAX,
        spread: spread(options),
        ping: ping(options.keepalive),
        threads: threads.clamp(1, count),
        spin: Spin::No,
    }
}

/// As grpc-go has it: the first address that accepts, unless a name is resolved by gRPC itself and
/// its addresses are to take turns.
fn spread(options: &Options) -> Spread {
    let in_turn = options.lb_strategy.eq_ignore_ascii_case("round_robin");
    match in_turn && target::is_resolved_by_grpc(&options.host) {
        true => Spread::Turn,
        false => Spread::First,
    }
}

/// One span for the silence and for the answer. grpc-go, and so ghz, raises the silence to its
/// own least.
fn ping(keepalive: Nanos) -> Option<Ping> {
    (keepalive > Nanos::ZERO).then(|| Ping {
        after: keepalive.max(SILENCE_MIN),
        timeout: keepalive,
    })
}

/// A call's timeout bounds it as a whole; opening a connection has its own.
fn timeouts(options: &Options) -> Timeouts {
    let bound = |span: Nanos| match span {
        Nanos::ZERO => Nanos::MAX,
        span => span,
    };
    let connect = bound(options.connect_timeout);
    Timeouts {
        total: bound(options.timeout),
        connect,
        tls: connect,
        head: bound(options.timeout),
    }
}
