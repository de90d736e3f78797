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
        "Requests or iterations per second (open model), such as `500/s`, or a law such as `line(5,200,1m) const(200,5m)`",
    "rate_per" => rate_per:
        "`all` (the default): the rate is for all users together; `user`: each of the `users` follows the rate on its own, from its start",
    "arrivals" / "--arrivals" => arrivals:
        "How arrivals are spaced at the rate: `constant` or `poisson`",
    "late" / "--late" => late:
        "When no connection is free: `queue` the request, `skip` it, or drop it after a time, as in `drop(2s)`",
    "users" / "-u" => users: "Number of users, or a law for it",
    "start" => start:
        "Law by which users start one by one: `once(n)`, `const(rate,time)`, `line(…)`, `step(…)`",
    "think" / "--think-time" => think:
        "Pause of a user between two iterations: `200ms`, `200ms..1s`, `exponential(1s)` or `lognormal(1s,0.5)`",
    "pace" => pace: "Minimum time between the starts of a user's iterations, such as `5s`",
});

fields!(Stop {
    "after" / "-z" => after: "Stop after this time, such as `30s`",
    "requests" / "-n" => requests: "Stop after this many requests",
    "iterations" / "--iterations" => iterations: "Stop after this many iterations",
    "drain" => drain:
        "Requests that are in flight at the end: `wait` for them (the default); `close`: abort them and count them as failed; `ignore`: count them as in flight",
    "abort" / "--abort-on" => abort:
        "Conditions that end the whole run, such as `failed>50% over 30s`; only in the plan's `stop`",
    "max_errors" / "--max-errors" => max_errors:
        "End the whole run when more than this many requests have failed; only in the plan's `stop`",
});

fields!(Outputs [] {
    "json" / "--json" => json: "File for the result as JSON; `-` is standard output",
    "csv" / "--csv" => csv: "File for the histogram buckets as CSV; `-` is standard output",
    "html" / "--html" => html: "File for the run as an HTML page; `-` is standard output",
    "markdown" / "--markdown" => markdown:
        "File for the result as Markdown; `-` is standard output",
    "junit" / "--junit" => junit:
        "File for the three answers and the thresholds as JUnit XML; `-` is standard output",
    "hlog" / "--hlog" => hlog:
        "File for the histogram of each interval as an HdrHistogram log; `-` is standard output",
    "svg" / "--svg" => svg: "New or empty folder for the pictures, each an SVG file",
    "baseline" / "--baseline" => baseline:
        "Run to compare this one with: its name, `last`, `tag:NAME`, its directory, or its JSON file",
    "lines" / "--lines" => lines:
        "Where to write a line of figures for each interval: `stderr`, `-` for standard output, or a file",
    "json_lines" / "--json-lines" => json_lines:
        "File for each interval as a line of JSON; `-` is standard output",
    "csv_intervals" / "--csv-intervals" => csv_intervals:
        "File for each interval as a row of CSV; `-` is standard output",
    "rows" / "--rows" => rows:
        "File for each request as a row of CSV, or of JSON if the name ends in `.jsonl`; `-` is standard output",
    "explain" / "--explain" => explain:
        "Explain each part of the report and show the first body of each kind of failure",
    "brief" / "--brief" => brief: "Print the report as one line",
    "live" / "--no-tui" => live: "Show figures during the run; the flag sets `false`",
    "github" / "--no-github" => github:
        "In GitHub Actions, show the result on the job's page and as annotations; the flag sets `false`",
    "quiet" / "--quiet" => quiet: "Print no report",
    "strict" / "--strict" => strict: "Fail a suspect run, too",
} [monitoring]);

fields!(Monitoring {
    "metrics" / "--metrics" => metrics:
        "Address that serves live metrics to Prometheus, as `HOST:PORT` or `:PORT`",
    "metrics_linger" / "--metrics-linger" => metrics_linger:
        "How long to serve the metrics after the end, for a last scrape, such as `20s`",
    "ui" / "--ui" => ui:
        "Local address that serves the run's page during the run, as `HOST:PORT` or `:PORT`",
    "remote_write" / "--remote-write" => remote_write:
        "URL to send live metrics to, by Prometheus remote write",
    "influx" / "--influx" => influx: "URL to send live metrics to, in InfluxDB line protocol",
    "otlp" / "--otlp" => otlp: "URL to send live metrics to, by the OpenTelemetry protocol",
    "push_headers" / "--push-header" => push_headers: "Header fields to send to these receivers",
});

