//! Lines of metrics: names with dots, and columns of values.

use std::collections::BTreeMap;

use super::number::Unit;
use super::style::{Colors, SummaryInk};
use super::{Mode, TrendStat};
use crate::metric::Sink;

/// The sections of a block, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Section {
    Custom,
    Http,
    Execution,
    Network,
    Browser,
    WebVitals,
    Grpc,
    WebSocket,
}

/// How names begin, with their section. The first that fits counts.
const SECTIONS: [(&str, Section); 18] = [
    ("http_reqs", Section::Http),
    ("http_req_blocked", Section::Http),
    ("http_req_connecting", Section::Http),
    ("http_req_duration", Section::Http),
    ("http_req_failed", Section::Http),
    ("http_req_receiving", Section::Http),
    ("http_req_sending", Section::Http),
    ("http_req_tls_handshaking", Section::Http),
    ("http_req_waiting", Section::Http),
    ("dropped_iterations", Section::Execution),
    ("iteration_duration", Section::Execution),
    ("iterations", Section::Execution),
    ("vus", Section::Execution),
    ("data_received", Section::Network),
    ("data_sent", Section::Network),
    ("browser_web_vital_", Section::WebVitals),
    ("browser_", Section::Browser),
    ("grpc_", Section::Grpc),
];

/// Phases of requests, which a compact summary leaves out.
const PHASES: [&str; 6] = [
    "http_req_blocked",
    "http_req_connecting",
    "http_req_receiving",
    "http_req_sending",
    "http_req_tls_handshaking",
    "http_req_waiting",
];

/// The section of a metric. `None` means: the metric is not shown, because checks and groups have lines of
/// their own, or because the summary is compact.
pub(super) fn section(name: &str, mode: Mode) -> Option<Section> {
    if name.starts_with("checks") || name.starts_with("group_duration") {
        return None;
    }
    if mode == Mode::Compact && PHASES.contains(&name) {
        return None;
    }
    let known = SECTIONS.iter().find(|(start, _)| name.starts_with(start));
    Some(match known {
        Some((_, section)) => *section,
        None if name.starts_with("ws_") => Section::WebSocket,
        None => Section::Custom,
    })
}

impl Section {
    fn title(self) -> &'static str {
        match self {
            Self::Custom => "CUSTOM",
            Self::Http => "HTTP",
            Self::Execution => "EXECUTION",
            Self::Network => "NETWORK",
            Self::Browser => "BROWSER",
            Self::WebVitals => "WEB_VITALS",
            Self::Grpc => "GRPC",
            Self::WebSocket => "WEBSOCKET",
        }
    }
}

/// The cells of a line.
pub(super) enum Cells {
    /// Names with values, each in a column.
    Trend(Vec<(String, String)>),
    /// A value, and what explains it.
    Value { value: String, extras: Vec<String> },
}

impl Cells {
    pub(super) fn new(sink: &Sink, unit: Unit, seconds: f64, stats: &[TrendStat]) -> Self {
        let (value, extras) = match sink {
            Sink::Counter(sum) => {
                let rate = if seconds > 0.0 { sum / seconds } else { 0.0 };
                (unit.text(*sum), vec![format!("{}/s", unit.text(rate))])
            }
            Sink::Gauge { last, min, max, .. } => {
                let bounds = [("min", min), ("max", max)];
                let bounds = bounds.map(|(name, bound)| format!("{name}={}", unit.text(*bound)));
                (unit.text(*last), bounds.to_vec())
            }
            Sink::Rate { passes, total } => {
                let share = share(*passes, *total);
                (unit.text(share), vec![format!("{passes} out of {total}")])
            }
            Sink::Trend(values) => {
                let cells = stats.iter().map(|stat| {
                    let unit = if stat.is_count() { Unit::Plain } else { unit };
                    (stat.to_string(), unit.text(stat.value(values)))
                });
                return Self::Trend(cells.collect());
            }
        };
        Self::Value { value, extras }
    }
}

/// A share; 0 of 0 is 0.
pub(super) fn share(part: u64, total: u64) -> f64 {
    if total == 0 {
        0.0
    } else {
        part as f64 / total as f64
    }
}

/// A line.
pub(super) struct Row {
    name: String,
    cells: Cells,
}

impl Row {
    pub(super) fn new(name: &str, cells: Cells) -> Self {
        Self {
            name: name.to_owned(),
            cells,
        }
    }
}

/// Lines that share their columns.
#[derive(Default)]
pub(super) struct Block {
    sections: BTreeMap<Section, Vec<Row>>,
}

impl Block {
    pub(super) fn add(&mut self, section: Section, rows: Vec<Row>) {
        if !rows.is_empty() {
            self.sections.entry(section).or_default().extend(rows);
        }
    }

    /// Write each section with its title, and an empty line after it.
    pub(super) fn write(&self, out: &mut String, indent: &str, colors: Colors) {
        let widths = Widths::of(self.sections.values().flatten());
        for (section, rows) in &self.sections {
            out.push_str(&format!(
                "{indent}{}\n",
                colors.paint(SummaryInk::Bold, section.title())
            ));
            for row in rows {
                widths.write(row, out, indent, colors);
            }
            out.push('\n');
        }
    }
}

/// Widths of the columns.
#[derive(Default)]
pub(super) struct Widths {
    name: usize,
    trend: Vec<usize>,
    value: usize,
    extras: Vec<usize>,
}

impl Widths {
    pub(super) fn of<'a>(rows: impl IntoIterator<Item = &'a Row>) -> Self {
        let mut widths = Self::default();
        for row in rows {
            widths.name = widths.name.max(length(&row.name));
            match &row.cells {
                Cells::Trend(cells) => {
                    let lengths = cells.iter().map(|(_, value)| length(value));
                    widen(&mut widths.trend, lengths);
                }
                Cells::Value { value, extras } => {
                    widths.value = widths.value.max(length(value));
                    widen(&mut widths.extras, extras.iter().map(|extra| length(extra)));
                }
            }
        }
        widths
    }

    pub(super) fn write(&self, row: &Row, out: &mut String, indent: &str, colors: Colors) {
        let dots = ".".repeat(self.name + 3 - length(&row.name)) + ":";
        let mut cells = Vec::new();
        match &row.cells {
            Cells::Trend(trend) => {
                for ((name, value), width) in trend.iter().zip(&self.trend) {
                    let padded = pad(
                        colors.paint(SummaryInk::Value, value),
                        width - length(value),
                    );
                    cells.push(format!("{name}={padded}"));
                }
            }
            Cells::Value { value, extras } => {
                cells.push(pad(
                    colors.paint(SummaryInk::Value, value),
                    self.value - length(value),
                ));
                for (extra, width) in extras.iter().zip(&self.extras) {
                    let room = if extras.len() == 1 {
                        0
                    } else {
                        width - length(extra)
                    };
                    cells.push(pad(colors.paint(SummaryInk::Extra, extra), room));
                }
            }
        }
        let dots = colors.paint(SummaryInk::Dots, &dots);
        out.push_str(&format!("{indent}{}{dots} {}\n", row.name, cells.join(" ")));
    }
}

fn widen(widths: &mut Vec<usize>, lengths: impl Iterator<Item = usize>) {
    for (at, length) in lengths.enumerate() {
        if at == widths.len() {
            widths.push(0);
        }
        widths[at] = widths[at].max(length);
    }
}

fn length(text: &str) -> usize {
    text.chars().count()
}

fn pad(text: String, room: usize) -> String {
    text + &" ".repeat(room)
}
