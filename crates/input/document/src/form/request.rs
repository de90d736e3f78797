//! Requests as mappings: `get: /`, `call: package.Service/Method`, `list: urls.txt`.

use super::ammo::AmmoKeys;
use super::payload::CallPayload;
use super::socket::SocketKeys;
use crate::Layer as _;
use crate::diagnostic::Findings;
use crate::keys::fields::{
    Entry, Fields, entries, fields_schema, items, read_fields, show_fields, table,
};
use crate::keys::node::Node;
use crate::keys::schema::{self, Definitions};
use crate::keys::tree::Tree;
use crate::keys::{Flag, Group, KeyValue, On};
use crate::{
    Ask, CallOptions, Count, Data, EventSettings, ExpectSettings, Field, Fields as Carried,
    Payload, Place, Placed, Request, Socket, SocketSettings, Stream, Switch, Text,
};
use serde_json::Value;

/// The name of a mapping in messages.
const WHAT: &str = "a request";

/// Keys that only the steps of a scenario have.
const OF_STEPS: [&str; 5] = ["pause", "set", "if", "repeat", "on_fail"];

/// The keys of a body of an HTTP request.
const BODY: [&str; 6] = [
    "body",
    "body_file",
    "body_base64",
    "json",
    "form",
    "multipart",
];

/// The keys that define a request; a mapping has exactly one of them.
pub(super) const ASKS: [&str; 20] = [
    "get",
    "head",
    "post",
    "put",
    "patch",
    "delete",
    "options",
    "trace",
    "url",
    "list",
    "ammo",
    "ammo_lines",
    "call",
    "llm",
    "connect",
    "send",
    "send_file",
    "send_base64",
    "receive",
    "close",
];

table! {
    /// A request's keys, as a mapping contains them. All keys are read for any kind of request, so
    /// that a message can name a key that does not fit instead of calling it unknown.
    pub(crate) struct Keys [
        verbs: Verbs,
    ] {
        list: Option<Text> = "File with one URL, or path on the target, per line";
        method: Option<Text> = "Method of `url` or `list`",
            Flag::new(Group::Request, "-X, --method <METHOD>",
                "Method [default: GET, or POST with -d]").on(On::HTTP).first();
        url: Option<Text> = "URL, or path on the target";
        call: Option<Text> = "gRPC method, as `package.Service/Method`",
            Flag::new(Group::Call, "--call <METHOD>",
                "The method, as package.Service/Method").first();
        llm: Option<Text> = "Request to a language model: `prompt`, as the `llm` of the pool describes it";
        name: Option<Text> =
            "Name under which its figures are reported; by default its URL or path as written, or the method of a call";
        weight: Option<Count> = "Share among the requests of the list, by default 1";
        headers: Vec<Field> =
            "Header fields of an HTTP request, or of all requests of a file; they override the pool's fields of the same name";
        metadata: Vec<Field> = "Metadata of a call, or of all calls of a file",
            Flag::new(Group::Call, "-H, --metadata <METADATA>",
                "Metadata `key: value`; the value is a template; repeatable");
        metadata_file: Option<Text> = "File with the metadata of a call, as a JSON object";
        expect: ExpectSettings = "What the response must be to count as ok; absent keys come from the pool";
        timeout: Option<Text> =
            "Maximum total time of this HTTP request, such as `5s`, instead of the pool's; `0` means no limit. For a call, use `deadline`";
        take: Vec<Field> =
            "In a scenario: variables to take from the response, such as `json $.id` or `header Location`";
    } [
        body: Option<Payload>,
        data: CallPayload,
        coding: Coding,
        options: CallOptions,
        events: EventSettings,
        socket: SocketSettings,
        on_socket: SocketKeys,
        ammo: AmmoKeys,
    ]
}

table! {
    /// Methods that are keys; other methods are written with `method` and `url`.
    pub(crate) struct Verbs [] {
        get: Option<Text> = "URL, or path on the target, to request with GET";
        head: Option<Text> = "URL, or path on the target, to request with HEAD";
        post: Option<Text> = "URL, or path on the target, to request with POST";
        put: Option<Text> = "URL, or path on the target, to request with PUT";
        patch: Option<Text> = "URL, or path on the target, to request with PATCH";
        delete: Option<Text> = "URL, or path on the target, to request with DELETE";
        options: Option<Text> = "URL, or path on the target, to request with OPTIONS";
        trace: Option<Text> = "URL, or path on the target, to request with TRACE";
    } []
}

