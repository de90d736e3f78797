//! HTTP requests and their responses.

use crate::keys::fields::{nested, table};
use crate::keys::{Flag, Group, Number, On};
use crate::{Count, Field, Payload, Place, Switch, Text};

table! {
    /// The protocol of the target.
    pub struct Http [] {
        http: Option<Text> = "HTTP version: `1` or `2`",
            Flag::new(Group::Request, "--http2",
                "Use HTTP/2: by ALPN on https, by prior knowledge on http").on(On::HTTP.and(On::LLM).and(On::WS)).first().sets("2");
        compressed: Option<Text> =
            "`true`: request compressed responses and decode them; `gzip`: request only gzip; `false`: neither",
            Flag::new(Group::Request, "--compressed", "Request compressed bodies and decode them");
        max_decoded: Option<Text> = "Maximum size of a decoded body, by default `64MiB`";
        redirects: Option<Text> =
            "Maximum number of redirects to follow; `refuse`: a redirect is a failure",
            Flag::new(Group::Request, "-L, --location <N>",
                "Follow up to N redirects [default: report the redirect itself]").number(Number::Redirects);
        redirect_style: Option<Text> =
            "Method of a redirected request: `fetch` (the default): as browsers do, 303 changes every method to GET, and 301 and 302 change POST to GET; `go`: as Go's client does, all three change every method to GET, and `Referer` contains the previous URL";
        expect_continue: Option<Switch> = "Wait for `100 Continue` before sending a body",
            Flag::new(Group::Request, "--expect-continue",
                "Send `Expect: 100-continue` before a body");
        expect: ExpectSettings =
            "What a response must be to count as ok; by default, its status is in `100-399`";
    } []
}

table! {
    /// The conditions under which a response is ok; all of them must hold.
    pub struct ExpectSettings [] {
        status: Option<Text> =
            "Statuses that are ok, such as `200-299, 301`; `2xx` is `200-299`. For calls, names such as `OK, NOT_FOUND`, by default `OK`",
            Flag::new(Group::Request, "--expect-status <LIST>",
                "Statuses that count as ok, such as 200-299,301 [default: 100-399]");
        time: Option<Text> = "Bound on the response time, such as `<500ms`";
        header: Vec<Field> = "Checks of header fields, by name",
            Flag::new(Group::Request, "--expect-header <CHECK>",
                "Check of a response header, such as 'Server: exists'; repeatable");
        body: Vec<Text> =
            "Check of the body, such as `contains TEXT`, `equals TEXT` or `matches /regex/`, or a list of checks",
            Flag::new(Group::Request, "--expect-body <CHECK>",
                "Check of the response body, such as 'contains TEXT' or 'matches /REGEX/'; repeatable").on(On::HTTP.and(On::LLM).and(On::WS));
        body_size: Option<Text> = "Size of the body in bytes, or a bound on it, such as `<10kB`";
        body_hash: Option<Text> =
            "Digest of the body: `sha256 …`, `xxh3 …` or `fnv1a64 …`; add `sample 10%` to hash only that share of bodies. A line of a `list` can have its own hash after the URL",
            Flag::new(Group::Request, "--expect-hash <HASH>",
                "Hash of the response body, such as 'sha256 9f86…' or 'xxh3 … sample 10%'; in a list, a URL may be followed by its hash");
        json: Vec<Field> = "Checks of values in a JSON body, by JSONPath (RFC 9535)";
        xml: Vec<Field> = "Checks of values in an XML body, by XPath";
        css: Vec<Field> = "Checks of elements in an HTML body, by CSS selector";
        js: Option<Text> = "Function of the pool's script that judges the response";
        each: EachSettings =
            "Checks of each event of a stream, or of each message of a call, as it arrives";
    } []
}

table! {
    /// The conditions that each event of a stream, or each message of a call, must meet.
    pub struct EachSettings [] {
        body: Vec<Text> =
            "Check of the data of each event, or of each message, such as `not contains error`, or a list of checks",
            Flag::new(Group::Request, "--expect-each <CHECK>",
                "Check of each event, as it arrives, such as 'not contains error'; repeatable").on(On::HTTP).needs("events");
        json: Vec<Field> = "Checks of values in the JSON of each event or message, by JSONPath";
        xml: Vec<Field> = "Checks of values in the XML of each event, by XPath";
        css: Vec<Field> = "Checks of elements in the HTML of each event, by CSS selector";
    } []
}

