//! The report in sections. Each section is built once, and every printer prints it.
//!
//! A [`Section`] has a title, an explanation and bodies: tables of typed cells ([`crate::grid`]),
//! facts, or texts. [`RunSection`] lists the sections of a run, and its functions build them from a
//! summary. Comparisons, histories, capacities and lists of runs are made of the same bodies.
//!
//! The printers are [`crate::text`] (for terminals and the screen), [`crate::html`] and
//! [`crate::markdown`]. A printer decides only about places, widths, letters and colours. A new
//! table of a run is a function and a row in [`RunSection`]; a new column is two lines in the function of
//! its table.

mod asked;
pub(crate) mod connections;
mod distribution;
mod drift;
pub(crate) mod failures;
mod iterations;
mod latency;
mod load;
mod messages;
mod pools;
mod requests;
mod responses;
mod slowest;
mod stages;
pub(crate) mod steps;
mod tokens;
mod transport;
pub(crate) mod verdict;

use crate::grid::{Cell, Column, Grid, Row};
use crate::line::Ink;
use crate::quantity::count;
use crate::remedy::Naming;
use drumfire_measure::{Histogram, Outcome, Summary};

/// A part of a report that has its own heading.
pub(crate) struct Section {
    /// The name of the section: its id on a page, which no other part of the page has.
    pub(crate) id: &'static str,
    /// The heading.
    pub(crate) title: &'static str,
    /// How to read the section; empty if the title suffices.
    pub(crate) explanation: String,
    /// Sentences that qualify the numbers. Every printer prints them, below the bodies.
    pub(crate) remarks: Vec<String>,
    /// The content; at least one body.
    pub(crate) bodies: Vec<Body>,
}

/// A part of the content of a section.
pub(crate) enum Body {
    /// A table with headings.
    Table(Grid),
    /// A short table with a label. A terminal prints no headings.
    List(&'static str, Grid),
    /// Facts with a label.
    Facts(Facts),
    /// A text of several lines with its name. Both are escaped.
    Text(String, Vec<String>),
}

impl Body {
    /// Whether there is nothing to print.
    const fn is_empty(&self) -> bool {
        match self {
            Self::Table(grid) | Self::List(_, grid) => grid.rows.is_empty(),
            Self::Facts(facts) => facts.items.is_empty(),
            Self::Text(_, lines) => lines.is_empty(),
        }
    }
}

/// Facts with a label, which may be empty.
pub(crate) struct Facts {
    pub(crate) label: &'static str,
    pub(crate) items: Vec<Cell>,
    pub(crate) form: Form,
}

/// The place of facts in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Short items, as many on a line as it has room for.
    Items,
    /// Sentences, each on new lines.
    Lines,
    /// Sentences after bullets. The ink of an item is the ink of its bullet.
    Bullets,
}

impl Facts {
    /// Short items.
    pub(crate) const fn items(label: &'static str, items: Vec<Cell>) -> Self {
        let form = Form::Items;
        Self { label, items, form }
    }

    /// Sentences.
    pub(crate) const fn lines(label: &'static str, items: Vec<Cell>) -> Self {
        let form = Form::Lines;
        Self { label, items, form }
    }

    /// Sentences after bullets of these inks.
    pub(crate) fn bullets(label: &'static str, items: Vec<(Ink, Cell)>) -> Self {
        let items = items.into_iter().map(|(ink, item)| item.inked(ink));
        Self {
            label,
            items: items.collect(),
            form: Form::Bullets,
        }
    }
}

impl Section {
    /// A section without remarks; `None` if all bodies are empty.
    pub(crate) fn new(
        id: &'static str,
        title: &'static str,
        explanation: impl Into<String>,
        mut bodies: Vec<Body>,
    ) -> Option<Self> {
        bodies.retain(|body| !body.is_empty());
        (!bodies.is_empty()).then(|| Self {
            id,
            title,
            explanation: explanation.into(),
            remarks: Vec::new(),
            bodies,
        })
    }

    /// A section with a table; `None` if the table has no rows.
    pub(crate) fn table(
        id: &'static str,
        title: &'static str,
        grid: Grid,
        explanation: impl Into<String>,
    ) -> Option<Self> {
        Self::new(id, title, explanation, vec![Body::Table(grid)])
    }

    /// The section with remarks.
    pub(crate) fn remarked(self, remarks: impl IntoIterator<Item = String>) -> Self {
        Self {
            remarks: remarks.into_iter().collect(),
            ..self
        }
    }
}

/// The quantiles of tables: the heading, the quantile, and the order in which the column gives way.
const QUANTILES: [(&str, f64, u8); 4] = [
    ("p50", 0.5, 4),
    ("p90", 0.9, 6),
    ("p99", 0.99, 0),
    ("p99.9", 0.999, 7),
];

