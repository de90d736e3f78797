//! Event streams: how the responses of a request are read.

use crate::scope::Scope;
use crate::transport::{TIMEOUT_DEFAULT, span};
use drumfire_document::{EventSettings, Layer as _, Pool, Request};
use drumfire_plan::{EventStream, LlmApi};
use drumfire_units::Nanos;

/// The ways to read a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// As one body.
    Body,
    /// As events.
    Events,
    /// As an answer of a language model, streamed or whole.
    Answer(LlmApi),
}

/// How the response of a request is read as an event stream or an answer; `None` if it is read as
/// one body. The request's own keys override those of its pool.
pub(crate) fn events(request: &Request, pool: &Pool, scope: &mut Scope<'_>) -> Option<EventStream> {
    let mut written = request.events.clone();
    written.fill(&pool.settings.events);
    let mut ways = vec![("body", Way::Body), ("events", Way::Events)];
    ways.extend(LlmApi::ALL.map(|api| (api.name(), Way::Answer(api))));
    let way = scope.word(written.read.as_ref(), &ways, "way to read a response");
    let gap = span(written.gap_timeout.as_ref(), scope);
    if let Some(count) = &written.max_events {
        let message = "an exchange receives at least 1 event; leave it out for no limit";
        scope.found.add_if(count.value == 0, &count.place, message);
    }
    let answer = match way {
        Some(Way::Events) => None,
        Some(Way::Answer(api)) => Some(api),
        // A mistake was noted.
        None if written.read.is_some() => return None,
        Some(Way::Body) | None => {
            note_idle(&request.events, scope);
            return None;
        }
    };
    let duration = span(written.stream_duration.as_ref(), scope);
    let stream = EventStream {
        gap: gap.unwrap_or(Nanos::MAX),
        duration: duration.unwrap_or(Nanos::MAX),
        receive: written.max_events.map(|count| count.value),
        answer,
    };
    note_long(&stream, request, pool, scope);
    Some(stream)
}

/// Notes a request's own limits of a stream that a shorter one excludes. Those of its pool need an
/// effect on one of its requests only. Invalid times were already noted.
fn note_long(stream: &EventStream, request: &Request, pool: &Pool, scope: &mut Scope<'_>) {
    let written = request.timeout.as_ref();
    let written = written.or(pool.settings.timeouts.timeout.as_ref());
    let total = written.map(|text| match text.value.parse() {
        Ok(Nanos::ZERO) | Err(_) => Nanos::MAX,
        Ok(total) => total,
    });
    let own = &request.events;
    if let Some(text) = &own.stream_duration
        && let Some(total) = total
        && is_excluded(stream.duration, total)
    {
        scope.found.add(&text.place, too_long("timeout", total));
    }
    let (key, end) = match stream.duration {
        Nanos::MAX => ("timeout", total.unwrap_or(TIMEOUT_DEFAULT)),
        duration => ("stream_duration", duration),
    };
    if let Some(text) = &own.gap_timeout
        && is_excluded(stream.gap, end)
    {
        scope.found.add(&text.place, too_long(key, end));
    }
}

/// Whether a stream always ends before a limit.
fn is_excluded(limit: Nanos, end: Nanos) -> bool {
    limit < Nanos::MAX && end <= limit
}

/// The message on a limit that a shorter one excludes.
fn too_long(key: &str, end: Nanos) -> String {
    format!(
        "it has no effect: no stream may take longer than `{key}` ({end}); write a shorter time"
    )
}

/// Notes the limits of a request whose response is not read as events.
fn note_idle(own: &EventSettings, scope: &mut Scope<'_>) {
    let times = [&own.gap_timeout, &own.stream_duration];
    let times = times.into_iter().flatten().map(|text| &text.place);
    let max = own.max_events.iter().map(|count| &count.place);
    for place in times.chain(max) {
        let message = "it has no effect without `read: events`";
        scope.found.add(place, message);
    }
}
