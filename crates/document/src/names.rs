//! The names of settings: the key in a plan file, and the flag on the command line.
//!
//! A message names a setting as its user knows it: by the flag on a command line, by the key in a
//! file. The flags themselves are defined by the command line; a key that is not in the table here
//! has none.

use crate::Place;

/// Every setting that a flag makes, by its key. `feed_order` and `reflect_metadata` stand for keys
/// inside of others, whose own names are ambiguous.
const FLAGS: &[(&str, &str)] = &[
    ("abort", "--abort-on"),
    ("after", "-z"),
    ("arrivals", "--arrivals"),
    ("authority", "--authority"),
    ("binary", "--binary"),
    ("body", "-d"),
    ("body_lines", "--body-lines"),
    ("brief", "--brief"),
    ("cacert", "--cacert"),
    ("call", "--call"),
    ("cert", "--cert"),
    ("compress", "--compress"),
    ("compressed", "--compressed"),
    ("connect_backoff", "--connect-backoff"),
    ("connect_timeout", "--connect-timeout"),
    ("connection_age", "--connection-age"),
    ("connection_churn", "--connection-churn"),
    ("connection_idle", "--connection-idle"),
    ("connections", "-c"),
    ("csv", "--csv"),
    ("csv_intervals", "--csv-intervals"),
    ("data", "-d"),
    ("deadline", "--deadline"),
    ("expect.body", "--expect-body"),
    ("expect.body_hash", "--expect-hash"),
    ("expect.header", "--expect-header"),
    ("expect.status", "--expect-status"),
    ("expect_continue", "--expect-continue"),
    ("explain", "--explain"),
    ("feed_order", "--feed-order"),
    ("feeds", "--feed"),
    ("full_handshakes", "--full-handshakes"),
    ("github", "--no-github"),
    ("head_timeout", "--head-timeout"),
    ("headers", "-H"),
    ("hlog", "--hlog"),
    ("html", "--html"),
    ("http", "--http2"),
    ("i_own_this_target", "--i-own-this-target"),
    ("import_path", "--import-path"),
    ("influx", "--influx"),
    ("insecure", "-k"),
    ("interval", "--interval"),
    ("iterations", "--iterations"),
    ("json", "--json"),
    ("json_lines", "--json-lines"),
    ("junit", "--junit"),
    ("keepalive", "--no-keepalive"),
    ("key", "--key"),
    ("late", "--late"),
    ("lines", "--lines"),
    ("live", "--no-tui"),
    ("lookup", "--lookup"),
    ("markdown", "--markdown"),
    ("max_errors", "--max-errors"),
    ("max_receive", "--max-receive"),
    ("max_send", "--max-send"),
    ("metadata", "-H"),
    ("method", "-X"),
    ("metrics", "--metrics"),
    ("metrics_linger", "--metrics-linger"),
    ("multipart", "-F"),
    ("name_server", "--name-server"),
    ("order", "--order"),
    ("otlp", "--otlp"),
    ("ping", "--ping"),
    ("ping_timeout", "--ping-timeout"),
    ("plaintext", "--plaintext"),
    ("proto", "--proto"),
    ("protoset", "--protoset"),
    ("proxy", "-x"),
    ("push_headers", "--push-header"),
    ("quiet", "--quiet"),
    ("rate", "-r"),
    ("redirects", "-L"),
    ("reflect_metadata", "--reflect-metadata"),
    ("remote_write", "--remote-write"),
    ("reply_check", "--no-reply-check"),
    ("requests", "-n"),
    ("requests_per_connection", "--requests-per-connection"),
    ("resolve", "--resolve"),
    ("respect_keepalive", "--respect-keepalive"),
    ("resumption", "--tls-resumption"),
    ("retry_reused", "--retry-reused"),
    ("rows", "--rows"),
    ("seed", "--seed"),
    ("source_ip", "--source-ip"),
    ("speed", "--speed"),
    ("spin", "--spin"),
    ("stream.count", "--stream-count"),
    ("stream.duration", "--stream-duration"),
    ("stream.interval", "--stream-interval"),
    ("stream.receive", "--stream-receive"),
    ("streams", "--streams"),
    ("strict", "--strict"),
    ("svg", "--svg"),
    ("templates", "--no-templates"),
    ("think", "--think-time"),
    ("threads", "--threads"),
    ("thresholds", "--threshold"),
    ("timeout", "--timeout"),
    ("tls_timeout", "--tls-timeout"),
    ("traceparent", "--traceparent"),
    ("unix_socket", "--unix-socket"),
    ("users", "-u"),
    ("warmup", "--warmup"),
];

/// Every flag that makes a setting.
pub fn flags() -> impl Iterator<Item = &'static str> {
    FLAGS.iter().map(|(_, flag)| *flag)
}

/// The place of a setting that a flag made; nowhere, where no flag does.
#[must_use]
pub fn flag(key: &str) -> Place {
    match FLAGS.iter().find(|(known, _)| *known == key) {
        Some((_, name)) => Place::Flag { name },
        None => Place::Nowhere,
    }
}

/// A setting by its name at a place: its flag on the command line, its key in a file.
pub fn name(place: &Place, key: &str) -> String {
    match (place.is_flag(), flag(key)) {
        (true, Place::Flag { name }) => name.to_owned(),
        _ => format!("`{}`", key.rsplit('.').next().unwrap_or_default()),
    }
}

/// The same for a setting with a value: a flag alone implies it.
pub fn setting(place: &Place, key: &str, value: &str) -> String {
    match (place.is_flag(), flag(key)) {
        (true, Place::Flag { name }) => name.to_owned(),
        _ => format!("`{key}: {value}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::{FLAGS, flag, name, setting};
    use crate::Place;

    #[test]
    fn a_setting_is_named_as_it_was_written() {
        assert!(FLAGS.is_sorted());
        let file = Place::File {
            name: "p".into(),
            line: 1,
            column: 1,
            key: "data".into(),
        };
        assert_eq!(name(&flag("data"), "binary"), "--binary");
        assert_eq!(name(&file, "stream.count"), "`count`");
        assert_eq!(setting(&Place::Nowhere, "binary", "true"), "--binary");
        assert_eq!(setting(&file, "binary", "true"), "`binary: true`");
        assert_eq!(flag("nonsense"), Place::Nowhere);
    }
}
