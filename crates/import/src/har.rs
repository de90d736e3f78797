//! Recordings of browsers: HTTP Archive 1.2.

use crate::exchange::{Body, Exchange, Exchanges, Words, origin, placed};
use drumfire_units::Nanos;
use serde::Deserialize;

/// A shorter pause is none.
const PAUSE_MIN: Nanos = Nanos::from_millis(1);

#[derive(Deserialize)]
struct Archive {
    log: Log,
}

#[derive(Deserialize)]
struct Log {
    entries: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    #[serde(default)]
    started_date_time: String,
    /// In milliseconds.
    #[serde(default)]
    time: Option<f64>,
    request: Request,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Request {
    method: String,
    url: String,
    #[serde(default)]
    headers: Vec<Pair>,
    #[serde(default)]
    post_data: Option<PostData>,
}

#[derive(Deserialize)]
struct Pair {
    name: String,
    #[serde(default)]
    value: String,
    #[serde(default, rename = "fileName")]
    file_name: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PostData {
    #[serde(default)]
    mime_type: String,
    #[serde(default)]
    text: String,
    #[serde(default)]
    params: Vec<Pair>,
}

/// Reads a recording; its pauses are those between the end of a request and the start of the next.
pub(crate) fn read(text: &str, keeps_pauses: bool) -> Result<Exchanges, String> {
    let archive: Archive =
        serde_json::from_str(text).map_err(|error| format!("it is no HAR file: {error}"))?;
    let mut all = Exchanges::default();
    let mut ended: Option<f64> = None;
    for entry in archive.log.entries {
        let started = milliseconds(&entry.started_date_time);
        if !entry.request.url.starts_with("http") {
            let shown: String = entry.request.url.chars().take(40).collect();
            all.note(format!(
                "`{shown}` is no request over HTTP, and is left out"
            ));
            continue;
        }
        let mut exchange = exchange(entry.request, &mut all);
        if keeps_pauses {
            let pause = started
                .zip(ended)
                .map_or(0.0, |(started, ended)| started - ended);
            let pause = Nanos((pause.clamp(0.0, 86_400_000.0) * 1e6) as u64);
            exchange.pause = Some(if pause < PAUSE_MIN {
                Nanos::ZERO
            } else {
                pause
            });
        }
        let end = started.map(|started| started + entry.time.unwrap_or(0.0).max(0.0));
        ended = end.or(ended);
        all.requests.push(exchange);
    }
    if keeps_pauses && ended.is_none() {
        all.note("the recording has no times, so there are no pauses".to_owned());
    }
    Ok(all)
}

/// One request.
fn exchange(request: Request, all: &mut Exchanges) -> Exchange {
    let mut exchange = Exchange::new(&request.method, Words::Plain(request.url));
    exchange.name = origin(exchange.url.as_str()).map(|(_, path)| {
        let path = path.split('?').next().unwrap_or_default();
        format!("{} {path}", exchange.method)
    });
    for Pair { name, value, .. } in request.headers {
        if name.eq_ignore_ascii_case("accept-encoding") {
            all.document.defaults.http.compressed = Some(placed("true".to_owned()));
            continue;
        }
        let is_secret = ["cookie", "authorization"]
            .iter()
            .any(|secret| name.eq_ignore_ascii_case(secret));
        if is_secret {
            all.note(format!(
                "`{name}` stands in the plan as it was recorded; `${{secret:env:NAME}}` keeps it \
                 out of files and reports"
            ));
        }
        exchange.headers.push((name, Words::Plain(value)));
    }
    if let Some(data) = request.post_data {
        exchange.body = body(data, all);
    }
    exchange
}

fn body(data: PostData, all: &mut Exchanges) -> Option<Body> {
    if !data.text.is_empty() {
        return Some(Body::Text(Words::Plain(data.text)));
    }
    if data.mime_type.starts_with("multipart/") {
        all.note(
            "a multipart body is not carried over: the recording has no bytes of it".to_owned(),
        );
        return None;
    }
    if let Some(file) = data.params.iter().find_map(|pair| pair.file_name.as_ref()) {
        all.note(format!("the file {file} of a body is not carried over"));
    }
    let params = data
        .params
        .into_iter()
        .filter(|pair| pair.file_name.is_none());
    let fields: Vec<(String, Words)> = params
        .map(|Pair { name, value, .. }| (name, Words::Plain(value)))
        .collect();
    (!fields.is_empty()).then_some(Body::Form(fields))
}

/// A time of RFC 3339 in milliseconds since the year 0 of its calendar.
fn milliseconds(text: &str) -> Option<f64> {
    let number = |range: std::ops::Range<usize>| text.get(range)?.parse::<i64>().ok();
    let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
    let (hour, minute) = (number(11..13)?, number(14..16)?);
    let rest = text.get(17..)?;
    let end = rest.find(['Z', '+', '-', 'z']).unwrap_or(rest.len());
    let seconds: f64 = rest[..end].parse().ok()?;
    let offset = match rest[end..].split_once(':') {
        Some((hours, minutes)) => {
            let sign = if hours.starts_with('-') { -1 } else { 1 };
            hours.parse::<i64>().ok()? * 60 + sign * minutes.parse::<i64>().ok()?
        }
        None => 0,
    };
    // Days of the civil calendar, counted from March.
    let (y, m) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let days = 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day;
    let minutes = (days * 24 + hour) * 60 + minute - offset;
    Some((minutes * 60) as f64 * 1e3 + seconds * 1e3)
}

#[cfg(test)]
mod tests {
    use super::milliseconds;

    #[test]
    fn times_are_told_apart() {
        let apart = |a: &str, b: &str| {
            milliseconds(b)
                .zip(milliseconds(a))
                .map(|(b, a)| (b - a).round())
        };
        for (a, b, span) in [
            (
                "2024-02-28T23:59:59.500Z",
                "2024-02-29T00:00:01.000Z",
                1_500.0,
            ),
            ("2024-12-31T23:59:59Z", "2025-01-01T00:00:00Z", 1_000.0),
            (
                "2024-01-01T10:00:00.000+02:00",
                "2024-01-01T08:00:01.000Z",
                1_000.0,
            ),
            ("2024-01-01T10:00:00.000-01:30", "2024-01-01T11:30:00Z", 0.0),
        ] {
            assert_eq!(apart(a, b), Some(span), "{a} {b}");
        }
        assert_eq!(milliseconds("yesterday"), None);
    }
}
