//! The tables of keys: the flag that sets a key, where one does, the field that the key sets, and its
//! description for editors.
//!
//! A new setting is a field of the document, a line here, and its meaning in the compiler. The
//! order is that in which keys are printed.

use super::fields::{fields, nested};
use crate::{
    CallOptions, CommonBody, CommonFields, Connections, Document, Expect, Generator, Http, Kept,
    Load, Monitoring, Outputs, Pool, Reach, Reflection, Schema, Settings, Stop, Stream, Timeouts,
    Tls,
};

fields!(Load {
    "rate" / "-r" => rate:
        "Requests or iterations per second, such as 500/s, or a law such as line(5,200,1m) const(200,5m)",
    "rate_per" => rate_per: "Whether the rate is of `all` users together or of each `user`",
    "arrivals" / "--arrivals" => arrivals:
        "How arrivals are spread at the rate: constant or poisson",
    "late" / "--late" => late:
        "What becomes of an arrival that finds no connection free: queue, skip or drop(2s)",
    "users" / "-u" => users: "How many users there are, or a law of their number",
    "start" => start:
        "The law by which users begin, one by one: once(n), const(rate,time), line(…), step(…)",
    "think" / "--think-time" => think:
        "The pause of a user between two iterations: 200ms, 200ms..1s, exponential(1s), lognormal(1s,0.5)",
    "pace" => pace: "How far the beginnings of a user's iterations lie apart at least, such as 5s",
});

fields!(Stop {
    "after" / "-z" => after: "Ends it after this time, such as 30s",
    "requests" / "-n" => requests: "Ends it after this many requests",
    "iterations" / "--iterations" => iterations: "Ends it after this many iterations",
    "drain" => drain: "What becomes of requests under way at the end: wait, close or ignore",
    "abort" / "--abort-on" => abort:
        "Conditions that end the whole run, such as failed>50% over 30s",
    "max_errors" / "--max-errors" => max_errors:
        "Ends the whole run when more requests than this have failed",
});

fields!(Outputs [] {
    "json" / "--json" => json:
        "The file to which the result is written as JSON; - is standard output",
    "csv" / "--csv" => csv:
        "The file to which the histograms' buckets are written as CSV; - is standard output",
    "html" / "--html" => html:
        "The file to which the run is written as a page of HTML; - is standard output",
    "markdown" / "--markdown" => markdown:
        "The file to which the result is written as Markdown; - is standard output",
    "junit" / "--junit" => junit:
        "The file to which answers and thresholds are written as JUnit's XML; - is standard output",
    "hlog" / "--hlog" => hlog:
        "The file to which the histogram of each interval is written as a log of HdrHistogram; - is standard output",
    "svg" / "--svg" => svg:
        "The folder, new or empty, into which the pictures are written as SVG, a file each",
    "baseline" / "--baseline" => baseline:
        "The run that this one is compared with: its name, last, tag:NAME, its directory, or a file of its JSON",
    "lines" / "--lines" => lines:
        "Where a line of figures for each interval goes: stderr, - for standard output, or a file",
    "json_lines" / "--json-lines" => json_lines:
        "The file to which each interval is written as a line of JSON; - is standard output",
    "csv_intervals" / "--csv-intervals" => csv_intervals:
        "The file to which each interval is written as a row of CSV; - is standard output",
    "rows" / "--rows" => rows:
        "The file to which each request is written as a row of CSV, or of JSON where the name ends in .jsonl; - is standard output",
    "explain" / "--explain" => explain:
        "Whether the report explains its parts and shows the first body of each kind of failure",
    "brief" / "--brief" => brief: "Whether the report is one line",
    "live" / "--no-tui" => live: "Whether figures are shown while the run lasts",
    "github" / "--no-github" => github:
        "Whether GitHub Actions, where it runs this, shows the result on the job's page and as annotations",
    "quiet" / "--quiet" => quiet: "Whether the report is left out",
    "strict" / "--strict" => strict: "Whether a suspect run fails, too",
} [monitoring]);

fields!(Monitoring {
    "metrics" / "--metrics" => metrics:
        "Where the figures so far are served to Prometheus, as HOST:PORT or :PORT",
    "metrics_linger" / "--metrics-linger" => metrics_linger:
        "How long they stay there after the end for a last scrape, such as 20s",
    "ui" / "--ui" => ui:
        "The address on this machine at which the run's page is served while it goes on, as HOST:PORT or :PORT",
    "remote_write" / "--remote-write" => remote_write:
        "The URL to which the figures so far are sent by Prometheus' remote write",
    "influx" / "--influx" => influx: "The URL to which they are sent by InfluxDB's line protocol",
    "otlp" / "--otlp" => otlp: "The URL to which they are sent by OpenTelemetry's protocol",
    "push_headers" / "--push-header" => push_headers:
        "Header fields of what is sent to these receivers",
});

