//! The modules that scripts can import without a file.

/// Modules of k6 with their exports.
const MODULES: [(&str, &[&str]); 14] = [
    (
        "k6",
        &["default", "check", "group", "sleep", "fail", "randomSeed"],
    ),
    (
        "k6/http",
        &[
            "default",
            "get",
            "head",
            "post",
            "put",
            "patch",
            "del",
            "options",
            "request",
            "asyncRequest",
            "batch",
            "file",
            "url",
            "cookieJar",
            "CookieJar",
            "expectedStatuses",
            "setResponseCallback",
        ],
    ),
    (
        "k6/metrics",
        &["default", "Counter", "Gauge", "Rate", "Trend"],
    ),
    ("k6/data", &["default", "SharedArray"]),
    (
        "k6/execution",
        &["default", "instance", "scenario", "test", "vu"],
    ),
    ("k6/encoding", &["default", "b64encode", "b64decode"]),
    (
        "k6/crypto",
        &[
            "default",
            "createHash",
            "createHMAC",
            "hmac",
            "randomBytes",
            "hexEncode",
            "md5",
            "sha1",
            "sha256",
            "sha384",
            "sha512",
            "sha512_224",
            "sha512_256",
        ],
    ),
    (
        "k6/timers",
        &[
            "default",
            "setTimeout",
            "setInterval",
            "clearTimeout",
            "clearInterval",
        ],
    ),
    ("k6/html", &["default", "parseHTML", "Selection", "Element"]),
    ("k6/secrets", &["default", "get", "source"]),
    ("k6/ws", &["default", "connect"]),
    ("k6/websockets", &["default", "WebSocket", "Blob"]),
    (
        "k6/experimental/websockets",
        &["default", "WebSocket", "Blob"],
    ),
    // Types only.
    ("k6/options", &["default"]),
];

/// Modules that k6 has, and drumfire lacks.
const MISSING: [&str; 4] = [
    "k6/net/grpc",
    "k6/crypto/x509",
    "k6/experimental/csv",
    "k6/experimental/fs",
];

/// Modules that k6 removed in version 2, with what replaces them.
const REMOVED: [(&str, &str); 5] = [
    ("k6/experimental/redis", "the extension k6/x/redis"),
    (
        "k6/experimental/tracing",
        "the library http-instrumentation-tempo",
    ),
    ("k6/experimental/webcrypto", "the global object `crypto`"),
    ("k6/experimental/timers", "k6/timers"),
    ("k6/experimental/grpc", "k6/net/grpc"),
];

/// The exports of a module of k6.
///
/// # Errors
///
/// Why the module is not available.
pub(crate) fn exports(name: &str) -> Result<Vec<String>, String> {
    if let Some((_, exports)) = MODULES.iter().find(|(known, _)| *known == name) {
        return Ok(exports.iter().map(|name| (*name).to_owned()).collect());
    }
    if matches!(name, "k6/browser" | "k6/experimental/browser") {
        return Err(
            "k6/browser drives Chromium, which drumfire does not: run this scenario with k6"
                .to_owned(),
        );
    }
    if let Some(extension) = name.strip_prefix("k6/x/") {
        return Err(format!(
            "k6/x/{extension} is a k6 extension written in Go, which drumfire cannot load"
        ));
    }
    if let Some((_, instead)) = REMOVED.iter().find(|(removed, _)| *removed == name) {
        return Err(format!("k6 removed {name} in v2.0; use {instead}"));
    }
    let own: Vec<&str> = MODULES.iter().map(|(name, _)| *name).collect();
    let list = own.join(", ");
    if MISSING.contains(&name) {
        return Err(format!(
            "{name} is not available in drumfire; it has {list}"
        ));
    }
    Err(format!("unknown module {name}; drumfire has {list}"))
}