fields!(Generator {
    "threads" / "--threads" => threads: "Number of threads that send",
    "seed" / "--seed" => seed: "Seed of all random values",
    "warmup" / "--warmup" => warmup:
        "Time at the start that is not measured, such as `5s`; `auto`: until latencies settle",
    "spin" / "--spin" => spin: "Busy-wait before a request is due, for times below 50 µs",
    "clock" / "--clock" => clock:
        "Clock for exchanges: `program`, drumfire's own; `receive`, kernel timestamps of responses; `wire`, also kernel timestamps of requests",
    "interval" / "--interval" => interval: "Length of an interval of figures, such as `1s`",
    "i_own_this_target" / "--i-own-this-target" => i_own_this_target:
        "Allow more than a modest load on public addresses",
});

fields!(Reach {
    "target" => target:
        "Server of requests that give only a path, such as `https://shop.test`; for calls also `HOST:PORT`, `grpc://HOST:PORT` or `unix:PATH`",
    "plaintext" / "--plaintext" => plaintext: "Make calls without TLS",
    "resolve" / "--resolve" => resolve:
        "Addresses to use instead of looking up names, as `HOST:PORT:ADDRESS`",
    "addresses" => addresses:
        "Addresses of a name to connect to: `turn` (the default): all of them, in turn; `first`: the first that accepts",
    "unresolved" => unresolved:
        "If a name has no address: `refuse` (the default): the run does not start; `fail`: the requests to that name fail",
    "lookup" / "--lookup" => lookup:
        "When to look up names: `once` (the default), `ttl`: again when their TTL ends, or again after a time such as `30s`",
    "name_server" / "--name-server" => name_server:
        "Name server to use instead of the system's, as `ADDRESS` or `ADDRESS:PORT`",
    "source_ip" / "--source-ip" => source_ip: "Local addresses to connect from",
    "proxy" / "-x" => proxy:
        "URL of the proxy, which begins with `https://` if the proxy uses TLS; `none`: ignore the environment",
    "proxy_tunnel" => proxy_tunnel:
        "Tunnel (CONNECT) through the proxy to every target; by default, only to https targets. HTTP/2 without TLS needs `true`",
    "proxy_agent" => proxy_agent:
        "`User-Agent` of the CONNECT request for a tunnel, by default `drumfire/VERSION`; empty for none",
    "no_proxy" => no_proxy: "Hosts to reach without the proxy",
    "unix_socket" / "--unix-socket" => unix_socket: "Path of a Unix socket to connect to",
});

fields!(Http {
    "http" / "--http2" => http: "HTTP version: `1` or `2`",
    "compressed" / "--compressed" => compressed:
        "`true`: request compressed responses and decode them; `gzip`: request only gzip; `false`: neither",
    "max_decoded" => max_decoded: "Maximum size of a decoded body, by default `64MiB`",
    "redirects" / "-L" => redirects:
        "Maximum number of redirects to follow; `refuse`: a redirect is a failure",
    "redirect_style" => redirect_style:
        "Method of a redirected request: `fetch` (the default): as browsers do, 303 changes every method to GET, and 301 and 302 change POST to GET; `go`: as Go's client does, all three change every method to GET, and `Referer` contains the previous URL",
    "expect_continue" / "--expect-continue" => expect_continue:
        "Wait for `100 Continue` before sending a body",
    "expect" => expect:
        "What a response must be to count as ok; by default, its status is in `100-399`",
});

fields!(Expect {
    "status" / "--expect-status" => status:
        "Statuses that are ok, such as `200-299, 301`; `2xx` is `200-299`. For calls, names such as `OK, NOT_FOUND`, by default `OK`",
    "time" => time: "Bound on the response time, such as `<500ms`",
    "header" / "--expect-header" => header: "Checks of header fields, by name",
    "body" / "--expect-body" => body:
        "Check of the body, such as `contains TEXT`, `equals TEXT` or `matches /regex/`, or a list of checks",
    "body_size" => body_size: "Size of the body in bytes, or a bound on it, such as `<10kB`",
    "body_hash" / "--expect-hash" => body_hash:
        "Digest of the body: `sha256 …`, `xxh3 …` or `fnv1a64 …`; add `sample 10%` to hash only that share of bodies. A line of a `list` can have its own hash after the URL",
    "json" => json: "Checks of values in a JSON body, by JSONPath (RFC 9535)",
    "xml" => xml: "Checks of values in an XML body, by XPath",
    "css" => css: "Checks of elements in an HTML body, by CSS selector",
    "js" => js: "Function of the pool's script that judges the response",
});