fields!(Generator {
    "threads" / "--threads" => threads: "How many threads send",
    "seed" / "--seed" => seed: "The number from which all random values are drawn",
    "warmup" / "--warmup" => warmup:
        "The time at the beginning that is not measured, such as 5s; auto: until latencies settle",
    "spin" / "--spin" => spin:
        "Whether threads spin before a request is due, for times below 50 µs",
    "clock" / "--clock" => clock:
        "Whose clock times exchanges: program, its own; receive, responses when they arrived, by the kernel's stamps; wire, requests when they left too",
    "interval" / "--interval" => interval: "The length of a window of figures, such as 1s",
    "i_own_this_target" / "--i-own-this-target" => i_own_this_target:
        "Whether more than a modest load may go to public addresses",
});

fields!(Reach {
    "target" => target:
        "Where paths are looked for, such as https://shop.test; of calls HOST:PORT, too",
    "plaintext" / "--plaintext" => plaintext: "Whether calls go without TLS",
    "resolve" / "--resolve" => resolve:
        "Addresses in place of those that names have, as HOST:PORT:ADDRESS",
    "addresses" => addresses:
        "Which addresses of a name connections go to: all in turn, or the first that accepts",
    "unresolved" => unresolved:
        "What becomes of requests to a name without an address: refuse the run, or fail",
    "lookup" / "--lookup" => lookup:
        "Whether names are looked up again during the run: once, ttl, or after a time such as 30s",
    "name_server" / "--name-server" => name_server:
        "The name server that is asked in place of the system's, as ADDRESS or ADDRESS:PORT",
    "source_ip" / "--source-ip" => source_ip:
        "The addresses of this machine from which connections are made",
    "proxy" / "-x" => proxy: "The proxy's URL, or none",
    "proxy_tunnel" => proxy_tunnel:
        "Whether the proxy makes a tunnel to every target, also to those of http",
    "proxy_agent" => proxy_agent:
        "The User-Agent of the request for a tunnel; empty for none",
    "no_proxy" => no_proxy: "Hosts that are reached without the proxy",
    "unix_socket" / "--unix-socket" => unix_socket: "The path of a Unix socket to connect to",
});

fields!(Http {
    "http" / "--http2" => http: "The version of HTTP: 1 or 2",
    "compressed" / "--compressed" => compressed:
        "Whether compressed responses are asked for, and decoded: true, false or gzip",
    "max_decoded" => max_decoded: "The size that a compressed body may grow to, such as 64MiB",
    "redirects" / "-L" => redirects:
        "How many redirects are followed, or refuse: a redirect has failed",
    "redirect_style" => redirect_style:
        "Which method a redirected request has: fetch, as browsers do it, or go",
    "expect_continue" / "--expect-continue" => expect_continue:
        "Whether bodies wait for `100 Continue`",
    "expect" => expect: "What a response must be so that it is ok",
});

fields!(Expect {
    "status" / "--expect-status" => status: "Statuses that are ok, such as 200-299, 301",
    "time" => time: "A bound of the response time, such as <500ms",
    "header" / "--expect-header" => header: "Checks of header fields, by their names",
    "body" / "--expect-body" => body:
        "Checks of the body, such as contains TEXT, equals TEXT, matches /regex/",
    "body_size" => body_size: "The body's size in bytes, or a bound of it, such as <10kB",
    "body_hash" / "--expect-hash" => body_hash:
        "A digest of the body: sha256 …, xxh3 … or fnv1a64 …, with sample 10% of a part of them",
    "json" => json: "Checks of values in a JSON body, by their paths (RFC 9535)",
    "xml" => xml: "Checks of values in an XML body, by their XPaths",
    "css" => css: "Checks of elements in an HTML body, by their selectors",
    "js" => js: "The function of the script that judges the response",
});

fields!(Connections {
    "connections" / "-c" => connections: "How many connections there are, or as_needed",
    "streams" / "--streams" => streams:
        "How many requests a connection carries at a time, over HTTP/2",
    "session" => session: "Whether connections are shared, or each user keeps one",
    "cookies" => cookies:
        "How long a user keeps cookies: none, for an iteration, or as a user for the whole run",
    "keepalive" / "--no-keepalive" => keepalive: "Whether connections are used again",
    "requests_per_connection" / "--requests-per-connection" => requests_per_connection:
        "How many requests a connection carries at most",
    "connection_age" / "--connection-age" => connection_age:
        "The age at which a connection is closed: 5m, 4m..6m, exponential(5m)",
    "connection_churn" / "--connection-churn" => connection_churn:
        "Which part of all connections is replaced in which time, such as 10%/m",
    "connection_idle" / "--connection-idle" => connection_idle:
        "The time without a request after which a connection is closed, such as 30s",
    "connection_opening" => connection_opening:
        "Where the time counts in which a request's connection is opened: waiting or service",
    "respect_keepalive" / "--respect-keepalive" => respect_keepalive:
        "Whether connections end when the server's Keep-Alive field says so",
    "retry_reused" / "--retry-reused" => retry_reused:
        "Whether requests are sent once more when a connection that was used before is closed",
    "retry_style" => retry_style:
        "Which requests those are: of idempotent methods (rfc), or those of Go's client (go)",
    "connect_backoff" / "--connect-backoff" => connect_backoff:
        "The rest after failed connections, such as 100ms",
    "ping" / "--ping" => ping: "Pings a connection after a silence of this time, over HTTP/2",
    "ping_timeout" / "--ping-timeout" => ping_timeout: "How long a ping's answer is waited for",
});