table! {
    /// The settings of the payload.
    pub(crate) struct Coding [] {
        binary: Option<Switch> =
            "Treat the data of a call as encoded messages; send the message of a WebSocket as a binary one",
            Flag::new(Group::Call, "--binary",
                "The data is one encoded message, or several, each preceded by its length").needs("data");
        "body_lines" => lines: Option<Switch> = "Use each line of the body as a separate body";
        templates: Option<Text> = "Template language of this request, instead of the pool's";
        order: Option<Text> =
            "Order in which HTTP requests use the lines of a body, or calls the messages of a list: `turn`, `random` or `once`",
            Flag::new(Group::Data, "--order <ORDER>",
                "Order of the data of -d, if it is a list: turn, random, or once [default: turn]").on(On::GRPC).choices(&["turn", "random", "once"]);
        worker_name: Option<Text> = "For Go templates: text before each `{{.WorkerID}}`";
        workers: Option<Count> =
            "For Go templates: number of workers to which calls are assigned in turn, instead of the users";
        stream: Stream = "How to send the messages of a stream";
    } []
}

impl Verbs {
    /// Each method with its URL.
    fn all(&mut self) -> [(&'static str, &mut Option<Text>); 8] {
        [
            ("GET", &mut self.get),
            ("HEAD", &mut self.head),
            ("POST", &mut self.post),
            ("PUT", &mut self.put),
            ("PATCH", &mut self.patch),
            ("DELETE", &mut self.delete),
            ("OPTIONS", &mut self.options),
            ("TRACE", &mut self.trace),
        ]
    }
}

impl Keys {
    /// The request itself; a mapping has one.
    fn ask(&mut self, place: &Place, found: &mut Findings) -> Option<Ask> {
        let mut asks = Vec::new();
        for (name, url) in self.verbs.all() {
            asks.extend(url.take().map(|url| Ask::Url {
                method: Placed::new(name.to_owned(), url.place.clone()),
                url,
            }));
        }
        let usual = |place: &Place| Placed::new("GET".to_owned(), place.clone());
        let mut method = self.method.take();
        let mut method_at = |place: &Place| method.take().unwrap_or_else(|| usual(place));
        asks.extend(self.url.take().map(|url| Ask::Url {
            method: method_at(&url.place),
            url,
        }));
        asks.extend(self.list.take().map(|file| Ask::List {
            method: method_at(&file.place),
            file,
        }));
        asks.extend(self.call.take().map(Ask::Call));
        asks.extend(self.llm.take().map(Ask::Llm));
        let ammo = self.ammo.take().into_iter();
        asks.extend(ammo.map(|ammo| Ask::Ammo(Box::new(ammo))));
        let socket = self.on_socket.take_socket(found).into_iter();
        asks.extend(socket.map(|socket| Ask::Socket(Box::new(socket))));
        if let Some(method) = method {
            found.add(&method.place, "`method` needs a `url` or a `list`");
        }
        check_asks(&asks, place, found);
        asks.into_iter().next()
    }

    /// Notes settings that have no effect on this kind of request.
    fn check(&self, ask: &Ask, place: &Place, found: &mut Findings) {
        let mut own = Vec::new();
        Fields::show(self, &mut own);
        for Misplaced { keys, instead } in misplaced(ask) {
            for key in keys {
                if own.iter().any(|(own, _)| own == key) {
                    let place = self.place(key).unwrap_or(place);
                    found.add(place, format!("`{key}` is {instead}"));
                }
            }
        }
    }

    /// Builds the request from the keys.
    pub(super) fn request(mut self, place: &Place, found: &mut Findings) -> Option<Request> {
        let ask = self.ask(place, found)?;
        self.check(&ask, place, found);
        let is_call = ask.is_call();
        let listed = if is_call { self.metadata } else { self.headers };
        let payload = if is_call { self.data.0 } else { self.body };
        let Coding {
            binary,
            lines,
            templates,
            order,
            worker_name,
            workers,
            stream,
        } = self.coding;
        Some(Request {
            ask,
            name: self.name,
            weight: self.weight,
            fields: match self.metadata_file {
                Some(file) if is_call => {
                    found.add_if(
                        !listed.is_empty(),
                        &file.place,
                        "use only one of `metadata` and `metadata_file`",
                    );
                    Carried::File(file)
                }
                _ => Carried::Listed(listed),
            },
            data: Data {
                payload,
                binary,
                lines,
                templates,
                order,
                worker_name,
                workers,
            },
            stream,
            options: self.options,
            events: self.events,
            socket: self.socket,
            expect: self.expect,
            timeout: self.timeout,
            take: self.take,
        })
    }

