//! gRPC calls: their method, their data, and the course of their streams.
//!
//! A call's data can be read only with the schema of its method, and the schema may have to be
//! fetched from a server. A pool of calls is therefore compiled in this order: the way to the
//! server, the schema ([`Calls::method`], once per service), the data, and the call around them. A
//! server is contacted only while no mistake has been found, because a mistyped flag should not
//! cost a timeout first.
//!
//! A call is an HTTP request. This module sets its parts by gRPC's rules: POST, the method's path
//! as target, the metadata as fields, and a body that consists of messages. The engine writes the
//! rest of the protocol (`te: trailers`, `grpc-timeout`, the prefix of each message) from [`Call`].
//!
//! The limits have gRPC's defaults, 4 MiB for a reply and 2 GiB for a request. A server that works
//! with its usual clients therefore works here.

use crate::data;
use crate::looks::looks_of_call;
use crate::made::{Made, Supply};
use crate::schema;
use crate::scope::Scope;
use crate::template_scope::TemplateScope;
use crate::transport::span;
use drumfire_document::names;
use drumfire_document::{CallOptions, Place, Pool, Request, Stream, Text};
use drumfire_grpc::Code;
use drumfire_plan::{
    Call, CallStatuses, Header, HttpRequest, Inquiry, MessageCompression, Method as Verb,
    ReplyCheck, RequestData, Streaming, Url, suggestion,
};
use drumfire_schema::reflection::Wanted;
use drumfire_schema::{Input, Method, ReplyForm, Schema};
use drumfire_units::{ByteSize, Nanos};
use std::sync::Arc;

/// The default maximum size of a received message: gRPC's usual 4 MiB.
const RECEIVE_MAX: ByteSize = ByteSize(4 << 20);
/// The default maximum size of a sent message: 2 GiB, as in gRPC's clients.
const SEND_MAX: ByteSize = ByteSize(2 << 30);

/// A request without a message. It fetches a server's schema, and each call is built around it.
pub(crate) fn silent(
    url: Url,
    options: &CallOptions,
    scope: &mut Scope<'_>,
) -> Option<HttpRequest> {
    let verb = scope.found.ok(&Place::Nowhere, Verb::parse("POST"))?;
    Some(HttpRequest {
        step: "grpc".to_owned(),
        headers: authority(options, scope),
        ..HttpRequest::new(verb, url)
    })
}

/// The `:authority` option as a Host field; the engine derives `:authority` from it. Without the
/// option, the engine uses the target's authority.
fn authority(options: &CallOptions, scope: &mut Scope<'_>) -> Vec<Header> {
    let name = options.authority.as_ref();
    let header = name.and_then(|name| {
        if !Header::is_authority(name.value.trim_ascii().as_bytes()) {
            let message = format!(
                "`{}` is not an authority; write a host, with a port if needed, such as \
                 shop.test:8443",
                name.value.escape_default()
            );
            scope.found.add(&name.place, message);
            return None;
        }
        let header = Header::new("host", name.value.as_bytes());
        scope.found.ok(&name.place, header)
    });
    header.into_iter().collect()
}

/// The options of a call, read once. `None` means the default, which depends on the call.
pub(crate) struct ReadOptions {
    /// The compression of messages and of replies.
    coding: Option<MessageCompression>,
    /// The deadline. A written 0 means no deadline and is stored as the maximum time.
    deadline: Option<Nanos>,
    /// The maximum size of a received message, in bytes.
    receive: Option<ByteSize>,
    /// The maximum size of a sent message, in bytes.
    send: Option<ByteSize>,
}

impl ReadOptions {
    /// Reads the options and notes mistakes in them.
    pub(crate) fn from_options(options: &CallOptions, scope: &mut Scope<'_>) -> Self {
        let codings = [
            ("gzip", MessageCompression::Gzip),
            ("zstd", MessageCompression::Zstd),
            ("identity", MessageCompression::Identity),
        ];
        Self {
            coding: scope.word(options.compress.as_ref(), &codings, "message compression"),
            deadline: span(options.deadline.as_ref(), scope),
            receive: scope.found.parse(options.max_receive.as_ref()),
            send: scope.found.parse(options.max_send.as_ref()),
        }
    }
}

/// The way to the server of a pool's calls, and the schemas fetched for them.
///
/// A value is made once per pool, after the way to the server was found valid, and receives each of
/// the pool's calls. Between two calls it keeps only the schemas.
pub(crate) struct Calls<'a> {
    pub(crate) pool: &'a Pool,
    /// The server of the calls, and the way to it.
    pub(crate) server: &'a Inquiry,
    /// The server from which the schema is fetched; usually the server of the calls.
    asked: &'a Inquiry,
    /// The schemas fetched so far, each with its question.
    known: Vec<(Wanted, Schema)>,
}