fields!(Connections {
    "connections" / "-c" => connections:
        "Number of connections, or `as_needed`. With a rate, the default is `as_needed`; with `session: user`, it is one for each of the `users`",
    "streams" / "--streams" => streams: "Concurrent requests per connection, over HTTP/2",
    "session" => session:
        "`shared` (the default): a request takes the connection that has been free for the longest time or, with `as_needed`, the one used last; `user`: all requests of a user take the same connection",
    "cookies" => cookies:
        "How long a user keeps cookies: `none` (not at all), `iteration`, or `user` (the whole run); by default `user` with `session: user`, and otherwise `none`",
    "keepalive" / "--no-keepalive" => keepalive:
        "Reuse connections; the flag sets `false`: a new connection for each request",
    "requests_per_connection" / "--requests-per-connection" => requests_per_connection:
        "Maximum number of requests per connection",
    "connection_age" / "--connection-age" => connection_age:
        "Age at which to close a connection: `5m`, `4m..6m` or `exponential(5m)`",
    "connection_churn" / "--connection-churn" => connection_churn:
        "Share of all connections to replace in a given time, such as `10%/m`",
    "connection_idle" / "--connection-idle" => connection_idle:
        "Close a connection after this time without a request, such as `30s`",
    "connection_opening" => connection_opening:
        "Time that includes the opening of a request's connection: `waiting` (the default), or `service`: the service time and `first_byte` include it, as in clients that connect as part of a request",
    "respect_keepalive" / "--respect-keepalive" => respect_keepalive:
        "Obey the server's `Keep-Alive` header field",
    "retry_reused" / "--retry-reused" => retry_reused:
        "Resend a request once if its reused connection turns out closed",
    "retry_style" => retry_style:
        "Requests that `retry_reused` sends again: `rfc` (the default): those with an idempotent method; `go`: as Go's client does, GET, HEAD, OPTIONS and TRACE, and any request with an `Idempotency-Key`",
    "no_close_notify" => no_close_notify:
        "Accept a body without a length that ends with its TLS connection, even if the server sent no close_notify, as most clients do. Such a body may have been cut off; it is counted as the leniency `no_close_notify`",
    "connect_backoff" / "--connect-backoff" => connect_backoff:
        "Maximum pause after failed connection attempts, such as `100ms`",
    "ping" / "--ping" => ping: "Ping an HTTP/2 connection that has been silent for this time",
    "ping_timeout" / "--ping-timeout" => ping_timeout: "How long to wait for the reply to a ping",
});

fields!(Timeouts {
    "timeout" / "--timeout" => timeout:
        "Maximum total time of a request, such as `5s`; `0` means no limit",
    "connect_timeout" / "--connect-timeout" => connect_timeout:
        "Maximum time to open a connection; `0` means no limit",
    "tls_timeout" / "--tls-timeout" => tls_timeout:
        "Maximum time of a TLS handshake; `0` means no limit",
    "head_timeout" / "--head-timeout" => head_timeout:
        "Maximum time until the head of the response has arrived; `0` means no limit",
});

fields!(Tls {
    "insecure" / "-k" => insecure: "Accept certificates without checking them",
    "cacert" / "--cacert" => cacert: "File with the CA certificates",
    "cert" / "--cert" => cert: "File with the client certificate",
    "key" / "--key" => key: "File with the client key",
    "server_name" => server_name: "Name that the server's certificate must have",
    "full_handshakes" / "--full-handshakes" => full_handshakes: "Never resume TLS sessions",
    "resumption" / "--tls-resumption" => resumption:
        "Share of handshakes that may resume a session, such as `60%`",
});

fields!(Schema {
    "proto" / "--proto" => proto:
        "The `.proto` files of the calls; without any schema, drumfire fetches it from the server",
    "import_path" / "--import-path" => import_path:
        "Folders to search for imports of `.proto` files",
    "protoset" / "--protoset" => protoset: "File with a serialized `FileDescriptorSet` and its imports",
    "reflection" => reflection: "How to fetch the schema from a server",
});

