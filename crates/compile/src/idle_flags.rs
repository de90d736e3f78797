//! Flags that have no effect beside others, and are refused: a user who writes a flag expects an
//! effect of it.
//!
//! Only flags are looked at. A key of a plan may stand among defaults, which hold for pools that it
//! concerns and for others; and another tool's command line has that tool's rules. TLS settings are
//! no mistake for an http target, as a plan is often tried on one and run on another.

use crate::scope::{Scope, is_on};
use drumfire_document::names;
use drumfire_document::{Place, Settings, Switch, Text};
use drumfire_plan::{HttpRequest, HttpVersion, Timeouts};
use drumfire_units::Nanos;

/// Notes the flags of a pool that do nothing.
pub(crate) fn note(
    settings: &Settings,
    version: HttpVersion,
    timeouts: &Timeouts,
    requests: &[HttpRequest],
    scope: &mut Scope<'_>,
) {
    note_connections(settings, version, scope);
    note_socket(settings, scope);
    let head = settings.timeouts.head_timeout.as_ref();
    let is_long = timeouts.head >= timeouts.total && timeouts.total < Nanos::MAX;
    if let Some(text) = head.filter(|_| is_long) {
        let total = names::name(&text.place, "timeout");
        let limit = timeouts.total;
        refuse(
            &text.place,
            &format!("no head may take longer than {total} ({limit}); write a shorter time"),
            scope,
        );
    }
    let has_body = |request: &HttpRequest| request.body.0.is_some() || request.data.is_some();
    let expects = settings.http.expect_continue.as_ref();
    if let Some(Switch {
        value: true, place, ..
    }) = expects
        && !requests.iter().any(has_body)
    {
        let text = "no request has a body that could wait for `100 Continue`; leave it out";
        refuse(place, text, scope);
    }
}

/// Settings of connections that are kept, beside connections that are not; and those of HTTP/1.1.
fn note_connections(settings: &Settings, version: HttpVersion, scope: &mut Scope<'_>) {
    let written = &settings.connections;
    let on = |switch: &Option<Switch>| is_on(switch).then(|| place_of(switch)).flatten();
    let retries = on(&written.retry_reused);
    if written.keepalive.as_ref().is_some_and(|keep| !keep.value) {
        let kept = [
            retries,
            on(&written.respect_keepalive),
            place(&written.connection_age),
            place(&written.connection_churn),
            place(&written.connection_idle),
        ];
        for place in kept.into_iter().flatten() {
            let off = names::setting(&place, "keepalive", "false");
            let text = format!("{off} closes each connection after its request; leave one out");
            refuse(&place, &text, scope);
        }
    } else if let Some(place) = retries.filter(|_| version == HttpVersion::Http2) {
        let text = "over HTTP/2, requests that the server did not process are always sent again; \
                    leave it out";
        refuse(&place, text, scope);
    }
}

/// Settings of addresses, beside a socket that takes their place.
fn note_socket(settings: &Settings, scope: &mut Scope<'_>) {
    let written = &settings.reach;
    let Some(socket) = &written.unix_socket else {
        return;
    };
    let first = |texts: &[Text]| texts.first().map(|text| text.place.clone());
    let addressed = [
        first(&written.resolve),
        first(&written.source_ip),
        place(&written.lookup),
        place(&written.proxy),
    ];
    for place in addressed.into_iter().flatten() {
        let socket = names::name(&socket.place, "unix_socket");
        let text = format!("{socket} leads to the target without an address; leave one out");
        refuse(&place, &text, scope);
    }
}

fn place(text: &Option<Text>) -> Option<Place> {
    text.as_ref().map(|text| text.place.clone())
}

fn place_of(switch: &Option<Switch>) -> Option<Place> {
    switch.as_ref().map(|switch| switch.place.clone())
}

/// Notes a flag without effect.
fn refuse(place: &Place, why: &str, scope: &mut Scope<'_>) {
    if matches!(place, Place::Flag { .. }) {
        scope.found.add(place, format!("it has no effect: {why}"));
    }
}
