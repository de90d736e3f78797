//! Recordings of browsers: HTTP Archive 1.2.

use crate::Wishes;
use crate::exchange::{Body, Exchange, Exchanges, FormPart, Words, origin, placed};
use drumfire_data::{HarArchive, HarBody, HarPair, HarRequest};
use drumfire_units::Nanos;

/// A shorter pause is none.
const PAUSE_MIN: Nanos = Nanos::from_millis(1);
/// A longer one is cut.
const PAUSE_MAX: Nanos = Nanos::from_secs(86_400);

/// Reads a recording; its pauses are those between the end of a request and the start of the next.
pub(crate) fn read(text: &str, wishes: &Wishes) -> Result<Exchanges, String> {
    let keeps_pauses = wishes.keeps_pauses;
    let archive: HarArchive =
        serde_json::from_str(text).map_err(|error| format!("not a HAR file: {error}"))?;
    let mut all = Exchanges::default();
    let mut ended: Option<Nanos> = None;
    for entry in archive.into_entries() {
        let started = entry.started().map(Nanos);
        if !entry.request.is_http() {
            let shown: String = entry.request.url.chars().take(40).collect();
            all.note(format!("`{shown}` is not an HTTP request and is left out"));
            continue;
        }
        let took = Nanos((entry.time.unwrap_or(0.0).max(0.0) * 1e6) as u64);
        let mut exchange = exchange(entry.request, &mut all);
        if keeps_pauses {
            let pause = started.zip(ended);
            let pause = pause.map_or(Nanos::ZERO, |(started, ended)| started - ended);
            exchange.pause = Some(match pause {
                pause if pause < PAUSE_MIN => Nanos::ZERO,
                pause => pause.min(PAUSE_MAX),
            });
        }
        ended = started.map(|started| started + took).or(ended);
        all.requests.push(exchange);
    }
    if !wishes.keeps_all {
        all.keep_one_host();
    }
    if keeps_pauses && ended.is_none() {
        all.note("the recording has no times, so there are no pauses".to_owned());
    }
    Ok(all)
}

/// One request.
fn exchange(request: HarRequest, all: &mut Exchanges) -> Exchange {
    let mut exchange = Exchange::new(&request.method, Words::Plain(request.url));
    exchange.name = origin(exchange.url.as_str()).map(|(_, path)| {
        let path = path.split('?').next().unwrap_or_default();
        format!("{} {path}", exchange.method)
    });
    for HarPair { name, value, .. } in request.headers {
        if name.eq_ignore_ascii_case("accept-encoding") {
            all.document.defaults.http.compressed = Some(placed("true".to_owned()));
            continue;
        }
        let is_secret = ["cookie", "authorization"]
            .iter()
            .any(|secret| name.eq_ignore_ascii_case(secret));
        if is_secret {
            all.note(format!(
                "the plan contains `{name}` as it was recorded; use `${{secret:env:NAME}}` to keep \
                 it out of files and reports"
            ));
        }
        exchange.headers.push((name, Words::Plain(value)));
    }
    if let Some(data) = request.post_data {
        exchange.body = body(data, &mut exchange, all);
    }
    exchange
}

fn body(data: HarBody, exchange: &mut Exchange, all: &mut Exchanges) -> Option<Body> {
    if let Some(text) = data.text.filter(|text| !text.is_empty()) {
        return Some(Body::Text(Words::Plain(text)));
    }
    if let Some(file) = data.params.iter().find_map(|pair| pair.file_name.as_ref()) {
        all.note(format!("the file {file} of a body is not imported"));
    }
    let params = data
        .params
        .into_iter()
        .filter(|pair| pair.file_name.is_none());
    if data.mime_type.starts_with("multipart/") {
        let parts =
            params.map(|HarPair { name, value, .. }| FormPart::text(name, Words::Plain(value)));
        return Some(exchange.take_parts(parts.collect()));
    }
    let fields: Vec<(String, Words)> = params
        .map(|HarPair { name, value, .. }| (name, Words::Plain(value)))
        .collect();
    (!fields.is_empty()).then_some(Body::Form(fields))
}