    /// The keys of a request.
    pub(super) fn from_request(request: &Request) -> Self {
        let mut keys = Self {
            name: request.name.clone(),
            weight: request.weight.clone(),
            coding: Coding {
                binary: request.data.binary.clone(),
                lines: request.data.lines.clone(),
                templates: request.data.templates.clone(),
                order: request.data.order.clone(),
                worker_name: request.data.worker_name.clone(),
                workers: request.data.workers.clone(),
                stream: request.stream.clone(),
            },
            options: request.options.clone(),
            events: request.events.clone(),
            socket: request.socket.clone(),
            expect: request.expect.clone(),
            timeout: request.timeout.clone(),
            take: request.take.clone(),
            ..Self::default()
        };
        let is_call = request.ask.is_call();
        match &request.ask {
            Ask::Call(method) => keys.call = Some(method.clone()),
            Ask::Llm(kind) => keys.llm = Some(kind.clone()),
            Ask::Ammo(ammo) => keys.ammo = AmmoKeys::from_ammo(ammo),
            Ask::Socket(socket) => keys.on_socket = SocketKeys::from_socket(socket),
            Ask::List { method, file } => {
                keys.list = Some(file.clone());
                keys.method = (method.value != "GET").then(|| method.clone());
            }
            Ask::Url { method, url } => {
                let mut verbs = keys.verbs.all().into_iter();
                match verbs.find(|(name, _)| *name == method.value) {
                    Some((_, place)) => *place = Some(url.clone()),
                    None => {
                        keys.method = Some(method.clone());
                        keys.url = Some(url.clone());
                    }
                }
            }
        }
        match &request.fields {
            Carried::Listed(fields) if is_call => keys.metadata.clone_from(fields),
            Carried::Listed(fields) => keys.headers.clone_from(fields),
            Carried::File(file) => keys.metadata_file = Some(file.clone()),
        }
        let payload = request.data.payload.clone();
        if is_call {
            keys.data = CallPayload(payload);
        } else {
            keys.body = payload;
        }
        keys
    }
}

/// Keys that have no effect on a kind of request.
struct Misplaced {
    keys: Vec<&'static str>,
    /// Where they have an effect, after "is".
    instead: &'static str,
}

impl Misplaced {
    fn new(keys: &[&'static str], instead: &'static str) -> Self {
        let keys = keys.to_vec();
        Self { keys, instead }
    }
}

/// The keys that have no effect on a request of this kind.
fn misplaced(ask: &Ask) -> Vec<Misplaced> {
    let mut all = vec![Misplaced::new(
        &AmmoKeys::OTHERS,
        "only for files of requests (`ammo`)",
    )];
    if ask.is_call() {
        all.extend(misplaced_on_call());
    } else {
        all.extend(misplaced_off_call());
    }
    match ask {
        Ask::Llm(_) => {
            let own = [&BODY[..], &["body_lines", "order", "read"]].concat();
            let instead = "made by the `llm` of the pool; leave it out";
            all.push(Misplaced::new(&own, instead));
        }
        Ask::Socket(socket) => {
            all.extend(misplaced_on_socket(socket));
            return all;
        }
        _ => {}
    }
    all.push(Misplaced::new(
        &["subprotocols", "message_compression"],
        "for WebSockets (`connect`)",
    ));
    if !ask.is_call() {
        all.push(Misplaced::new(&["binary"], "for calls and WebSockets"));
    }
    all
}

fn misplaced_on_call() -> [Misplaced; 4] {
    let body = [&BODY[..], &["body_lines"]].concat();
    [
        Misplaced::new(
            &["headers"],
            "for HTTP requests; for a call, use `metadata`",
        ),
        Misplaced::new(
            &["timeout"],
            "for HTTP requests; for a call, use `deadline`",
        ),
        Misplaced::new(
            &["read", "gap_timeout", "stream_duration", "max_events"],
            "for HTTP requests; the messages of a call are read one by one anyway",
        ),
        Misplaced::new(&body, "for HTTP requests; for a call, use `data`"),
    ]
}

fn misplaced_off_call() -> [Misplaced; 3] {
    let mut others = vec!["worker_name", "workers", "stream"];
    CallOptions::keys(&mut others);
    [
        Misplaced::new(&["metadata", "metadata_file"], "for calls; use `headers`"),
        Misplaced::new(
            &["data", "data_file", "data_base64"],
            "for calls; use `body`",
        ),
        Misplaced::new(&others, "for calls"),
    ]
}

fn misplaced_on_socket(socket: &Socket) -> Vec<Misplaced> {
    let reading = [
        "body_lines",
        "order",
        "read",
        "stream_duration",
        "max_events",
    ];
    let mut all = vec![
        Misplaced::new(&BODY, "for HTTP requests; for a WebSocket, use `send`"),
        Misplaced::new(&reading, "not for WebSockets"),
    ];
    if socket.connect.is_none() {
        all.push(Misplaced::new(
            &["headers", "subprotocols", "message_compression"],
            "for the step that opens the WebSocket (`connect`)",
        ));
    }
    if socket.send.is_none() {
        all.push(Misplaced::new(&["binary"], "for the message of `send`"));
    }
    if socket.receive.is_none() {
        all.push(Misplaced::new(
            &["gap_timeout"],
            "for steps that receive (`receive`)",
        ));
    }
    all
}

/// Notes a mapping that defines no request, or several.
fn check_asks(asks: &[Ask], place: &Place, found: &mut Findings) {
    let places: Vec<&Place> = asks.iter().map(|ask| &ask.text().place).collect();
    let last = places.iter().max_by_key(|place| place.position());
    let (place, message) = match (places.len(), last) {
        (1, _) => return,
        (_, Some(last)) => {
            let names = places.iter().map(|place| format!("`{}`", place.key()));
            let names: Vec<String> = names.collect();
            let message = format!(
                "one request can't have {}; write each as a separate request, after a `-`",
                names.join(" and ")
            );
            (*last, message)
        }
        (_, None) => {
            let message = "a request needs exactly one of `get`, `head`, `post`, `put`, `patch`, \
                           `delete`, `options`, `trace`, `url`, `list`, `call`, `llm`, `ammo` and \
                           `ammo_lines`, or `connect`, `send`, `receive` or `close` for a \
                           WebSocket";
            (place, message.to_owned())
        }
    };
    found.add(place, message);
}

impl Entry for Vec<Request> {
    const VALUE: KeyValue = KeyValue::ListOf("requests");

