//! The way to the target: addresses, connections, limits in time, and TLS.

use crate::keys::fields::{nested, table};
use crate::keys::{Flag, Group, Number, On};
use crate::{Count, Switch, Text};

table! {
    /// The target, and the way to it.
    pub struct ReachSettings [] {
        target: Option<Text> =
            "Server of requests that give only a path, such as `https://shop.test`; for calls also `HOST:PORT`, `grpc://HOST:PORT` or `unix:PATH`";
        plaintext: Option<Switch> = "Make calls without TLS",
            Flag::new(Group::Call, "--plaintext", "Connect without TLS").first();
        resolve: Vec<Text> = "Addresses to use instead of looking up names, as `HOST:PORT:ADDRESS`",
            Flag::new(Group::Network, "--resolve <HOST:PORT:IP>",
                "Use the address IP for HOST:PORT; repeatable");
        addresses: Option<Text> =
            "Addresses of a name to connect to: `turn` (the default): all of them, in turn; `first`: the first that accepts";
        unresolved: Option<Text> =
            "If a name has no address: `refuse` (the default): the run does not start; `fail`: the requests to that name fail";
        lookup: Option<Text> =
            "When to look up names: `once` (the default), `ttl`: again when their TTL ends, or again after a time such as `30s`",
            Flag::new(Group::Network, "--lookup <WHEN>",
                "Resolve names again during the run: ttl, or an interval such as 30s; connections follow the new addresses").choices(&["ttl"]);
        name_server: Option<Text> =
            "Name server to use instead of the system's, as `ADDRESS` or `ADDRESS:PORT`",
            Flag::new(Group::Network, "--name-server <ADDRESS>",
                "DNS server for --lookup, instead of the system's");
        source_ip: Vec<Text> = "Local addresses to connect from",
            Flag::new(Group::Network, "--source-ip <ADDRESS>",
                "Send from this local address; several are used in turn").separated();
        proxy: Option<Text> =
            "URL of the proxy, which begins with `https://` if the proxy uses TLS; `none`: ignore the environment",
            Flag::new(Group::Network, "-x, --proxy <URL>",
                "HTTP proxy [default: http_proxy, https_proxy or all_proxy from the environment, except for loopback]");
        proxy_tunnel: Option<Switch> =
            "Tunnel (CONNECT) through the proxy to every target; by default, only to https targets. HTTP/2 without TLS needs `true`";
        proxy_agent: Option<Text> =
            "`User-Agent` of the CONNECT request for a tunnel, by default `drumfire/VERSION`; empty for none";
        no_proxy: Vec<Text> = "Hosts to reach without the proxy";
        unix_socket: Option<Text> = "Path of a Unix socket to connect to",
            Flag::new(Group::Network, "--unix-socket <PATH>",
                "Connect to a Unix socket instead of the URL's host");
    } []
}

