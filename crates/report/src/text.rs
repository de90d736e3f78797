//! The summary as a person reads it: the verdict first, then the plan, then the numbers.
//!
//! [`summary`] calls the printers beneath it from the top of the page to its end. A printer looks
//! at the summary, decides whether it has anything to say, and appends to the `page`; it never
//! looks at what another printed, so that parts can be moved, added and left out one by one. Every
//! text that came from a server or a file passes `foreign` on its way to the page.
//!
//! A new part is a file with a `print` of this form and a name in [`Part`]; each has at most one
//! explanation, with which `--explain` says how to read it. The golden files of the tests are whole
//! pages. The order of the page is that of [`Part::ALL`] and nowhere else.

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
use drumfire_measure::{Outcome, Summary};
pub use last::{last_lines, one_line};
pub(crate) use outcome::examples;
pub(crate) use verdict::{answers, thresholds_line};

/// The number of characters of a foreign text that are shown: one message must not fill the page.
const FOREIGN_MAX: usize = 300;

/// The summary of a run as text. No line is wider than the style's width.
#[must_use]
pub fn summary(summary: &Summary, style: &Style) -> String {
    print(summary, Page::new(style, Explain::No))
}

/// The summary of a run as text, with an explanation under each part.
#[must_use]
pub fn summary_explained(summary: &Summary, style: &Style) -> String {
    print(summary, Page::new(style, Explain::Yes))
}

/// A part of the page, in the order in which a reader needs them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The three answers, their reasons, and the thresholds.
    Verdict,
    /// The figures that changed over the run.
    Drift,
    /// The plan in a few words.
    Plan,
    /// The counts of requests, and their rate.
    Requests,
    /// The quantiles of the latency.
    Latency,
    /// The distribution of the latency.
    Distribution,
    /// The table of pools.
    Pools,
    /// The table of the load's stages.
    Stages,
    /// The table of scenarios.
    Scenarios,
    /// The table of steps.
    Steps,
    /// The slowest requests.
    Slowest,
    /// The statuses of responses.
    Status,
    /// The failures by outcome, with their messages.
    Errors,
    /// The leniencies that responses were granted.
    Forgiven,
    /// Bytes, connections and the generator.
    Transport,
    /// The notes that qualify the numbers.
    Notes,
}

impl Part {
    /// Every part, from the top of the page to its end.
    const ALL: [Self; 16] = [
        Self::Verdict,
        Self::Drift,
        Self::Plan,
        Self::Requests,
        Self::Latency,
        Self::Distribution,
        Self::Pools,
        Self::Stages,
        Self::Scenarios,
        Self::Steps,
        Self::Slowest,
        Self::Status,
        Self::Errors,
        Self::Forgiven,
        Self::Transport,
        Self::Notes,
    ];

    /// The printer of a part.
    const fn printer(self) -> fn(&Summary, &mut Page<'_>) {
        match self {
            Self::Verdict => verdict::print,
            Self::Drift => drift::print,
            Self::Plan => run::print_plan,
            Self::Requests => outcome::print_requests,
            Self::Latency => latency::print,
            Self::Distribution => distribution::print,
            Self::Pools => pool::print,
            Self::Stages => stage::print,
            Self::Scenarios => iteration::print_scenarios,
            Self::Steps => step::print,
            Self::Slowest => slowest::print,
            Self::Status => outcome::print_status,
            Self::Errors => outcome::print_errors,
            Self::Forgiven => outcome::print_forgiven,
            Self::Transport => run::print_transport,
            Self::Notes => run::print_notes,
        }
    }
}

/// Some parts of the page as rows with their inks, for a screen. No row is wider than the style's
/// width. Parts that have nothing to say give no row.
#[must_use]
pub fn rows(summary: &Summary, parts: &[Part], style: &Style) -> Vec<Line> {
    let mut page = Page::new(style, Explain::No);
    fill(summary, parts, &mut page);
    page.into_rows()
}

/// The whole page.
fn print(summary: &Summary, mut page: Page<'_>) -> String {
    fill(summary, &Part::ALL, &mut page);
    let mut text = page.finish();
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}

/// Appends parts, each behind an empty line.
fn fill(summary: &Summary, parts: &[Part], page: &mut Page<'_>) {
    for part in parts {
        page.gap();
        part.printer()(summary, page);
    }
}

/// The requests whose end was not seen, by the reason for that, as a count with its word. Their
/// times are lower bounds, which the notes under distributions say.
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
pub(crate) fn foreign(text: &str, unicode: Unicode) -> String {
    Untrusted::new(&secret::setting("", text)).escaped_up_to(FOREIGN_MAX, unicode)
}

/// A number of things, dim where there are none, so that zeros do not draw the eye.
fn tally(text: String, n: u64, ink: Ink) -> Line {
    Line::of(text, if n == 0 { Ink::Dim } else { ink })
}