    fn read(node: &Placed<Node>, found: &mut Findings) -> Self {
        let mut requests = Self::new();
        for item in items(node) {
            if entries(item, WHAT, found).is_empty() {
                found.add_if(
                    matches!(item.value, Node::Null | Node::Map(_)),
                    &item.place,
                    "the request is empty; write one such as `get: /`",
                );
                continue;
            }
            if let Some(key) = entries(item, WHAT, found)
                .iter()
                .map(|(key, _)| key)
                .find(|key| OF_STEPS.contains(&&*key.value))
            {
                let message = format!(
                    "`{}` is for the steps of a `scenario`; these are `requests`",
                    key.value
                );
                found.add(&key.place, message);
                continue;
            }
            let keys: Keys = read_fields(item, WHAT, found);
            requests.extend(keys.request(&item.place, found));
        }
        requests
    }

    fn show(&self) -> Option<Tree> {
        let requests = self
            .iter()
            .filter_map(|request| show_fields(&Keys::from_request(request)));
        (!self.is_empty()).then(|| Tree::List(requests.collect()))
    }

    fn fill(&mut self, _: &Self) {}

    fn place(&self) -> Option<&Place> {
        self.first().map(|request| &request.ask.text().place)
    }

    fn schema(definitions: &mut Definitions) -> Value {
        let request = schema::defined("request", definitions, |definitions| {
            schema::with_one_of(
                fields_schema::<Keys>(definitions),
                &ASKS,
                &SocketKeys::NAMES,
            )
        });
        schema::one_or_many(&request)
    }
}
