//! What a run sent and reported, and how two runs differ.

use super::recorder::Received;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Result;
use std::process::Output;

/// Whether the order of requests is compared, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// There is one user, and the programs send in one order.
    Same,
    /// Users send at the same time; only which requests there are counts, and how many iterations.
    Any,
}

/// Fields of requests that tell the programs apart.
const OWN_FIELDS: [&str; 6] = [
    "date",
    "user-agent",
    "host",
    "traceparent",
    "content-length",
    "sec-websocket-key",
];

/// Counters by which runs with a rate may differ by one.
const NEARLY: [&str; 2] = ["iterations", "dropped_iterations"];

/// What a run sent and reported.
#[derive(Debug)]
pub(super) struct Outcome {
    exit: Option<i32>,
    requests: Vec<String>,
    /// Names of the lines on the standard output.
    lines: BTreeSet<String>,
    /// Passes and fails of checks by path.
    checks: BTreeMap<String, String>,
    /// Whether each threshold failed.
    thresholds: BTreeMap<String, bool>,
    counts: BTreeMap<String, f64>,
    /// The names of tags of each metric.
    tags: BTreeMap<String, BTreeSet<String>>,
}

impl Outcome {
    pub(super) fn new(
        output: &Output,
        received: &[Received],
        export: &str,
        rows: &str,
    ) -> Result<Self> {
        let export: Value = serde_json::from_str(export).unwrap_or_default();
        let mut outcome = Self {
            exit: output.status.code(),
            requests: received.iter().map(normal).collect(),
            lines: String::from_utf8_lossy(&output.stdout)
                .lines()
                .map(title)
                .filter(|line| !line.is_empty())
                .collect(),
            checks: BTreeMap::new(),
            thresholds: BTreeMap::new(),
            counts: BTreeMap::new(),
            tags: BTreeMap::new(),
        };
        outcome.read_checks(&export["root_group"]);
        for (name, metric) in export["metrics"].as_object().into_iter().flatten() {
            if let Some(count) = metric["count"].as_f64() {
                outcome.counts.insert(name.clone(), count);
            }
            for (text, failed) in metric["thresholds"].as_object().into_iter().flatten() {
                outcome
                    .thresholds
                    .insert(format!("{name}: {text}"), failed.as_bool() == Some(true));
            }
        }
        for row in rows.lines() {
            let row: Value = serde_json::from_str(row)?;
            if row["type"] == "Point" {
                let tags = row["data"]["tags"].as_object().into_iter().flatten();
                let names = outcome
                    .tags
                    .entry(row["metric"].as_str().unwrap_or_default().to_owned())
                    .or_default();
                names.extend(tags.map(|(name, _)| name.clone()));
            }
        }
        Ok(outcome)
    }

    fn read_checks(&mut self, group: &Value) {
        for check in group["checks"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(_, check)| check)
        {
            let path = check["path"].as_str().unwrap_or_default().to_owned();
            self.checks.insert(
                path,
                format!("{} passes, {} fails", check["passes"], check["fails"]),
            );
        }
        for (_, group) in group["groups"].as_object().into_iter().flatten() {
            self.read_checks(group);
        }
    }

    /// What differs from another run, in words.
    #[must_use]
    pub(super) fn differences(&self, other: &Self, order: Order) -> Vec<String> {
        let mut found = Vec::new();
        if self.exit != other.exit {
            found.push(format!("exit code {:?}, and {:?}", self.exit, other.exit));
        }
        match order {
            Order::Same => {
                let pairs = self.requests.iter().zip(&other.requests).enumerate();
                let differing = pairs.filter(|(_, (one, other))| one != other);
                found.extend(
                    differing
                        .take(3)
                        .map(|(at, (one, other))| format!("request {at}: `{one}`, and `{other}`")),
                );
                if self.requests.len() != other.requests.len() {
                    found.push(format!(
                        "{} requests, and {}",
                        self.requests.len(),
                        other.requests.len()
                    ));
                }
                found.extend(map_differences("check", &self.checks, &other.checks));
                found.extend(map_differences(
                    "count of",
                    &self.exact_counts(),
                    &other.exact_counts(),
                ));
            }
            Order::Any => {
                let kinds =
                    |list: &[String]| list.iter().cloned().map(|request| (request, ())).collect();
                found.extend(map_differences(
                    "request",
                    &kinds(&self.requests),
                    &kinds(&other.requests),
                ));
                let names = |checks: &BTreeMap<String, String>| {
                    checks.keys().map(|name| (name.clone(), ())).collect()
                };
                found.extend(map_differences(
                    "check",
                    &names(&self.checks),
                    &names(&other.checks),
                ));
                found.extend(self.counts_apart(other));
            }
        }
        found.extend(map_differences(
            "threshold",
            &self.thresholds,
            &other.thresholds,
        ));
        found.extend(map_differences("tags of", &self.tags, &other.tags));
        let lines =
            |lines: &BTreeSet<String>| lines.iter().map(|line| (line.clone(), ())).collect();
        found.extend(map_differences(
            "line",
            &lines(&self.lines),
            &lines(&other.lines),
        ));
        found
    }

