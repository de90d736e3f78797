//! How requests travel.

use super::{count, some, switch, text, texts};
use crate::flags::{LoadFlags, TransportFlags};
use drumfire_document::{Connections, Reach, Settings, Text, Timeouts, Tls};
use std::path::PathBuf;

/// The settings of connections and of the way to the target, from load and transport flags.
pub(super) fn settings(load: &LoadFlags, flags: &TransportFlags) -> Settings {
    Settings {
        reach: reach(flags),
        connections: connections(load, flags),
        timeouts: Timeouts {
            timeout: some("timeout", flags.timeout.as_ref()),
            connect_timeout: some("connect_timeout", flags.connect_timeout.as_ref()),
            tls_timeout: some("tls_timeout", flags.tls_timeout.as_ref()),
            head_timeout: some("head_timeout", flags.head_timeout.as_ref()),
        },
        tls: Tls {
            insecure: switch("insecure", flags.insecure, true),
            cacert: path("cacert", flags.cacert.as_ref()),
            cert: path("cert", flags.cert.as_ref()),
            key: path("key", flags.key.as_ref()),
            server_name: None,
            full_handshakes: switch("full_handshakes", flags.full_handshakes, true),
            resumption: some("resumption", flags.tls_resumption.as_ref()),
        },
        ..Settings::default()
    }
}

fn path(key: &str, path: Option<&PathBuf>) -> Option<Text> {
    path.map(|path| text(key, &path.display()))
}

fn reach(flags: &TransportFlags) -> Reach {
    Reach {
        resolve: texts("resolve", &flags.resolve),
        lookup: some("lookup", flags.lookup.as_ref()),
        name_server: some("name_server", flags.name_server.as_ref()),
        source_ip: texts("source_ip", &flags.source_ip),
        proxy: some("proxy", flags.proxy.as_ref()),
        unix_socket: path("unix_socket", flags.unix_socket.as_ref()),
        ..Reach::default()
    }
}

fn connections(load: &LoadFlags, flags: &TransportFlags) -> Connections {
    let limit = flags.requests_per_connection;
    Connections {
        cookies: None,
        connections: some("connections", load.connections.as_ref()),
        streams: count("streams", flags.streams),
        session: None,
        keepalive: switch("keepalive", flags.no_keepalive, false),
        requests_per_connection: count("requests_per_connection", limit),
        connection_age: some("connection_age", flags.connection_age.as_ref()),
        connection_churn: some("connection_churn", flags.connection_churn.as_ref()),
        connection_idle: some("connection_idle", flags.connection_idle.as_ref()),
        connection_opening: None,
        respect_keepalive: switch("respect_keepalive", flags.respect_keepalive, true),
        retry_reused: switch("retry_reused", flags.retry_reused, true),
        retry_style: None,
        no_close_notify: None,
        connect_backoff: some("connect_backoff", flags.connect_backoff.as_ref()),
        ping: some("ping", flags.ping.as_ref()),
        ping_timeout: some("ping_timeout", flags.ping_timeout.as_ref()),
    }
}