table! {
    /// How the responses of HTTP requests are read.
    pub struct EventSettings [] {
        read: Option<Text> =
            "How to read a response: as one `body` (the default); as `events`, that is, server-sent events, each counted and timed; or as the answer of a language model, whose tokens are counted and timed: `chat`, `completions`, `responses`, `messages`, `embeddings` or `rerank`",
            Flag::new(Group::Request, "--events",
                "Read responses as server-sent events, each counted and timed").on(On::HTTP).sets("events");
        gap_timeout: Option<Text> =
            "Maximum time without an event of a stream, or without a message of a WebSocket, such as `10s`; `0` means no limit, which is the default unless `llm` makes the request",
            Flag::new(Group::Timeouts, "--gap-timeout <TIME>",
                "Maximum time from one event, or message, to the next [default: no limit; 60s for answers of a model]")
                .on(On::HTTP.and(On::LLM).and(On::WS)).needs("events");
        stream_duration: Option<Text> =
            "How long a stream lasts at most, such as `10m`, from the first write of its request; drumfire then ends the exchange, which is not a failure",
            Flag::new(Group::Request, "--stream-duration <TIME>",
                "End a stream of events after this time (not a failure)").on(On::HTTP).needs("events");
        max_events: Option<Count> =
            "Number of events after which drumfire ends the exchange, which is not a failure",
            Flag::new(Group::Request, "--max-events <N>",
                "End an exchange after N events (not a failure)").on(On::HTTP).needs("events");
    } []
}

table! {
    /// The fields of every request and every call that has no field of that name itself.
    pub struct CommonFields [] {
        headers: Vec<Field> = "Header fields of every HTTP request",
            Flag::new(Group::Request, "-H, --header <HEADER>",
                "Header `Name: value`; repeatable").on(On::HTTP.and(On::LLM).and(On::WS)).first();
        metadata: Vec<Field> = "Metadata of every call";
        traceparent: Option<Switch> = "Send a unique W3C traceparent with every request and call",
            Flag::new(Group::Request, "--traceparent",
                "Send a unique W3C traceparent with each request, and list the slowest in the report").on(On::SENDS);
    } []
}

table! {
    /// The body of every HTTP request without its own.
    pub struct CommonBody [
        /// The bytes.
        payload: Option<Payload>,
    ] {
        "body_lines" => lines: Option<Switch> = "Use each line of the body as a separate body",
            Flag::new(Group::Request, "--body-lines",
                "Send each line of -d as a separate body").on(On::HTTP).needs("data");
        order: Option<Text> = "Order in which requests use the lines: `turn`, `random` or `once`",
            Flag::new(Group::Data, "--order <ORDER>",
                "Order of the data of -d, if it is a list: turn, random, or once [default: turn]").on(On::HTTP).needs("body-lines").choices(&["turn", "random", "once"]);
    } []
}

table! {
    /// The exchanges of a pool that outputs receive in addition to figures.
    ///
    /// drumfire's own outputs request exchanges if they need them. The reports of other tools
    /// always need them, so the document of such a run contains this setting, and describes the
    /// whole run on any machine.
    pub struct Kept [] {
        "keep_samples" => samples: Option<Switch> =
            "Keep every request in addition to the figures, for the reports of other tools";
        "keep_transcripts" => transcripts: Option<Text> =
            "Exchanges to keep in full, for the reports of other tools: `all`, or those with at least this status, such as `500`; a gRPC status counts as 1000 plus its code";
    } []
}

nested!(ExpectSettings => "expect", EachSettings => "each");

impl Kept {
    /// Every exchange in full.
    #[must_use]
    pub fn every_exchange() -> Self {
        Self {
            samples: None,
            transcripts: Some(Text::new("all".to_owned(), Place::Nowhere)),
        }
    }
}
