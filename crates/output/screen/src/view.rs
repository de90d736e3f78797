//! The views of a screen, and their tiles.
//!
//! A view is a name, a key and a list of tiles, without state between frames. A new view is a
//! variant with a row in each method; the compiler reports the missing ones.

use crate::tile::Tile;
use drumfire_measure::Summary;
use drumfire_report::line::Line;
use drumfire_report::screen::{self, Order};
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
            Self::Latency => &["heat", "latency", "tail", "knee"],
            Self::Steps => &["latency"],
            Self::Errors => &["outcomes"],
            Self::Connections => &["in-flight"],
            Self::Generator => &["lag", "memory"],
        }
    }

    /// The view's tiles, the most important first. Rows of text are formatted for `style`, whose
    /// width is the width of a tile. The table of steps has this order, and only the steps whose
    /// names contain the filter.
    pub(crate) fn tiles(
        self,
        summary: &Summary,
        (order, filter): (Order, &str),
        style: &Style,
    ) -> Vec<Tile> {
        let text = |parts: &[RunSection]| Tile::Rows(rows(summary, parts, style));
        let mut tiles = match self {
            Self::Overview | Self::Latency => Vec::new(),
            Self::Steps => {
                let table = screen::steps(summary, order, filter, style);
                let groups = text(&[
                    RunSection::Pools,
                    RunSection::Iterations,
                    RunSection::Stages,
                    RunSection::Scenarios,
                ]);
                vec![Tile::Table(table), groups]
            }
            Self::Errors => {
                let mut all = rows(summary, &[RunSection::Errors], style);
                for more in [
                    screen::examples(summary, style),
                    rows(summary, &[RunSection::Status, RunSection::Forgiven], style),
                ] {
                    if !all.is_empty() && !more.is_empty() {
                        all.push(Line::default());
                    }
                    all.extend(more);
                }
                vec![Tile::Rows(all)]
            }
            Self::Connections => vec![
                text(&[RunSection::Transport]),
                Tile::Rows(screen::addresses(summary, style)),
            ],
            Self::Generator => vec![text(&[
                RunSection::Verdict,
                RunSection::Transport,
                RunSection::Notes,
            ])],
        };
        tiles.extend(self.pictures().iter().map(|name| Tile::Figure(name)));
        tiles
    }

    /// The maximum number of tiles at this width; more than four are for wide screens.
    pub(crate) const fn most(self, width: u16) -> usize {
        match width {
            180.. => 6,
            _ => 4,
        }
    }

    /// The minimum width of a tile. Text needs more width than a picture.
    pub(crate) const fn tile_width(self) -> u16 {
        match self {
            Self::Overview | Self::Latency => 38,
            Self::Steps | Self::Errors | Self::Connections | Self::Generator => 76,
        }
    }
}
