//! Which key holds which field.

use super::fields::{fields, nested};
use drumfire_plan::document::{
    CallOptions, CommonBody, CommonFields, Connections, Document, Expect, Generator, Http, Load,
    Outputs, Pool, Reach, Reflection, Schema, Settings, Stop, Stream, Timeouts, Tls,
};

fields!(Load {
    "rate" => rate,
    "rate_per" => rate_per,
    "arrivals" => arrivals,
    "late" => late,
    "users" => users,
    "start" => start,
    "think" => think,
    "pace" => pace,
});

fields!(Stop {
    "after" => after,
    "requests" => requests,
    "iterations" => iterations,
    "drain" => drain,
});

fields!(Outputs {
    "json" => json,
    "csv" => csv,
    "explain" => explain,
    "live" => live,
    "quiet" => quiet,
    "strict" => strict,
});

fields!(Generator {
    "threads" => threads,
    "seed" => seed,
    "warmup" => warmup,
    "spin" => spin,
    "interval" => interval,
});

fields!(Reach {
    "target" => target,
    "plaintext" => plaintext,
    "resolve" => resolve,
    "addresses" => addresses,
    "unresolved" => unresolved,
    "source_ip" => source_ip,
    "proxy" => proxy,
    "no_proxy" => no_proxy,
    "unix_socket" => unix_socket,
});

fields!(Http {
    "http" => http,
    "compressed" => compressed,
    "max_decoded" => max_decoded,
    "redirects" => redirects,
    "redirect_style" => redirect_style,
    "expect_continue" => expect_continue,
    "expect" => expect,
});

fields!(Expect {
    "status" => status,
    "time" => time,
    "header" => header,
    "body" => body,
    "body_size" => body_size,
    "body_hash" => body_hash,
    "json" => json,
    "xml" => xml,
    "css" => css,
    "js" => js,
});

fields!(Connections {
    "connections" => connections,
    "streams" => streams,
    "session" => session,
    "cookies" => cookies,
    "keepalive" => keepalive,
    "requests_per_connection" => requests_per_connection,
    "respect_keepalive" => respect_keepalive,
    "retry_reused" => retry_reused,
    "connect_backoff" => connect_backoff,
    "ping" => ping,
    "ping_timeout" => ping_timeout,
});

fields!(Timeouts {
    "timeout" => timeout,
    "connect_timeout" => connect_timeout,
    "tls_timeout" => tls_timeout,
    "head_timeout" => head_timeout,
});

fields!(Tls {
    "insecure" => insecure,
    "cacert" => cacert,
    "cert" => cert,
    "key" => key,
    "server_name" => server_name,
    "full_handshakes" => full_handshakes,
});

fields!(Schema {
    "proto" => proto,
    "import_path" => import_path,
    "protoset" => protoset,
    "reflection" => reflection,
});

fields!(Reflection {
    "target" => target,
    "metadata" => metadata,
});

fields!(CallOptions {
    "authority" => authority,
    "deadline" => deadline,
    "compress" => compress,
    "max_receive" => max_receive,
    "max_send" => max_send,
    "reply_check" => reply_check,
});

fields!(Stream {
    "count" => count,
    "interval" => interval,
    "duration" => duration,
    "receive" => receive,
    "refresh" => refresh,
});

fields!(Settings [reach, http, connections, timeouts] {
    "tls" => tls,
    "templates" => templates,
    "script" => script,
} [schema, options, fields, body]);

fields!(CommonBody [payload] {
    "body_lines" => lines,
    "order" => order,
} []);

fields!(CommonFields {
    "headers" => headers,
    "metadata" => metadata,
});

fields!(Pool [load, settings] {
    "requests" => requests,
    "scenario" => scenario,
    "scenarios" => scenarios,
    "mix" => mix,
    "stop" => stop,
} []);

fields!(Document {
    "name" => name,
    "vars" => vars,
    "defaults" => defaults,
    "feeds" => feeds,
    "pools" => pools,
    "stop" => stop,
    "thresholds" => thresholds,
    "outputs" => outputs,
    "generator" => generator,
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
