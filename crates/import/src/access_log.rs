//! Access logs of nginx and Apache: the paths that were asked for, and how often.

use crate::exchange::{Exchange, Exchanges, Words};
use std::collections::HashMap;

/// As many different requests are taken, those that came most often.
const REQUESTS_MAX: usize = 1_000;

/// Reads the lines of a log.
pub(crate) fn read(text: &str) -> Result<Exchanges, String> {
    let mut all = Exchanges::default();
    let mut counts: HashMap<(&str, &str), u64> = HashMap::new();
    let (mut unread, mut with_body) = (0_u64, 0_u64);
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        match request_line(line) {
            Some((method @ ("GET" | "HEAD" | "OPTIONS" | "DELETE"), target)) => {
                *counts.entry((method, target)).or_default() += 1;
            }
            Some(_) => with_body += 1,
            None => unread += 1,
        }
    }
    if counts.is_empty() && with_body == 0 {
        return Err(format!(
            "none of the {unread} lines has a quoted request such as \"GET / HTTP/1.1\""
        ));
    }
    let mut sorted: Vec<((&str, &str), u64)> = counts.into_iter().collect();
    sorted.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let left: u64 = sorted
        .iter()
        .skip(REQUESTS_MAX)
        .map(|(_, count)| count)
        .sum();
    for ((method, target), count) in sorted.into_iter().take(REQUESTS_MAX) {
        let mut exchange = Exchange::new(method, Words::plain(target));
        exchange.weight = (count > 1).then_some(count);
        all.requests.push(exchange);
    }
    let mut note = |count: u64, what: &str| {
        if count > 0 {
            all.note(format!("{what} ({count})"));
        }
    };
    note(unread, "lines without a quoted request are left out");
    note(
        with_body,
        "requests whose method has a body are left out, because a log has no bodies",
    );
    note(
        left,
        "the rarest requests are left out, because such a plan has at most 1,000",
    );
    Ok(all)
}

/// The method and the target between the first quotes that hold a request.
fn request_line(line: &str) -> Option<(&str, &str)> {
    line.split('"').find_map(|quoted| {
        let mut words = quoted.split(' ');
        let (method, target, version) = (words.next()?, words.next()?, words.next()?);
        let is_request = !method.is_empty()
            && method.bytes().all(|byte| byte.is_ascii_uppercase())
            && target.starts_with('/')
            && version.starts_with("HTTP/");
        is_request.then_some((method, target))
    })
}
