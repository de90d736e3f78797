//! The differences of plans in words.

use crate::style::Unicode;
use crate::untrusted::Untrusted;
use drumfire_compare::Difference;

/// The maximum number of facts that a sentence lists; JSON has all.
const NAMED_MAX: usize = 8;
/// The maximum number of characters of a value in a sentence.
const VALUE_MAX: usize = 40;

/// The differences in a sentence; `None` without any.
pub(super) fn sentence(differences: &[Difference]) -> Option<String> {
    let mut named: Vec<String> = differences.iter().take(NAMED_MAX).map(words).collect();
    if differences.len() > NAMED_MAX {
        named.push(format!("{} more", differences.len() - NAMED_MAX));
    }
    (!named.is_empty()).then(|| format!("They differ in: {}.", named.join(", ")))
}

/// The fact, and its value on either side: `keep-alive (on, off)`.
fn words(difference: &Difference) -> String {
    let side = |values: &Vec<String>| {
        let shown = values.iter().map(|value| shown(value));
        shown.collect::<Vec<_>>().join(" or ")
    };
    let [base, candidate] = [0, 1].map(|at: usize| side(&difference.values[at]));
    format!("{} ({base}, {candidate})", name(&difference.key))
}

/// A value, cut; `on` and `off` for a switch.
fn shown(value: &str) -> String {
    match value {
        "yes" => "on".to_owned(),
        "no" => "off".to_owned(),
        value => Untrusted::new(value).escaped_up_to(VALUE_MAX, Unicode::On),
    }
}

/// The name of a setting for a reader; one without a name has its key.
fn name(key: &str) -> String {
    let shown = |text: &str| Untrusted::new(text).escaped_up_to(VALUE_MAX, Unicode::On);
    // The name of a pool may have points, and a key of a request has one.
    let (pool, own) = match key.strip_prefix("pools.") {
        None => (None, key),
        Some(rest) => {
            let ends = rest.match_indices('.').map(|(at, _)| at);
            let known = ends.map(|at| (&rest[..at], &rest[at + 1..]));
            let mut known = known.filter(|(_, own)| word(last(own)).is_some() || own.contains('['));
            known
                .next()
                .map_or((None, key), |(pool, own)| (Some(pool), own))
        }
    };
    let mut text = word(last(own)).map_or_else(|| shown(own), str::to_owned);
    if let Some(number) = own.strip_prefix("requests[").and_then(number)
        && number > 0
    {
        text = format!("{text} of request {}", number + 1);
    }
    match pool {
        Some(pool) => format!("{text} of pool {}", shown(pool)),
        None => text,
    }
}

/// The part of a request's key after its number.
fn last(own: &str) -> &str {
    match own.strip_prefix("requests[") {
        Some(rest) => rest.split_once("].").map_or(own, |(_, last)| last),
        None => own,
    }
}

/// The number of a request, from its key after the bracket.
fn number(rest: &str) -> Option<u64> {
    rest.split_once(']')?.0.parse().ok()
}

/// The words for a setting whose key is no word.
fn word(key: &str) -> Option<&'static str> {
    Some(match key {
        "path" => "path",
        "method" => "method",
        "header" => "headers",
        "body" | "body_bytes" => "body",
        "call" => "call",
        "deadline" => "deadline",
        "requests" => "number of requests",
        "scenario" => "number of steps",
        "connections" => "connections",
        "http" => "HTTP version",
        "streams" => "streams",
        "keep_alive" => "keep-alive",
        "connection_age" => "connection age",
        "connection_age.mean" => "mean connection age",
        "connection_idle" => "connection idle time",
        "timeout.total" => "timeout",
        "timeout.connect" => "connect timeout",
        "timeout.tls" => "TLS timeout",
        "timeout.head" => "head timeout",
        "compressed" => "compression",
        "redirects" => "redirects",
        "proxy" => "proxy",
        "warmup" => "warm-up",
        "threads" => "threads",
        "tls" => "TLS",
        "tls_verified" => "certificate verification",
        "spin" => "spin",
        "adaptive_wait" => "adaptive waiting",
        "version" => "drumfire version",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::name;

    #[test]
    fn settings_have_names() {
        for (key, words) in [
            ("keep_alive", "keep-alive"),
            ("requests[0].method", "method"),
            ("requests[2].header", "headers of request 3"),
            ("pools.a.b.timeout.total", "timeout of pool a.b"),
            ("pools.a.requests[1].body", "body of request 2 of pool a"),
            ("pools.a.scenario[3].pause", "scenario[3].pause of pool a"),
            ("scenario[3].pause", "scenario[3].pause"),
        ] {
            assert_eq!(name(key), words, "{key}");
        }
    }
}