fields!(Reflection {
    "target" => target: "Server that has the schema, as `HOST:PORT`, if it is not the target",
    "metadata" / "--reflect-metadata" => metadata: "Metadata of the request for the schema",
});

fields!(CallOptions {
    "authority" / "--authority" => authority: "The `:authority` of calls",
    "deadline" / "--deadline" => deadline: "Deadline sent with each call, such as `2s`",
    "compress" / "--compress" => compress: "Compression of messages: `gzip`, `zstd` or `identity`",
    "max_receive" / "--max-receive" => max_receive:
        "Maximum size of a received message, such as `4MiB`",
    "max_send" / "--max-send" => max_send: "Maximum size of a sent message",
    "reply_check" / "--no-reply-check" => reply_check:
        "Check replies against the schema; the flag sets `false`: accept any bytes as a reply",
});

fields!(Stream {
    "count" / "--stream-count" => count: "Number of messages that a call sends",
    "interval" / "--stream-interval" => interval: "Time between two messages",
    "duration" / "--stream-duration" => duration: "How long a call sends messages",
    "receive" / "--stream-receive" => receive: "Cancel the call after receiving this many messages",
    "refresh" => refresh: "When to evaluate templates: once per `call`, or for each `message`",
});

fields!(Settings [reach, http, connections, timeouts] {
    "tls" => tls: "Certificates and TLS sessions",
    "templates" / "--no-templates" => templates:
        "Template language: `jinja` (the default) or `none`; for calls also `go` (Go's templates with sprig and ghz's variables), `go-builtin` (the same without sprig) and `go-none` (no templates, and JSON is read as Go reads it). The flag sets `none`",
    "script" => script: "File with JavaScript functions",
} [schema, options, fields, body, kept]);

fields!(CommonBody [payload] {
    "body_lines" / "--body-lines" => lines: "Use each line of the body as a separate body",
    "order" / "--order" => order:
        "Order in which requests use the lines: `turn`, `random` or `once`",
} []);

fields!(CommonFields {
    "headers" / "-H" => headers: "Header fields of every HTTP request",
    "metadata" / "-H" => metadata: "Metadata of every call",
    "traceparent" / "--traceparent" => traceparent:
        "Send a unique W3C traceparent with every request and call",
});

fields!(Kept {
    "keep_samples" => samples:
        "Keep every request in addition to the figures, for the reports of other tools",
    "keep_transcripts" => transcripts:
        "Exchanges to keep in full, for the reports of other tools: `all`, or those with at least this status, such as `500`; a gRPC status counts as 1000 plus its code",
});

fields!(Pool [load, settings] {
    "requests" => requests: "Requests, sent in turn or by weight",
    "scenario" => scenario: "Instead of `requests`: the steps of a user, in order",
    "scenarios" => scenarios: "Instead of `requests`: several scenarios, by name",
    "mix" => mix:
        "Order of requests or scenarios with weights: `spread` (the default): as evenly as possible; `blocks`: all turns of one, then all turns of the next; `random`",
    "stop" => stop: "Conditions that end this pool; absent keys come from the plan's `stop`",
} []);

fields!(Document {
    "name" => name: "Name of the run",
    "vars" => vars: "Variables, for references such as `${name}`; each has a single value",
    "defaults" => defaults: "Settings of every pool that does not set them itself",
    "feeds" / "--feed" => feeds: "Rows of data for templates, by the name of their feed",
    "setup" => setup:
        "Steps that run once before the load; `${setup:name}` is a value that they take",
    "pools" => pools: "Loads that run at the same time, by name; at least one",
    "teardown" => teardown: "Steps that run once after the load, however it ended",
    "stop" => stop: "Conditions that end each pool; a pool's own keys override them",
    "thresholds" / "--threshold" => thresholds:
        "Rules for the result, such as `p99<500ms` or `failed<1%`",
    "outputs" => outputs: "Where results go",
    "generator" => generator: "Settings of drumfire itself: threads, seed, warm-up",
});

nested!(
    Stop => "stop",
    Settings => "defaults",
    Outputs => "outputs",
    Generator => "generator",
    Expect => "expect",
    Tls => "tls",
    Reflection => "reflection",
    Stream => "stream",
);
