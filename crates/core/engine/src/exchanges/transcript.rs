//! The complete transcript of an exchange: both sides as they are shown, its sample, and the
//! findings of its request's checks.
//!
//! The transcript is made when the exchange has ended and its look is still complete. It copies
//! everything that is shown, so it is made only for exchanges that the plan requests.

use super::entry::Entry;
use super::look::{Look, seen_status};
use super::rules::Rules;
use super::state::ExchangeState;
use drumfire_measure::{Sample, Transcript};
use drumfire_plan::Response;

/// The part of an exchange that a transcript covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// A redirect response: the request's checks do not apply to it.
    Hop,
    /// The last response, to which the checks apply.
    Last,
}

/// The transcript of an exchange that is over, or of the part before a redirect.
#[cold]
pub(super) fn transcript(rules: &Rules, entry: &Entry, sample: Sample, part: Part) -> Transcript {
    let Entry { exchange, state } = entry;
    let request = rules.request(exchange);
    let status = exchange.account.status();
    let has_response = status != 0 || exchange.look.as_deref().is_some_and(Look::has_head);
    let look = exchange.look.as_deref().filter(|_| has_response);
    let response = look.map(|look| {
        let mut side = look.side(status);
        ExchangeState::explain(request, &mut side);
        side
    });
    let findings = match (request.inspection(), look, part) {
        (Some(inspection), Some(look), Part::Last) => {
            let mut findings = look.message_findings().to_vec();
            findings.extend(inspection.findings(&Response {
                status: seen_status(status),
                fields: &look.fields,
                body: &look.body,
                answer: look.answer(),
                time: sample.end - sample.intended,
            }));
            findings
        }
        _ => Vec::new(),
    };
    Transcript {
        pool: rules.prepared.id.index(),
        sample,
        request: state.sent(request),
        response,
        detail: exchange.detail().cloned(),
        findings,
    }
}
