//! The counts of requests, iterations, messages and events, and their rates.
//!
//! The counts of requests add up: each due request is in exactly one of them. Counts that every
//! reader looks for are there even if they are 0; others only if there are any.

use super::{Body, Cell, Facts, PageExtent, Section};
use crate::line::Ink;
use crate::quantity::{count, rate, sent_or_begun, share};
use drumfire_measure::{Counts, Messages, Summary};

/// A line each for requests, the rate, iterations, and messages or events.
pub(super) fn section(summary: &Summary, _: &PageExtent) -> Option<Section> {
    let lines = [
        ("Requests", requests(summary)),
        ("Rate", achieved(summary)),
        ("Iterations", iterations(summary)),
        ("Messages", messages(summary)),
        ("Events", events(summary)),
    ];
    let bodies = lines.map(|(label, items)| Body::Facts(Facts::items(label, items)));
    let explanation = "Every due request counts exactly once: sent, dropped or never sent. Every \
                       sent request is ok, failed or in flight.";
    Section::new("requests", "Requests", explanation, bodies.into())
}

/// A number of things; 0 is dim.
fn tally(n: u64, what: &str, ink: Ink) -> Cell {
    let ink = if n == 0 { Ink::Dim } else { ink };
    Cell::new(format!("{} {what}", count(n))).inked(ink)
}

/// A number of things, if there are any.
fn some(n: u64, what: &str, ink: Ink) -> Option<Cell> {
    (n > 0).then(|| tally(n, what, ink))
}

/// Failures, with their share of the sent requests.
fn failed(counts: &Counts) -> Cell {
    let failed = match counts.failed {
        0 => "failed".to_owned(),
        n => format!("failed ({})", share(n, counts.sent)),
    };
    tally(counts.failed, &failed, Ink::Bad)
}

fn requests(summary: &Summary) -> Vec<Cell> {
    let counts = &summary.total.counts;
    let unmade = summary.total.without_data();
    let begun = format!("{} {}", count(counts.sent), sent_or_begun(unmade));
    let mut items = vec![
        Cell::new(begun).inked(Ink::Bold),
        tally(counts.ok, "ok", Ink::Plain),
        failed(counts),
    ];
    items.extend(some(counts.timed_out, "of them timed out", Ink::Bad));
    items.extend(some(unmade, "of them not sent for lack of data", Ink::Bad));
    items.push(tally(counts.dropped, "dropped", Ink::Warn));
    items.push(tally(counts.in_flight, "in flight", Ink::Warn));
    items.extend(some(counts.pending, "due but not sent", Ink::Warn));
    items
}

/// The rate at which requests ended, and the share of the load that was sent. The share is one of
/// counts: the drain after the last request lengthens the measured span, and would lower a share of
/// rates. If no request was due, there is no share.
fn achieved(summary: &Summary) -> Vec<Cell> {
    let achieved = format!("{} achieved", rate(summary.achieved_per_s()));
    let mut items = vec![Cell::new(achieved).inked(Ink::Bold)];
    // A rate of iterations intends no number of requests; the line of iterations has its share.
    let intended = match summary.total.iterations {
        Some(_) => None,
        None => summary.intended_per_s(),
    };
    let counts = &summary.total.counts;
    let intended = intended.filter(|intended| *intended > 0.0 && counts.intended > 0);
    items.extend(intended.map(|intended| {
        let sent = counts.sent.saturating_sub(summary.total.without_data());
        let part = share(sent, counts.intended);
        Cell::new(format!("{part} of {} sent", rate(intended)))
    }));
    items
}

/// The iterations of all pools that have them. An intended rate is there only for a single pool:
/// rates of different iterations do not add up.
fn iterations(summary: &Summary) -> Vec<Cell> {
    let Some(iterations) = &summary.total.iterations else {
        return Vec::new();
    };
    let counts = &iterations.counts;
    let completed = format!("{} completed", count(counts.ok));
    let mut items = vec![Cell::new(completed).inked(Ink::Bold), failed(counts)];
    items.extend(some(counts.dropped, "dropped", Ink::Warn));
    items.extend(some(counts.in_flight, "in flight", Ink::Warn));
    items.extend(some(counts.pending, "due but not started", Ink::Warn));
    let achieved = rate(summary.iterations_per_s(iterations));
    items.push(Cell::new(format!("{achieved} achieved")));
    let mut pools = summary.pools();
    let intended = match (pools.next(), pools.next()) {
        (Some((pool, figures)), None) => summary.iterations_intended_per_s(pool, figures),
        _ => None,
    };
    items.extend(intended.filter(|intended| *intended > 0.0).map(|intended| {
        let part = share(counts.sent, counts.intended);
        Cell::new(format!("{part} of {} started", rate(intended)))
    }));
    items
}

/// Whether messages are events of event streams.
pub(super) fn are_events(summary: &Summary, messages: &Messages) -> bool {
    messages.are_events() && !summary.info.is_on_socket()
}

/// The messages of streams, with their rates over the measured span. Unsent messages are those that
/// calls were to send and did not.
fn messages(summary: &Summary) -> Vec<Cell> {
    let messages = &summary.total.messages;
    if !messages.any() || are_events(summary, messages) {
        return Vec::new();
    }
    let mut items = vec![
        flow(summary, messages.sent, "sent"),
        flow(summary, messages.received, "received"),
    ];
    items.extend(some(messages.unsent, "unsent", Ink::Warn));
    items.extend(in_one_read(messages));
    items
}

/// The events of event streams, with their rate over the measured span.
fn events(summary: &Summary) -> Vec<Cell> {
    let messages = &summary.total.messages;
    match are_events(summary, messages) {
        true => {
            let mut items = vec![flow(summary, messages.received, "received")];
            items.extend(in_one_read(messages));
            items
        }
        false => Vec::new(),
    }
}

/// The share of gaps between messages of one read, if there are any: low quantiles of the gaps then
/// describe reads and not messages.
fn in_one_read(messages: &Messages) -> Option<Cell> {
    let count = messages.gaps_in_one_read();
    let part = || share(count, messages.gap.count());
    (count > 0).then(|| Cell::new(format!("{} of gaps within one read", part())))
}

/// A count of messages, with its rate over the measured span.
fn flow(summary: &Summary, n: u64, what: &str) -> Cell {
    let seconds = (summary.duration.0 as f64 / 1e9).max(1e-9);
    let per_s = rate(n as f64 / seconds);
    Cell::new(format!("{} {what} ({per_s})", count(n)))
}
