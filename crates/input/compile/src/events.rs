//! Event streams: how the responses of a request are read.

use crate::scope::Scope;
use crate::transport::span;
use drumfire_document::{EventSettings, Layer as _, Place, Pool, Request};
use drumfire_plan::EventStream;
use drumfire_units::Nanos;

/// How the response of a request is read as an event stream; `None` if it is read as one body. The
/// request's own keys override those of its pool.
pub(crate) fn events(request: &Request, pool: &Pool, scope: &mut Scope<'_>) -> Option<EventStream> {
    let mut written = request.events.clone();
    written.fill(&pool.settings.events);
    let ways = [("body", false), ("events", true)];
    let reads_events = scope.word(written.read.as_ref(), &ways, "way to read a response");
    let gap = span(written.gap_timeout.as_ref(), scope);
    if let Some(count) = &written.max_events {
        let message = "an exchange receives at least 1 event; leave it out for no limit";
        scope.found.add_if(count.value == 0, &count.place, message);
    }
    if reads_events != Some(true) {
        if written.read.is_none() || reads_events.is_some() {
            note_idle(&request.events, scope);
        }
        return None;
    }
    Some(EventStream {
        gap: gap.unwrap_or(Nanos::MAX),
        receive: written.max_events.map(|count| count.value),
    })
}

/// Notes the limits of a request whose response is not read as events.
fn note_idle(own: &EventSettings, scope: &mut Scope<'_>) {
    let gap = own.gap_timeout.as_ref().map(|text| &text.place);
    let max = own.max_events.as_ref().map(|count| &count.place);
    let places: [Option<&Place>; 2] = [gap, max];
    for place in places.into_iter().flatten() {
        let message = "it has no effect without `read: events`";
        scope.found.add(place, message);
    }
}