fields!(Timeouts {
    "timeout" / "--timeout" => timeout:
        "The time that a request may take in all, such as 5s; 0 is none",
    "connect_timeout" / "--connect-timeout" => connect_timeout:
        "The time that opening a connection may take",
    "tls_timeout" / "--tls-timeout" => tls_timeout: "The time that a handshake of TLS may take",
    "head_timeout" / "--head-timeout" => head_timeout:
        "The time until the response's head is there",
});

fields!(Tls {
    "insecure" / "-k" => insecure: "Whether certificates are taken without a check",
    "cacert" / "--cacert" => cacert: "The file with the authorities' certificates",
    "cert" / "--cert" => cert: "The file with the client's certificate",
    "key" / "--key" => key: "The file with the client's key",
    "server_name" => server_name: "The name that the server's certificate must have",
    "full_handshakes" / "--full-handshakes" => full_handshakes:
        "Whether sessions are never resumed",
    "resumption" / "--tls-resumption" => resumption:
        "Which part of the handshakes may resume a session, such as 60%",
});

fields!(Schema {
    "proto" / "--proto" => proto: "The .proto files of the calls",
    "import_path" / "--import-path" => import_path:
        "The folders in which imports of .proto files are looked for",
    "protoset" / "--protoset" => protoset: "The files with descriptor sets",
    "reflection" => reflection: "How a server is asked for the schema",
});

fields!(Reflection {
    "target" => target: "The server that is asked, as HOST:PORT, where it is not the target",
    "metadata" / "--reflect-metadata" => metadata: "The metadata of the question",
});

fields!(CallOptions {
    "authority" / "--authority" => authority: "The `:authority` of calls",
    "deadline" / "--deadline" => deadline: "The deadline that calls carry, such as 2s",
    "compress" / "--compress" => compress: "How messages are compressed: gzip, zstd or identity",
    "max_receive" / "--max-receive" => max_receive:
        "The longest message that is received, such as 4MiB",
    "max_send" / "--max-send" => max_send: "The longest message that is sent",
    "reply_check" / "--no-reply-check" => reply_check:
        "Whether replies are checked against the schema",
});

fields!(Stream {
    "count" / "--stream-count" => count: "How many messages a call sends",
    "interval" / "--stream-interval" => interval: "The time between one message and the next",
    "duration" / "--stream-duration" => duration: "How long a call sends messages",
    "receive" / "--stream-receive" => receive:
        "After how many messages received the call is cancelled",
    "refresh" => refresh: "Whether templates are evaluated once a call or for each message",
});

fields!(Settings [reach, http, connections, timeouts] {
    "tls" => tls: "How servers and this client prove who they are",
    "templates" / "--no-templates" => templates:
        "The language of templates: jinja, none; of calls go, go-builtin and go-none, too",
    "script" => script: "The file with functions in JavaScript",
} [schema, options, fields, body, kept]);

fields!(CommonBody [payload] {
    "body_lines" / "--body-lines" => lines: "Whether each line of the body is a body of its own",
    "order" / "--order" => order: "How requests go through the lines: turn, random or once",
} []);

fields!(CommonFields {
    "headers" / "-H" => headers: "Header fields of every HTTP request",
    "metadata" / "-H" => metadata: "Metadata of every call",
    "traceparent" / "--traceparent" => traceparent:
        "Whether every request and every call carries a W3C traceparent of its own",
});

fields!(Kept {
    "keep_samples" => samples: "Whether every request is kept for reports, beside the figures",
    "keep_transcripts" => transcripts:
        "Which exchanges are kept in full: all, or those from a status on, such as 500",
});

fields!(Pool [load, settings] {
    "requests" => requests: "The requests, gone through in turn or by their weights",
    "scenario" => scenario: "The steps of a user, one after the other",
    "scenarios" => scenarios: "Several scenarios, by their names",
    "mix" => mix:
        "In which order requests or scenarios with weights come: spread, blocks or random",
    "stop" => stop: "What ends this pool",
} []);

fields!(Document {
    "name" => name: "What the run is called",
    "vars" => vars: "Variables, for references such as ${name}",
    "defaults" => defaults: "What holds for each pool that says nothing of it",
    "feeds" / "--feed" => feeds: "Rows for templates, by their names",
    "setup" => setup: "Steps before the load, gone through once: what they take is ${setup:name}",
    "pools" => pools: "Loads that run side by side, by their names",
    "teardown" => teardown: "Steps behind the load, gone through once",
    "stop" => stop: "What ends each pool that says nothing of its own",
    "thresholds" / "--threshold" => thresholds:
        "Rules for the result, such as p99<500ms or failed<1%",
    "outputs" => outputs: "Where results go",
    "generator" => generator: "How this program works: threads, seed, warm-up",
});

nested!(
    Stop => "`stop`",
    Settings => "`defaults`",
    Outputs => "`outputs`",
    Generator => "`generator`",
    Expect => "`expect`",
    Tls => "`tls`",
    Reflection => "`reflection`",
    Stream => "`stream`",
);
