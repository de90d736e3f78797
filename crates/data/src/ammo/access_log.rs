//! Access logs: the combined format of nginx and Apache, with or without its last fields, and lines
//! of JSON.
//!
//! What was no request is no entry: servers log broken ones, too.

use super::batch::Batch;
use super::step::{Step, line, text};
use super::target::begin;
use crate::log_time;
use drumfire_plan::{Header, Method};
use serde_json::{Map, Value};

/// Keys under which JSON logs have these, in the order of trust.
const REQUESTS: [&str; 2] = ["request", "request_line"];
const METHODS: [&str; 3] = ["method", "request_method", "http_method"];
const TARGETS: [&str; 6] = ["request_uri", "uri", "url", "path", "target", "requestUri"];
const HOSTS: [&str; 3] = ["host", "http_host", "server_name"];
const REFERERS: [&str; 3] = ["http_referer", "referer", "referrer"];
const AGENTS: [&str; 3] = ["http_user_agent", "user_agent", "userAgent"];
const TIMES: [&str; 7] = [
    "time_iso8601",
    "msec",
    "timestamp",
    "@timestamp",
    "time_local",
    "time",
    "ts",
];

/// The next line.
pub(super) fn step(window: &[u8], is_last: bool, out: &mut Batch) -> Step {
    let (line, bytes) = match line(window, is_last) {
        Ok(read) => read,
        Err(step) => return step,
    };
    let line = match text(line) {
        Ok(line) => line,
        Err(step) => return step,
    };
    if line.is_empty() || line.starts_with('#') {
        return Step::Took { bytes, rows: 0 };
    }
    let before = out.len();
    let put = match line.starts_with('{') {
        true => of_json(line, out),
        false => of_text(line, out),
    };
    let rows = out.len() - before;
    put.map_or_else(Step::broken, |()| Step::Took { bytes, rows })
}

/// A line of the combined format: `… [TIME] "REQUEST" STATUS SIZE "REFERER" "AGENT"`.
fn of_text(line: &str, out: &mut Batch) -> Result<(), String> {
    let wrong = "the line is not an access log entry such as 1.2.3.4 - - [10/Oct/2000:13:55:36 \
                 -0700] \"GET / HTTP/1.1\" 200 12";
    let (_, rest) = line.split_once('[').ok_or(wrong)?;
    let (time, rest) = rest.split_once(']').ok_or(wrong)?;
    let (request, rest) = quoted(rest).ok_or(wrong)?;
    let time = log_time::common(time).ok_or_else(|| {
        let shown = time.escape_default();
        format!("`{shown}` is not a time such as 10/Oct/2000:13:55:36 -0700")
    })?;
    let referer = quoted(rest);
    let agent = referer.as_ref().and_then(|(_, rest)| quoted(rest));
    let said = |field: Option<(String, &str)>| field.map(|(text, _)| text);
    let fields = [("Referer", said(referer)), ("User-Agent", said(agent))];
    put(&request, Some(time), fields, out);
    Ok(())
}

/// The next quoted text, without the escapes of nginx and Apache, and what follows it.
fn quoted(rest: &str) -> Option<(String, &str)> {
    let start = rest.find('"')? + 1;
    let mut text = Vec::new();
    let bytes = rest.as_bytes();
    let mut at = start;
    loop {
        match (bytes.get(at)?, bytes.get(at + 1)) {
            (b'"', _) => break,
            (b'\\', Some(b'x')) => {
                let hex = rest.get(at + 2..at + 4)?;
                text.push(u8::from_str_radix(hex, 16).ok()?);
                at += 4;
            }
            (b'\\', Some(escaped)) => {
                text.push(match escaped {
                    b'n' => b'\n',
                    b't' => b'\t',
                    b'r' => b'\r',
                    other => *other,
                });
                at += 2;
            }
            (byte, _) => {
                text.push(*byte);
                at += 1;
            }
        }
    }
    let text = String::from_utf8_lossy(&text).into_owned();
    Some((text, &rest[at + 1..]))
}

/// A line of JSON.
fn of_json(line: &str, out: &mut Batch) -> Result<(), String> {
    let read: Result<Map<String, Value>, _> = serde_json::from_str(line);
    let log = read.map_err(|_| "the line is not a JSON object".to_owned())?;
    let of = |keys: &[&str]| {
        let mut values = keys.iter().filter_map(|key| log.get(*key));
        values.find_map(|value| match value {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        })
    };
    let request = of(&REQUESTS).or_else(|| {
        let method = of(&METHODS).unwrap_or_else(|| "GET".to_owned());
        Some(format!("{method} {}", of(&TARGETS)?))
    });
    let Some(request) = request else {
        return Err("the line has neither a `request` nor a `method` with a `uri`".to_owned());
    };
    let time = TIMES.iter().filter_map(|key| of(&[key]));
    let time = time.filter_map(|text| log_time::any(&text)).next();
    let fields = [("Referer", of(&REFERERS)), ("User-Agent", of(&AGENTS))];
    let before = out.len();
    put(&request, time, fields, out);
    if let Some(host) = of(&HOSTS).filter(|host| Header::new("Host", host.as_bytes()).is_ok())
        && out.len() > before
    {
        out.host(&host);
    }
    Ok(())
}

/// An entry, if the line's request was one.
fn put(request: &str, time: Option<u64>, fields: [(&str, Option<String>); 2], out: &mut Batch) {
    let mut words = request.split(' ');
    let (method, target) = (
        words.next().unwrap_or_default(),
        words.next().unwrap_or_default(),
    );
    let is_request = words
        .next()
        .is_none_or(|version| version.starts_with("HTTP/"));
    if !is_request || Method::parse(method).is_err() || begin(method, target, out).is_err() {
        return;
    }
    out.time(time);
    for (name, value) in fields {
        let value = value.filter(|value| !matches!(value.as_str(), "" | "-"));
        let value = value.filter(|value| Header::new(name, value.as_bytes()).is_ok());
        if let Some(value) = value {
            out.field(name, &value);
        }
    }
    if Method::announces_content(method) {
        out.body(b"");
    }
}
