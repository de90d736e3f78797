//! Browser recordings in the format HTTP Archive 1.2.

mod keys;

use crate::exchange::{
    Body, Exchange, FormPart, ImportedRequests, PartBody, Words, origin, placed,
};
use crate::library::FileLibrary;
use crate::shape::{Seen, shown};
use crate::{Wishes, json};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use drumfire_data::{HarContent, HarEntry, HarRequest};
use drumfire_units::Nanos;
use serde::Deserialize as _;
use serde_json::Value;

/// The minimum length of a pause; shorter ones are dropped.
const PAUSE_MIN: Nanos = Nanos::from_millis(1);
/// The maximum length of a pause; longer ones are cut.
const PAUSE_MAX: Nanos = Nanos::from_secs(86_400);

/// Reads a recording. Its pauses are the times between the end of a request and the start of the
/// next.
pub(crate) fn read(text: &str, wishes: &Wishes) -> Result<ImportedRequests, String> {
    let keeps_pauses = wishes.keeps_pauses;
    let given = json::parsed(text).map_err(|error| format!("not a HAR file: {error}"))?;
    let mut all = ImportedRequests::default();
    let entries = entries(&given, &mut all)?;
    Seen::default().check(
        FileLibrary::from_value(given).root(),
        &keys::ARCHIVE,
        &mut all.notes,
    );
    let mut ended: Option<Nanos> = None;
    let mut timeless = Vec::new();
    for entry in entries {
        let started = entry.started().map(Nanos);
        if let Some(why) = left_out(&entry.request) {
            all.notes.add_at(why.to_owned(), || {
                format!("`{}`", shown(&entry.request.url()))
            });
            continue;
        }
        let took = Nanos((entry.time.unwrap_or(0.0).max(0.0) * 1e6) as u64);
        let mut exchange = exchange(&entry.request, &mut all);
        if keeps_pauses {
            let pause = started.zip(ended);
            let pause = pause.map_or(Nanos::ZERO, |(started, ended)| started - ended);
            exchange.pause = Some(match pause {
                pause if pause < PAUSE_MIN => Nanos::ZERO,
                pause => pause.min(PAUSE_MAX),
            });
        }
        if started.is_none() {
            timeless.push(exchange.name.clone().unwrap_or_default());
        }
        ended = started.map(|started| started + took).or(ended);
        all.requests.push(exchange);
    }
    if !wishes.keeps_all {
        all.keep_one_host();
    }
    match ended {
        None if keeps_pauses => {
            all.note("the recording has no times, so there are no pauses".to_owned());
        }
        Some(_) if keeps_pauses => {
            for name in timeless {
                let finding = "an entry has no valid `startedDateTime`, so no pause is before it";
                all.notes.add_at(finding.to_owned(), || shown(&name));
            }
        }
        _ => {}
    }
    Ok(all)
}

/// The reason why a plan can't have a request.
fn left_out(request: &HarRequest) -> Option<&'static str> {
    if !request.is_http() {
        return Some("requests that are not HTTP are left out");
    }
    if request.is_upgrade() {
        return Some("requests that open a WebSocket are left out");
    }
    let is_tunnel = request.method.eq_ignore_ascii_case("connect");
    is_tunnel.then_some("CONNECT requests are left out; to use a proxy, set `proxy` in the plan")
}

/// The entries that can be read; the others are noted with their place.
fn entries(archive: &Value, all: &mut ImportedRequests) -> Result<Vec<HarEntry>, String> {
    let list = archive.pointer("/log/entries").and_then(Value::as_array);
    let list = list.ok_or("not a HAR file: it has no list `log.entries`")?;
    let mut entries = Vec::with_capacity(list.len());
    // An entry that is not an object is noted with the unknown keys.
    let objects = list
        .iter()
        .enumerate()
        .filter(|(_, given)| given.is_object());
    for (at, given) in objects {
        let read = match given.get("request").is_some_and(Value::is_object) {
            true => HarEntry::deserialize(given).map_err(|error| error.to_string()),
            false => Err("it has no object `request`".to_owned()),
        };
        match read {
            Ok(entry) => entries.push(entry),
            Err(why) => {
                let finding = format!("an entry is left out, because it can't be read: {why}");
                all.notes.add_at(finding, || format!("#/log/entries/{at}"));
            }
        }
    }
    Ok(entries)
}

/// One request.
fn exchange(request: &HarRequest, all: &mut ImportedRequests) -> Exchange {
    let mut exchange = Exchange::new(&request.method, Words::Plain(request.url()));
    exchange.name = origin(exchange.url.as_str()).map(|(_, path)| {
        let path = path.split('?').next().unwrap_or_default();
        format!("{} {path}", exchange.method)
    });
    let place = exchange.name.clone().unwrap_or_default();
    for difference in request.differences() {
        all.notes.add_at(difference, || shown(&place));
    }
    for (name, value) in request.fields() {
        if name.eq_ignore_ascii_case("accept-encoding") {
            // Also decode bodies, as the browser did.
            all.document.defaults.http.compressed = Some(placed("true".to_owned()));
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
        exchange
            .headers
            .push((name.into_owned(), Words::plain(&value)));
    }
    let is_form = matches!(
        request.body(),
        Some(HarContent::Form(_) | HarContent::Parts(_))
    );
    for file in request.files().filter(|_| is_form) {
        let finding =
            "the files of a body are not imported, because an archive lacks their content";
        let named = file.file_name.as_deref().unwrap_or_default();
        all.notes
            .add_at(finding.to_owned(), || format!("`{}`", shown(named)));
    }
    exchange.body = request.body().and_then(|body| content(body, &mut exchange));
    exchange
}

fn content(body: HarContent<'_>, exchange: &mut Exchange) -> Option<Body> {
    Some(match body {
        HarContent::Text(text) => Body::Text(Words::plain(text)),
        HarContent::Bytes(bytes) => match String::from_utf8(bytes) {
            Ok(text) => Body::Text(Words::Plain(text)),
            Err(error) => Body::Base64(STANDARD.encode(error.into_bytes())),
        },
        HarContent::Form(pairs) => {
            let pairs = pairs
                .into_iter()
                .map(|(name, value)| (name, Words::Plain(value)));
            Body::Form(pairs.collect())
        }
        HarContent::Parts(pairs) => {
            let known = pairs.iter().filter(|pair| !pair.is_lost_file());
            let parts = known.map(|pair| FormPart {
                name: pair.name.clone(),
                content: PartBody::Text(Words::plain(&pair.value)),
                file_name: pair.file_name.clone(),
                media_type: pair.content_type.clone().filter(|kind| !kind.is_empty()),
            });
            // Without parts, the media type would announce a body that is absent.
            let parts: Vec<FormPart> = parts.collect();
            let is_empty = parts.is_empty();
            let body = exchange.take_parts(parts);
            if is_empty {
                return None;
            }
            body
        }
    })
}

#[cfg(test)]
mod tests;
