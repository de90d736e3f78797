//! The views of a screen: their texts and their pictures.
//!
//! A view is a name, a key, a list of texts and a list of pictures, without state between frames. A
//! new view is a variant with a row in each method; the compiler reports the missing ones.

use crate::moment::Moment;
use crate::tile::Tile;
use drumfire_measure::{Summary, Validity};
use drumfire_report::line::{Ink, Line};
use drumfire_report::screen;
use drumfire_report::style::Style;
use drumfire_report::text::{RunSection, rows};

/// A view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum View {
    /// The whole run at a glance.
    #[default]
    Overview,
    /// The latency over time, as a distribution and over the rate.
    Latency,
    /// The table of pools and steps.
    Steps,
    /// The failures by outcome.
    Errors,
    /// The connections by address.
    Connections,
    /// The generator's own health.
    Generator,
}

impl View {
    /// Every view, in the order of their keys.
    pub(crate) const ALL: [Self; 6] = [
        Self::Overview,
        Self::Latency,
        Self::Steps,
        Self::Errors,
        Self::Connections,
        Self::Generator,
    ];

    /// The name in the tabs.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Overview => "overview",
            Self::Latency => "latency",
            Self::Steps => "steps",
            Self::Errors => "errors",
            Self::Connections => "connections",
            Self::Generator => "generator",
        }
    }

    /// The position among all views.
    pub(crate) fn number(self) -> usize {
        Self::ALL.iter().position(|view| *view == self).unwrap_or(0)
    }

    /// The view `by` positions further, wrapping around; back if `by` is negative.
    pub(crate) fn moved(self, by: isize) -> Self {
        let of = Self::ALL.len() as isize;
        let at = (self.number() as isize + by).rem_euclid(of);
        Self::ALL[at as usize]
    }

    /// The names of the view's pictures, the most important first. They follow its rows of text.
    pub(crate) const fn pictures(self) -> &'static [&'static str] {
        match self {
            Self::Overview => &["rate", "latency", "heat", "outcomes", "tail", "in-flight"],
            Self::Latency => &[
                "ttft", "gaps", "heat", "latency", "tail", "knee", "tpot", "prompts",
            ],
            Self::Steps => &["latency", "rate"],
            Self::Errors => &["failures", "outcomes"],
            Self::Connections => &["in-flight"],
            Self::Generator => &["lag", "memory"],
        }
    }

    /// The view's texts, the most important first. Rows are formatted for `style`. The table of steps
    /// is made by the caller, which knows the selected row.
    pub(crate) fn texts(self, moment: &Moment, summary: &Summary, style: &Style) -> Vec<Tile> {
        let text = |parts: &[RunSection]| Tile::Rows(rows(summary, parts, style));
        match self {
            Self::Overview | Self::Latency => Vec::new(),
            Self::Steps => vec![text(&[
                RunSection::Pools,
                RunSection::Iterations,
                RunSection::Stages,
                RunSection::Scenarios,
                RunSection::Answers,
            ])],
            Self::Errors => vec![Tile::Rows(joined([
                rows(summary, &[RunSection::Errors], style),
                screen::examples(summary, style),
                rows(summary, &[RunSection::Status, RunSection::Forgiven], style),
            ]))],
            Self::Connections => vec![
                text(&[RunSection::Transport]),
                Tile::Rows(screen::addresses(summary, style)),
            ],
            Self::Generator => {
                let verdict = match moment.awaits_answer(summary) {
                    true => vec![moment.suspense.line(style)],
                    false => rows(summary, &[RunSection::Verdict], style),
                };
                let failures = screen::rare_failures(summary, style);
                let lag = vec![screen::generator(summary, moment.newest(), style)];
                vec![Tile::Rows(joined([
                    verdict.into_iter().chain(failures).collect(),
                    lag,
                    rows(summary, &[RunSection::Transport, RunSection::Notes], style),
                ]))]
            }
        }
    }

    /// The sections that may follow the bars of this view if there is room, the most important
    /// first.
    pub(crate) const fn companions(self) -> &'static [RunSection] {
        match self {
            Self::Overview => &[
                RunSection::Latency,
                RunSection::Tokens,
                RunSection::Status,
                RunSection::Errors,
                RunSection::Transport,
            ],
            Self::Errors => &[RunSection::Latency],
            Self::Latency | Self::Steps | Self::Connections | Self::Generator => &[],
        }
    }

    /// Whether the view has news: failures, or doubts about the run and rules that do not hold.
    pub(crate) fn news(self, summary: &Summary) -> Option<News> {
        match self {
            Self::Errors => match summary.total.counts.failed {
                0 => None,
                failed => Some(News {
                    count: Some(failed),
                    ink: Ink::Bad,
                }),
            },
            Self::Generator => {
                let mut thresholds = summary.thresholds.iter();
                let fails = thresholds.any(|of| !of.passed && of.actual.is_some());
                let ink = match (fails, summary.verdict.validity) {
                    (true, _) | (_, Validity::Invalid) => Ink::Bad,
                    (false, Validity::Suspect) => Ink::Warn,
                    (false, Validity::Valid) => return None,
                };
                Some(News { count: None, ink })
            }
            Self::Overview | Self::Latency | Self::Steps | Self::Connections => None,
        }
    }

    /// The maximum number of pictures at this width; more than four are for wide screens.
    pub(crate) const fn most(self, width: u16) -> usize {
        match width {
            180.. => 6,
            _ => 4,
        }
    }

    /// The minimum width of a picture. Below text, pictures are wider than in a view of pictures.
    pub(crate) const fn picture_width(self) -> u16 {
        match self {
            Self::Overview | Self::Latency => 38,
            Self::Steps | Self::Errors | Self::Connections | Self::Generator => 60,
        }
    }
}

/// Something in a view that its reader may not have seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct News {
    /// The number of its events, if they are counted.
    pub(crate) count: Option<u64>,
    /// How serious it is.
    pub(crate) ink: Ink,
}

/// Parts of a text with an empty row between them; empty parts are left out.
fn joined<const N: usize>(parts: [Vec<Line>; N]) -> Vec<Line> {
    let mut all = Vec::new();
    for part in parts {
        if !all.is_empty() && !part.is_empty() {
            all.push(Line::default());
        }
        all.extend(part);
    }
    all
}