/// The quantiles of one table: p50, p90, p99, and p99.9 if the number of samples supports it in any
/// row; then the maximum.
struct Quantiles(Vec<(&'static str, f64, u8)>);

impl Quantiles {
    /// The quantiles of a table with these rows.
    fn for_rows<'a>(rows: impl IntoIterator<Item = &'a Histogram>) -> Self {
        let mut rows = rows.into_iter();
        let has_all = rows.any(|times| times.quantile(0.999).is_some());
        let shown = QUANTILES.into_iter();
        let shown = shown.filter(|(_, q, _)| *q < 0.999 || has_all);
        Self(shown.chain([("max", 1.0, 5)]).collect())
    }

    /// The columns.
    fn columns(&self) -> impl Iterator<Item = Column> {
        let columns = self.0.iter();
        columns.map(|(heading, _, dispensable)| Column::numbers(heading, *dispensable))
    }

    /// The cells of a row.
    fn cells(&self, times: &Histogram) -> impl Iterator<Item = Cell> {
        self.0.iter().map(|(_, q, _)| Cell::quantile(times, *q))
    }
}

/// The requests whose end is unknown, by the reason, as a count with its word. Their times are lower
/// bounds.
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

/// The space that a reader has, and the reader's names of settings.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PageExtent {
    /// The maximum number of rows of a table.
    pub(crate) rows: usize,
    /// The maximum number of messages of one kind of failure.
    pub(crate) messages: usize,
    /// The maximum number of characters of a first body in a row; 0 if no row has one.
    pub(crate) example: usize,
    /// The width of the rows of a body, in columns.
    pub(crate) body: usize,
    /// The maximum number of columns of a spark.
    pub(crate) spark: usize,
    /// Whether the reader asked for more than the most important facts.
    pub(crate) is_full: bool,
    /// The way in which remedies name settings.
    pub(crate) naming: Naming,
}

impl PageExtent {
    /// A terminal.
    pub(crate) const fn terminal(naming: Naming, is_full: bool) -> Self {
        Self {
            rows: 20,
            messages: 3,
            // Full reports have the bodies below the table.
            example: if is_full { 0 } else { 100 },
            body: usize::MAX,
            spark: 24,
            is_full,
            naming,
        }
    }

    /// A page.
    pub(crate) const fn page(naming: Naming) -> Self {
        Self {
            rows: 60,
            messages: 60,
            example: 0,
            body: usize::MAX,
            spark: 60,
            is_full: true,
            naming,
        }
    }

    /// A comment in Markdown. GitHub refuses a comment that is too long.
    pub(crate) const fn comment(naming: Naming) -> Self {
        Self {
            messages: 20,
            example: 200,
            ..Self::terminal(naming, false)
        }
    }
}

/// A section of the report on a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunSection {
    /// The three answers, their reasons, and the thresholds.
    Verdict,
    /// The figures that changed over the run.
    Drift,
    /// The plan in a few words.
    Load,
    /// The counts of requests, and their rate.
    Requests,
    /// The tokens of answers, their speed and goodput.
    Tokens,
    /// The quantiles of the latency.
    Latency,
    /// The distribution of the latency.
    Distribution,
    /// The table of pools.
    Pools,
    /// The iterations of pools.
    Iterations,
    /// The table of the load's stages.
    Stages,
    /// The table of scenarios.
    Scenarios,
    /// The table of steps.
    Steps,
    /// The times of messages by step.
    Messages,
    /// The answers of language models by step.
    Answers,
    /// The slowest requests.
    Slowest,
    /// The statuses of responses.
    Status,
    /// The failures by outcome, with their messages.
    Errors,
    /// The leniencies that responses were granted.
    Forgiven,
    /// The addresses that connections were opened to.
    Addresses,
    /// Bytes, connections and the generator.
    Transport,
    /// The notes that qualify the numbers.
    Notes,
}

impl RunSection {
    /// Every section in the order of the report.
    pub(crate) const ALL: [Self; 21] = [
        Self::Verdict,
        Self::Drift,
        Self::Load,
        Self::Requests,
        Self::Tokens,
        Self::Latency,
        Self::Distribution,
        Self::Pools,
        Self::Iterations,
        Self::Stages,
        Self::Scenarios,
        Self::Steps,
        Self::Messages,
        Self::Answers,
        Self::Slowest,
        Self::Status,
        Self::Errors,
        Self::Forgiven,
        Self::Addresses,
        Self::Transport,
        Self::Notes,
    ];

    /// The section of a run; `None` if the run has nothing to show in it.
    pub(crate) fn section(self, summary: &Summary, extent: &PageExtent) -> Option<Section> {
        let build = match self {
            Self::Verdict => verdict::section,
            Self::Drift => drift::section,
            Self::Load => load::section,
            Self::Requests => requests::section,
            Self::Tokens => tokens::section,
            Self::Latency => latency::section,
            Self::Distribution => distribution::section,
            Self::Pools => pools::section,
            Self::Iterations => iterations::of_pools,
            Self::Stages => stages::section,
            Self::Scenarios => iterations::of_scenarios,
            Self::Steps => steps::section,
            Self::Messages => messages::section,
            Self::Answers => tokens::of_steps,
            Self::Slowest => slowest::section,
            Self::Status => responses::statuses,
            Self::Errors => failures::section,
            Self::Forgiven => responses::leniencies,
            Self::Addresses => connections::addresses,
            Self::Transport => transport::section,
            Self::Notes => transport::notes,
        };
        build(summary, extent)
    }
}
