//! The summary at the end of a run: text, and the objects that scripts and files receive.
//!
//! The text has the columns, the units and the colours of k6 v2.2. Numbers are not rounded but cut, as k6
//! does. Start reading at [`Summary`].

mod export;
mod layout;
mod number;
mod order;
mod sections;
mod stat;
mod style;

use crate::metric::Sink;
use crate::metrics::{Metric, Part, Registry};
use crate::threshold::{Method, Selection, Threshold};

pub(crate) use export::time;
pub use export::{Origin, Output, Surroundings};
pub use number::TimeUnit;
pub(crate) use number::{json_number, shortest};
pub(crate) use order::by_name;
pub use stat::TrendStat;
pub use style::Colors;

use layout::Block;
use number::Unit;
use style::SummaryInk;

/// How much of a run the text shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Only the run, without the phases of requests.
    #[default]
    Compact,
    /// The phases of requests, and each group and scenario.
    Full,
}

/// The results of a run with the way in which they are shown.
#[derive(Clone, Copy, Debug)]
pub struct Summary<'a> {
    /// The metrics.
    pub registry: &'a Registry,
    /// Seconds from the start of the first scenario to the end of the last.
    pub seconds: f64,
    /// What is shown of trends.
    pub stats: &'a [TrendStat],
    /// The unit of times. `None` means: a unit that fits the value.
    pub unit: Option<TimeUnit>,
    /// How much is shown.
    pub mode: Mode,
    /// Colours, for a terminal.
    pub colors: Colors,
}

impl Summary<'_> {
    /// The text.
    #[must_use]
    pub fn text(&self) -> String {
        let mut out = "\n\n".to_owned();
        self.thresholds(&mut out);
        self.heading(&mut out, "", "█", "TOTAL RESULTS");
        let run = self.registry.run();
        self.checks(&mut out, "    ", &run.checks);
        self.total_metrics().write(&mut out, "    ", self.colors);
        out.push('\n');
        if self.mode == Mode::Full {
            self.sections(&mut out);
        }
        out.push('\n');
        out
    }

    /// The metrics of the run with the parts that thresholds select.
    fn total_metrics(&self) -> Block {
        let mut block = Block::default();
        let mut metrics: Vec<&Metric> = self.registry.metrics().collect();
        metrics.sort_by(|one, other| by_name(&one.name, &other.name));
        for metric in metrics {
            let unit = Unit::of(metric.kind, metric.contains, self.unit);
            let Some(section) = layout::section(&metric.name, self.mode) else {
                continue;
            };
            let mut rows = Vec::new();
            if metric.total.is_shown {
                rows.push(layout::Row::new(
                    &metric.name,
                    self.cells(&metric.total.sink, unit),
                ));
            }
            for (selection, part) in self.parts(metric) {
                let name = format!("  {{ {} }}", suffix(selection));
                rows.push(layout::Row::new(&name, self.cells(&part.sink, unit)));
            }
            block.add(section, rows);
        }
        block
    }

    /// The parts that are shown, in the order of their names.
    fn parts<'m>(&self, metric: &'m Metric) -> Vec<&'m (Selection, Part)> {
        let mut parts: Vec<_> = metric
            .parts
            .iter()
            .filter(|(_, part)| part.is_shown)
            .collect();
        parts.sort_by(|one, other| by_name(&suffix(&one.0), &suffix(&other.0)));
        parts
    }

    fn cells(&self, sink: &Sink, unit: Unit) -> layout::Cells {
        layout::Cells::new(sink, unit, self.seconds, self.stats)
    }

    fn heading(&self, out: &mut String, indent: &str, mark: &str, name: &str) {
        let name = self.colors.paint(SummaryInk::Bold, name);
        out.push_str(&format!("  {indent}{mark} {name} \n\n"));
    }

    /// The thresholds and whether they hold.
    fn thresholds(&self, out: &mut String) {
        let mut metrics: Vec<&Metric> = self.registry.metrics().collect();
        metrics.sort_by(|one, other| by_name(&one.name, &other.name));
        let mut text = String::new();
        for metric in metrics {
            let is_parent = !metric.total.rules.is_empty();
            let unit = Unit::of(metric.kind, metric.contains, self.unit);
            if is_parent {
                text.push_str(&format!("    {}\n", metric.name));
                self.rules(&mut text, "    ", &metric.total, unit);
            }
            let judged = |part: &Part| !part.rules.is_empty();
            for (selection, part) in self.parts(metric) {
                if !judged(part) {
                    continue;
                }
                let (indent, name) = if is_parent {
                    ("      ", format!("{{{}}}", suffix(selection)))
                } else {
                    ("    ", selection.to_string())
                };
                text.push_str(&format!("{indent}{name}\n"));
                self.rules(&mut text, indent, part, unit);
            }
        }
        if !text.is_empty() {
            self.heading(out, "", "█", "THRESHOLDS");
            out.push_str(&text);
            out.push('\n');
        }
    }

    fn rules(&self, out: &mut String, indent: &str, part: &Part, unit: Unit) {
        for rule in &part.rules {
            let threshold = &rule.threshold;
            let mark = self
                .colors
                .mark(threshold.holds(&part.sink, self.seconds), "");
            let text = self
                .colors
                .paint(SummaryInk::Plain, &format!("'{}'", threshold.text));
            let name = self.colors.paint(SummaryInk::Plain, &method(threshold));
            let value = threshold.actual(&part.sink, self.seconds).unwrap_or(0.0);
            let value = match threshold.method {
                Method::Rate if matches!(part.sink, Sink::Counter(_)) => {
                    format!("{}/s", unit.text(value))
                }
                Method::Rate => number::percent(value),
                _ => unit.text(value),
            };
            let value = self.colors.paint(SummaryInk::Value, &value);
            out.push_str(&format!("{indent}{mark} {text} {name}={value}\n"));
        }
        out.push('\n');
    }
}

/// Whether the text shows a metric.
pub(crate) fn is_shown(name: &str, mode: Mode) -> bool {
    layout::section(name, mode).is_some()
}

/// What a threshold compares, as thresholds write it.
fn method(threshold: &Threshold) -> String {
    match threshold.method {
        Method::Count => "count".to_owned(),
        Method::Rate => "rate".to_owned(),
        Method::Value => "value".to_owned(),
        Method::Avg => "avg".to_owned(),
        Method::Min => "min".to_owned(),
        Method::Max => "max".to_owned(),
        Method::Med => "med".to_owned(),
        Method::Percentile(percent) => format!("p({percent})"),
    }
}

/// The tags of a selection, as thresholds write them.
pub(crate) fn suffix(selection: &Selection) -> String {
    let tags: Vec<String> = selection
        .tags
        .iter()
        .map(|(name, value)| format!("{name}:{value}"))
        .collect();
    tags.join(",")
}

#[cfg(test)]
mod tests;
