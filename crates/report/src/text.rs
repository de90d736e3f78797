//! The summary as a person reads it: the verdict first, then the plan, then the numbers.
//!
//! [`summary`] calls the printers beneath it from the top of the page to its end. A printer looks
//! at the summary, decides whether it has anything to say, and appends to the
//! [`page`](crate::page); it never looks at what another printed. What came from a server or a file
//! passes `foreign` on its way to the page.

mod asked;
mod distribution;
mod drift;
mod iteration;
mod last;
mod latency;
mod outcome;
mod pool;
mod run;
mod slowest;
mod stage;
mod step;
mod verdict;

use crate::line::{Ink, Line};
use crate::page::{Explain, Page};
use crate::quantity::count;
use crate::secret;
use crate::style::{Style, Unicode};
use crate::untrusted::Untrusted;
use drumfire_measure::{Histogram, Model, Outcome, Summary};
pub use last::{last_lines, one_line};

/// How many characters of a foreign text are shown.
const FOREIGN_MAX: usize = 300;

/// The summary of a run as text. No line is wider than the style's width.
#[must_use]
pub fn summary(summary: &Summary, style: &Style) -> String {
    print(summary, Page::new(style, Explain::No))
}

/// The same, with an explanation under each part.
#[must_use]
pub fn summary_explained(summary: &Summary, style: &Style) -> String {
    print(summary, Page::new(style, Explain::Yes))
}

/// The parts, in the order in which a reader needs them.
fn print(summary: &Summary, mut page: Page<'_>) -> String {
    let parts: [fn(&Summary, &mut Page<'_>); 16] = [
        verdict::print,
        drift::print,
        run::print_plan,
        outcome::print_requests,
        latency::print,
        distribution::print,
        pool::print,
        stage::print,
        iteration::print_scenarios,
        step::print,
        slowest::print,
        outcome::print_status,
        outcome::print_errors,
        outcome::print_forgiven,
        run::print_transport,
        run::print_notes,
    ];
    for part in parts {
        page.gap();
        part(summary, &mut page);
    }
    let mut text = page.finish();
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}

/// The histogram that is *the* latency of the run's model, and the name that `time` follows.
fn main_latency(summary: &Summary) -> (&'static str, &Histogram) {
    let model = summary.model();
    let name = match model {
        Model::Open => "response",
        Model::Closed => "service",
    };
    (name, model.latency(&summary.total.latency))
}

/// The requests whose end was not seen, by what kept it from being seen: how many, in words. Their
/// times are lower bounds.
fn unseen(summary: &Summary) -> Vec<String> {
    let total = &summary.total;
    let counts = [
        (total.counts.timed_out, "timed out"),
        (total.outcomes().get(Outcome::LocalCancelled), "cancelled"),
        (total.counts.in_flight, "in flight"),
        (total.counts.pending, "not sent"),
    ];
    let seen = counts.iter().filter(|(n, _)| *n > 0);
    seen.map(|(n, what)| format!("{} {what}", count(*n)))
        .collect()
}

/// Text that others wrote, bounded, without what acts on a terminal and without secrets in URLs.
fn foreign(text: &str, unicode: Unicode) -> String {
    Untrusted::new(&secret::setting("", text)).escaped_up_to(FOREIGN_MAX, unicode)
}

/// A number of things: quiet when there are none.
fn tally(text: String, n: u64, ink: Ink) -> Line {
    Line::of(text, if n == 0 { Ink::Dim } else { ink })
}
