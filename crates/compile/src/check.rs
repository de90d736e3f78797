//! A plan's own check, with the places in the document that its findings come from.

use crate::form::fields::Fields as _;
use crate::scope::Scope;
use drumfire_plan::Plan;
use drumfire_plan::document::{Document, Place, Pool};

/// Keys of a document by the places of a plan's check. Where several are given, the first that was
/// written is meant.
const KEYS: [(&str, &[&str]); 19] = [
    ("load.rate", &["rate"]),
    ("load.users", &["users", "connections"]),
    ("stop", &["after"]),
    ("stop.duration", &["after"]),
    ("stop.requests", &["requests"]),
    ("stop.iterations", &["iterations"]),
    ("warmup", &["warmup"]),
    ("interval", &["interval"]),
    ("connections.count", &["connections"]),
    ("connections.threads", &["threads"]),
    ("connections.streams", &["streams"]),
    ("connections.keep_alive", &["requests_per_connection"]),
    ("connections.ping", &["ping"]),
    ("connections.hints", &["respect_keepalive"]),
    ("http.version", &["http"]),
    ("http.expect_continue", &["expect_continue"]),
    ("timeouts.total", &["timeout"]),
    ("timeouts.connect", &["connect_timeout"]),
    ("timeouts.head", &["head_timeout"]),
];

/// Notes what keeps a plan from being run.
pub(crate) fn check(plan: &Plan, document: &Document, pool: &Pool, scope: &mut Scope<'_>) {
    for finding in plan.check() {
        let place = place(&finding.place, document, pool);
        scope.found.add(&place, finding.message);
    }
}

/// Where something of a plan was written; the pool, where it was not.
fn place(of: &str, document: &Document, pool: &Pool) -> Place {
    if let Some(n) = index(of, "thresholds") {
        let threshold = document.thresholds.get(n);
        return threshold.map_or(Place::Nowhere, |text| text.place.clone());
    }
    let keys = KEYS.iter().find(|(known, _)| *known == of);
    let keys = keys.map_or(&[][..], |(_, keys)| *keys);
    let written = |key: &&str| {
        let in_stop = || pool.stop.place(key);
        let in_pool = || pool.load.place(key).or_else(|| pool.settings.place(key));
        let found = if of.starts_with("stop") {
            in_stop()
        } else {
            in_pool()
        };
        found.or_else(|| document.generator.place(key))
    };
    let place = keys.iter().find_map(written);
    place.unwrap_or(&pool.name.place).clone()
}

/// The number in `thresholds[3]`.
fn index(of: &str, list: &str) -> Option<usize> {
    let rest = of.strip_prefix(list)?.strip_prefix('[')?;
    rest.split(']').next()?.parse().ok()
}