impl<'a> Calls<'a> {
    /// Creates the calls of a pool to `server`. The schema comes from `asked`, which may be another
    /// server.
    pub(crate) const fn new(pool: &'a Pool, server: &'a Inquiry, asked: &'a Inquiry) -> Self {
        Self {
            pool,
            server,
            asked,
            known: Vec::new(),
        }
    }

    /// Adds the call of a method.
    ///
    /// After a mistake, the request adds nothing. The requests after it are still compiled.
    pub(crate) fn add_call(
        &mut self,
        name: &Text,
        request: &Request,
        templates: &TemplateScope,
        made: &mut Made,
        scope: &mut Scope<'_>,
    ) {
        if let Some((request, supply)) = self.request(name, request, templates, scope) {
            made.add_request(request, supply, &name.place);
        }
    }

    /// A call of a method with its data, without metadata. The options are checked even if the data
    /// could not be made, so that both mistakes are found.
    pub(crate) fn called(
        &self,
        method: &Method,
        request: &Request,
        data: Option<Arc<dyn RequestData>>,
        may_read: &TemplateScope,
        scope: &mut Scope<'_>,
    ) -> Option<HttpRequest> {
        let mut options = request.options.clone();
        drumfire_document::Layer::fill(&mut options, &self.pool.settings.options);
        let mut made = silent(self.server.request().url.clone(), &options, scope)?;
        let streaming = streaming(&request.stream, method, scope);
        made.url.target = method.path();
        made.inspection = looks_of_call(request, self.pool, method, may_read, scope);
        let mut call = self.call(&options, method, data?, streaming, scope);
        let status = request.expect.status.as_ref();
        if let Some(expect) = status.and_then(|text| scope.found.ok(&text.place, statuses(text))) {
            call.expect = expect;
        }
        made.call = Some(Arc::new(call));
        Some(made)
    }

    /// One call, with the number of calls for which its data suffices.
    ///
    /// If a request sets no metadata or template language, the pool's apply.
    fn request(
        &mut self,
        name: &Text,
        request: &Request,
        may_read: &TemplateScope,
        scope: &mut Scope<'_>,
    ) -> Option<(HttpRequest, Supply)> {
        // Check this before a server is contacted, because a mistake prevents the contact.
        if let Some(text) = &request.expect.status {
            scope.found.ok(&text.place, statuses(text));
        }
        let method = self.method(name, scope)?;
        let common = &self.pool.settings.fields.metadata;
        let mut written = request.clone();
        let templates = &mut written.data.templates;
        *templates = templates
            .take()
            .or_else(|| self.pool.settings.templates.clone());
        let sent = data::sent(&written, common, &method, may_read, scope);
        let (input, fields) = sent.map(|sent| (sent.input, sent.fields)).unzip();
        let supply = input.as_ref().map(Supply::of_input).unwrap_or_default();
        let sent = input.as_ref().and_then(Input::messages_each);
        if method.kind().client_streams() {
            lone_message(&request.stream, sent, scope);
        }
        let input = input.map(|input| Arc::new(input) as Arc<dyn RequestData>);
        let mut made = self.called(&method, request, input, may_read, scope)?;
        made.headers.extend(fields?);
        made.step = request.name.as_ref().unwrap_or(name).value.clone();
        Some((made, supply))
    }

    /// The method of this name, from a schema fetched earlier or now. Returns `None` after a
    /// mistake of the name or of the server was noted.
    ///
    /// Schemas are stored by question instead of by name. The answer for a service contains all its
    /// methods, so ten calls of one service cause one question.
    pub(crate) fn method(&mut self, name: &Text, scope: &mut Scope<'_>) -> Option<Method> {
        let place = &name.place;
        let wanted = scope.found.ok(place, Wanted::call(&name.value))?;
        let known = self.known.iter().find(|(known, _)| *known == wanted);
        let schema = match known {
            Some((_, schema)) => schema.clone(),
            None => {
                let written = &self.pool.settings.schema;
                // A command line has only one call, so the place of its flag adds no information.
                let at = match place {
                    Place::File { .. } => place,
                    _ => &Place::Nowhere,
                };
                let schema = schema::schema(written, self.asked, &wanted, at, scope)?;
                self.known.push((wanted, schema.clone()));
                schema
            }
        };
        scope.found.ok(place, schema.method(&name.value))
    }