table! {
    /// The connections.
    pub struct Connections [] {
        connections: Option<Text> =
            "Number of connections, or `as_needed`. With a rate, the default is `as_needed`; with `session: user`, it is one for each of the `users`",
            Flag::new(Group::Load, "-c, --connections <N>",
                "Closed model: N connections, each with one user who sends the next request when the response arrives. With -r: exactly N connections, opened in advance [default with -r: as needed, up to 1000]").first().number(Number::Small);
        connect_first: Option<Switch> =
            "Open all connections before the first request, also with a rate: as many as the load may need, at most 1,000 to each target. A number of `connections` is always opened first",
            Flag::new(Group::Load, "--connect-first",
                "With -r: open all connections that the load may need (up to 1000) before the first request").on(On::HTTP.and(On::LLM));
        streams: Option<Count> = "Concurrent requests per connection, over HTTP/2",
            Flag::new(Group::Load, "--streams <N>",
                "Concurrent requests on each HTTP/2 connection, up to the server's limit [default: 1, or 100 with -r]").on(On::SENDS);
        session: Option<Text> =
            "`shared` (the default): a request takes the connection that has been free for the longest time or, with `as_needed`, the one used last; `user`: all requests of a user take the same connection";
        cookies: Option<Text> =
            "How long a user keeps cookies: `none` (not at all), `iteration`, or `user` (the whole run); by default `user` with `session: user`, and otherwise `none`";
        keepalive: Option<Switch> =
            "Reuse connections; the flag sets `false`: a new connection for each request",
            Flag::new(Group::Connections, "--no-keepalive",
                "Open a new connection for each request");
        requests_per_connection: Option<Count> = "Maximum number of requests per connection",
            Flag::new(Group::Connections, "--requests-per-connection <N>",
                "Close a connection after N requests").excludes(&["no-keepalive"]);
        connection_age: Option<Text> =
            "Age at which to close a connection: `5m`, `4m..6m` or `exponential(5m)`",
            Flag::new(Group::Connections, "--connection-age <TIME>",
                "Close connections at this age: 5m, 4m..6m, exponential(5m)");
        connection_churn: Option<Text> =
            "Share of all connections to replace in a given time, such as `10%/m`",
            Flag::new(Group::Connections, "--connection-churn <SHARE/TIME>",
                "Replace this share of all connections per period, such as 10%/m");
        connection_idle: Option<Text> =
            "Close a connection after this time without a request, such as `30s`",
            Flag::new(Group::Connections, "--connection-idle <TIME>",
                "Close connections that have been idle for this long");
        connection_opening: Option<Text> =
            "Time that includes the opening of a request's connection: `waiting` (the default), or `service`: the service time and `first_byte` include it, as in clients that connect as part of a request";
        respect_keepalive: Option<Switch> = "Obey the server's `Keep-Alive` header field",
            Flag::new(Group::Connections, "--respect-keepalive",
                "Obey the server's Keep-Alive header (timeout=5, max=100)").hidden(On::GRPC);
        retry_reused: Option<Switch> =
            "Resend a request once if its reused connection turns out closed",
            Flag::new(Group::Connections, "--retry-reused",
                "Retry a GET, HEAD, PUT or DELETE once if its kept-alive connection turns out to be closed").hidden(On::GRPC);
        retry_style: Option<Text> =
            "Requests that `retry_reused` sends again: `rfc` (the default): those with an idempotent method; `go`: as Go's client does, GET, HEAD, OPTIONS and TRACE, and any request with an `Idempotency-Key`";
        no_close_notify: Option<Switch> =
            "Accept a body without a length that ends with its TLS connection, even if the server sent no close_notify, as most clients do. Such a body may have been cut off; it is counted as the leniency `no_close_notify`";
        connect_backoff: Option<Text> =
            "Maximum pause after failed connection attempts, such as `100ms`",
            Flag::new(Group::Connections, "--connect-backoff <TIME>",
                "Maximum pause before reconnecting to a target that refuses connections [default: 250ms]");
        ping: Option<Text> = "Ping an HTTP/2 connection that has been silent for this time",
            Flag::new(Group::Connections, "--ping <TIME>",
                "HTTP/2: send PING if a connection with open requests has been silent for this long [default: never]");
        ping_timeout: Option<Text> = "How long to wait for the reply to a ping",
            Flag::new(Group::Connections, "--ping-timeout <TIME>",
                "Close the connection if its PING is not answered within this time [default: 20s]").needs("ping");
    } []
}

table! {
    /// The limits of the phases of an exchange in time; 0 means no limit.
    pub struct TimeoutSettings [] {
        timeout: Option<Text> = "Maximum total time of a request, such as `5s`; `0` means no limit",
            Flag::new(Group::Timeouts, "--timeout <TIME>",
                "Timeout of an exchange, from taking a connection to the last byte [default: 30s]").first();
        connect_timeout: Option<Text> = "Maximum time to open a connection; `0` means no limit",
            Flag::new(Group::Timeouts, "--connect-timeout <TIME>",
                "Timeout for opening a connection [default: 10s]");
        tls_timeout: Option<Text> = "Maximum time of a TLS handshake; `0` means no limit",
            Flag::new(Group::Timeouts, "--tls-timeout <TIME>",
                "Timeout for the TLS handshake [default: 10s]");
        head_timeout: Option<Text> =
            "Maximum time until the head of the response has arrived; `0` means no limit",
            Flag::new(Group::Timeouts, "--head-timeout <TIME>",
                "Timeout from the request's last byte to the end of the response's headers [default: --timeout]");
    } []
}

table! {
    /// The settings of https targets. Files are PEM.
    pub struct TlsSettings [] {
        insecure: Option<Switch> = "Accept certificates without checking them",
            Flag::new(Group::Tls, "-k, --insecure",
                "Skip the verification of certificates (noted in the report)").first();
        cacert: Option<Text> = "File with the CA certificates",
            Flag::new(Group::Tls, "--cacert <FILE>",
                "Trusted certificates in PEM [default: the system's]");
        cert: Option<Text> = "File with the client certificate",
            Flag::new(Group::Tls, "--cert <FILE>", "Client certificate chain in PEM").needs("key");
        key: Option<Text> = "File with the client key",
            Flag::new(Group::Tls, "--key <FILE>", "Client private key in PEM").needs("cert");
        server_name: Option<Text> = "Name that the server's certificate must have";
        full_handshakes: Option<Switch> = "Never resume TLS sessions",
            Flag::new(Group::Tls, "--full-handshakes",
                "Make only full TLS handshakes; never resume sessions");
        resumption: Option<Text> = "Share of handshakes that may resume a session, such as `60%`",
            Flag::new(Group::Tls, "--tls-resumption <SHARE>",
                "Share of the handshakes that may resume a session, such as 60% [default: 100%]").excludes(&["full-handshakes"]);
    } []
}

nested!(TlsSettings => "tls");