    /// The counters that do not depend on bytes that the programs choose.
    fn exact_counts(&self) -> BTreeMap<String, String> {
        let counts = self
            .counts
            .iter()
            .filter(|(name, _)| !name.starts_with("data_"));
        counts
            .map(|(name, count)| (name.clone(), count.to_string()))
            .collect()
    }

    /// Counters of iterations that differ by more than one start.
    fn counts_apart(&self, other: &Self) -> Vec<String> {
        let is_rate = self.counts.contains_key("dropped_iterations")
            || other.counts.contains_key("dropped_iterations");
        let count = |outcome: &Self, name: &str| outcome.counts.get(name).copied().unwrap_or(0.0);
        // Users without a rate iterate as fast as they can.
        let names = NEARLY.iter().filter(|_| is_rate);
        names
            .map(|name| (name, count(self, name), count(other, name)))
            .filter(|(_, one, other)| (one - other).abs() > 1.0)
            .map(|(name, one, other)| format!("count of {name}: {one}, and {other}"))
            .collect()
    }
}

/// What only one of two maps has, or has with another value; the first five.
fn map_differences<T: PartialEq + std::fmt::Debug>(
    what: &str,
    one: &BTreeMap<String, T>,
    other: &BTreeMap<String, T>,
) -> Vec<String> {
    let names: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
    names
        .into_iter()
        .filter(|name| one.get(*name) != other.get(*name))
        .take(5)
        .map(|name| {
            format!(
                "{what} `{name}`: {:?}, and {:?}",
                one.get(name),
                other.get(name)
            )
        })
        .collect()
}

/// A request without what is random or has no order: digits are 9, long hexadecimal words are h, UUIDs are u,
/// and cookies and parts of forms are sorted.
fn normal(request: &Received) -> String {
    let mut text = request.line.clone();
    for (name, value) in &request.headers {
        if name == "cookie" {
            text.push_str(&format!(" | cookie: {}", sorted(value, "; ")));
        } else if !OWN_FIELDS.contains(&name.as_str()) {
            text.push_str(&format!(" | {name}: {value}"));
        }
    }
    let mut body = String::from_utf8_lossy(&request.body).into_owned();
    let kind = request.headers.get("content-type");
    if let Some((_, boundary)) = kind.and_then(|kind| kind.split_once("boundary=")) {
        body = sorted(&body, &format!("--{boundary}"));
    }
    if !body.is_empty() {
        text.push_str(&format!(" | {}", body.escape_debug()));
    }
    words(&text)
}

fn sorted(text: &str, separator: &str) -> String {
    let mut parts: Vec<&str> = text.split(separator).collect();
    parts.sort_unstable();
    parts.join(separator)
}

fn words(text: &str) -> String {
    let mut normal = String::new();
    let mut word = String::new();
    for letter in text.chars().chain(['\n']) {
        if letter.is_ascii_hexdigit() || letter == '-' {
            word.push(letter);
            continue;
        }
        if word.len() == 36 && word.matches('-').count() == 4 {
            normal.push('u');
        } else {
            let parts: Vec<String> = word.split('-').map(part).collect();
            normal.push_str(&parts.join("-"));
        }
        word.clear();
        normal.push(letter);
    }
    normal.trim_end().to_owned()
}

fn part(word: &str) -> String {
    if word.len() >= 8 {
        return "h".to_owned();
    }
    word.replace(|letter: char| letter.is_ascii_digit(), "9")
}

/// The name of a line of a summary: what is before its dots.
fn title(line: &str) -> String {
    let line = line.trim();
    let end = line.find("..").unwrap_or(line.len());
    let start = &line[..end];
    let is_value = start.starts_with('↳') || start.contains('=');
    words(if is_value { "" } else { start })
}

#[cfg(test)]
mod tests {
    use super::{title, words};

    #[test]
    fn random_words_are_alike() {
        assert_eq!(words("id=12 x 0123abcd-89 ab"), "id=99 x h-99 ab");
        assert_eq!(words("01234567-89ab-4def-8123-456789abcdef"), "u");
        assert_eq!(title("    http_reqs......: 3  1/s"), "http_reqs");
        assert_eq!(title("      ↳  0% — ✓ 0 / ✗ 1"), "");
    }
}