    /// Builds the call, with defaults for all options that are not written.
    ///
    /// A call without a deadline gets the pool's timeout as deadline, so that the server knows when
    /// the client stops waiting. A timeout of 0 means no deadline.
    fn call(
        &self,
        options: &CallOptions,
        method: &Method,
        data: Arc<dyn RequestData>,
        streaming: Streaming,
        scope: &mut Scope<'_>,
    ) -> Call {
        let read = ReadOptions::from_options(options, scope);
        let deadline = read.deadline;
        let deadline = deadline.unwrap_or_else(|| self.server.pool().timeouts.total);
        let checked = options.reply_check.as_ref().is_none_or(|check| check.value);
        Call {
            service: method.service().to_owned(),
            method: method.name().to_owned(),
            kind: method.kind(),
            data,
            compression: read.coding.unwrap_or(MessageCompression::GzipReplies),
            deadline: (deadline < Nanos::MAX).then_some(deadline),
            streaming,
            receive_limit: read.receive.unwrap_or(RECEIVE_MAX).0,
            send_limit: read.send.unwrap_or(SEND_MAX).0,
            reply_check: checked
                .then(|| Arc::new(ReplyForm::for_method(method)) as Arc<dyn ReplyCheck>),
            expect: CallStatuses::OK,
        }
    }
}

/// Parses statuses by name or number, such as `OK, NOT_FOUND`. An unknown status such as `NOTFOUND`
/// gets a similar name as suggestion.
fn statuses(text: &Text) -> Result<CallStatuses, String> {
    let mut expect = CallStatuses::NONE;
    for part in text.value.split(',').map(str::trim) {
        let number = part.parse().ok().and_then(Code::of_number);
        let code = number.or_else(|| Code::of_name(part));
        let Some(code) = code else {
            let names = (0..Code::COUNT as u8).filter_map(Code::of_number);
            let near = suggestion(part, names.map(Code::name));
            let part = part.escape_debug();
            return Err(format!(
                "unknown call status `{part}`{near}; write one such as NOT_FOUND, or a list such \
                 as OK, NOT_FOUND"
            ));
        };
        expect = expect.with(code.number());
    }
    Ok(expect)
}

/// Notes settings for the time between messages, or for the time in which messages are sent, on a
/// call that sends at most one message. They have no effect there. Such settings on the command
/// lines of other tools are ignored, as the tools do.
fn lone_message(written: &Stream, of_data: Option<u64>, scope: &mut Scope<'_>) {
    let count = written.count.as_ref().map(|count| count.value);
    if count.or(of_data).is_none_or(|messages| messages > 1) {
        return;
    }
    let settings = [
        ("stream.interval", &written.interval),
        ("stream.duration", &written.duration),
    ];
    for (key, text) in settings {
        let Some(Text { place, .. }) = text else {
            continue;
        };
        if matches!(place, Place::Dialect { .. }) {
            continue;
        }
        let (name, count) = (names::name(place, key), names::name(place, "stream.count"));
        let message = format!(
            "{name} has no effect on a call that sends one message; repeat its data with {count}"
        );
        scope.found.add(place, message);
    }
}

/// The course of a call's streams. A setting that has no effect on the method's kind is refused
/// instead of ignored: a number of messages for a unary method shows that another method was meant.
fn streaming(written: &Stream, method: &Method, scope: &mut Scope<'_>) -> Streaming {
    let kind = method.kind();
    let (sends, receives) = (kind.client_streams(), kind.server_streams());
    let place = |text: &Option<Text>| text.as_ref().map(|text| text.place.clone());
    let counted =
        |count: &Option<drumfire_document::Count>| count.as_ref().map(|count| count.place.clone());
    for (key, written, streams, who) in [
        ("stream.count", counted(&written.count), sends, "the client"),
        (
            "stream.interval",
            place(&written.interval),
            sends,
            "the client",
        ),
        (
            "stream.duration",
            place(&written.duration),
            sends || receives,
            "either side",
        ),
        (
            "stream.receive",
            counted(&written.receive),
            receives,
            "the server",
        ),
    ] {
        let Some(place) = written.filter(|_| !streams) else {
            continue;
        };
        let name = names::name(&place, key);
        let (service, method) = (method.service(), method.name());
        let message = format!(
            "{name} is only for methods that stream from {who}; {service}/{method} does not"
        );
        scope.found.add(&place, message);
    }
    if let Some(none) = written.receive.as_ref().filter(|count| count.value == 0) {
        let message = "a call can only be cancelled after a message; write at least 1";
        scope.found.add(&none.place, message);
    }
    let interval = scope.found.parse(written.interval.as_ref());
    Streaming {
        send: written.count.as_ref().map(|count| count.value),
        interval: interval.unwrap_or_default(),
        duration: scope.found.parse(written.duration.as_ref()),
        receive: written.receive.as_ref().map(|count| count.value),
    }
}
