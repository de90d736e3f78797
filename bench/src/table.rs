//! Measurements and their targets, as Markdown.

use std::fmt;

/// The target of a figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Target {
    /// At most this value.
    AtMost(f64),
    /// At least this value.
    AtLeast(f64),
    /// Exactly this value.
    Exactly(f64),
}

impl Target {
    /// Whether a figure reaches the target.
    #[must_use]
    pub fn is_met(self, figure: f64) -> bool {
        match self {
            Self::AtMost(limit) => figure <= limit,
            Self::AtLeast(limit) => figure >= limit,
            Self::Exactly(value) => figure == value,
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtMost(limit) => write!(f, "≤ {limit}"),
            Self::AtLeast(limit) => write!(f, "≥ {limit}"),
            Self::Exactly(value) => write!(f, "= {value}"),
        }
    }
}

/// The median of some figures, and their range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// The median.
    pub median: f64,
    /// The minimum.
    pub min: f64,
    /// The maximum.
    pub max: f64,
}

impl Spread {
    /// The spread of at least one figure; all NaN without figures.
    #[must_use]
    pub fn from_values(figures: impl IntoIterator<Item = f64>) -> Self {
        let mut sorted: Vec<f64> = figures.into_iter().collect();
        sorted.sort_by(f64::total_cmp);
        let at = |index: usize| sorted.get(index).copied().unwrap_or(f64::NAN);
        let last = sorted.len().saturating_sub(1);
        Self {
            median: f64::midpoint(at(last / 2), at(sorted.len() / 2)),
            min: at(0),
            max: at(last),
        }
    }

    /// The range in brackets; empty if the figures are equal.
    #[must_use]
    pub fn ends(&self) -> String {
        if self.min == self.max {
            return String::new();
        }
        format!("({:.2}–{:.2})", self.min, self.max)
    }
}

/// One line of a table.
#[derive(Clone, Debug)]
pub enum Line {
    /// A tool's cost, compared with drumfire's in the same round.
    Comparison(Comparison),
    /// A figure of drumfire alone, or of another tool for comparison.
    Figure(Figure),
    /// A failed measurement, and the reason.
    Absent {
        /// The measurement.
        what: String,
        /// The reason.
        why: String,
    },
}

/// A tool's cost, compared with drumfire's in the same round.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The load, and its server.
    pub case: String,
    /// The client.
    pub tool: &'static str,
    /// Requests per second.
    pub rate: Spread,
    /// The client's cost with its unit.
    pub cost: String,
    /// The share of `cost` in user space, as the kernel samples it.
    pub user_share: f64,
    /// The server's CPU time per request, in microseconds.
    pub server_micros: f64,
    /// drumfire's figure divided by this tool's, round by round; `None` for drumfire itself.
    pub ratio: Option<Spread>,
    /// The target of the ratio.
    pub target: Option<Target>,
    /// The number of responses that the tool did not count as good, over all rounds.
    pub failed: u64,
}

/// A figure with a unit.
#[derive(Clone, Debug)]
pub struct Figure {
    /// The name of the measured value.
    pub what: String,
    /// The figure.
    pub value: f64,
    /// The unit, with any additional information.
    pub unit: String,
    /// The target.
    pub target: Option<Target>,
}

impl Line {
    /// The line for a program other than the measured one, without a target.
    #[must_use]
    pub fn under(mut self, program: &str) -> Self {
        let (what, target) = match &mut self {
            Self::Comparison(line) => (&mut line.case, Some(&mut line.target)),
            Self::Figure(line) => (&mut line.what, Some(&mut line.target)),
            Self::Absent { what, .. } => (what, None),
        };
        what.insert_str(0, &format!("{program}: "));
        if let Some(target) = target {
            *target = None;
        }
        self
    }
}

/// A line for the terminal.
impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Comparison(line) => {
                let Comparison {
                    case,
                    tool,
                    cost,
                    rate,
                    ..
                } = line;
                write!(f, "{case}: {tool} {cost}, {:.0}/s", rate.median)?;
                let ratio = line.ratio.map(|spread| spread.median);
                if let Some(ratio) = line.ratio {
                    let Spread { median, min, max } = ratio;
                    write!(f, "; drumfire ÷ {tool} {median:.3} ({min:.3}–{max:.3})")?;
                }
                if line.failed > 0 {
                    write!(f, "; {} FAILED", line.failed)?;
                }
                write!(f, "{}", verdict(ratio, line.target, "; "))
            }
            Self::Figure(line) => {
                let Figure {
                    what, value, unit, ..
                } = line;
                write!(f, "{what}: {} {unit}", rounded(*value))?;
                write!(f, "{}", verdict(Some(*value), line.target, "; "))
            }
            Self::Absent { what, why } => write!(f, "{what}: {why}"),
        }
    }
}

/// All lines as two tables, comparisons and figures; each begins with an empty line.
#[must_use]
pub fn markdown(lines: &[Line]) -> String {
    let mut comparisons = String::new();
    let mut figures = String::new();
    for line in lines {
        match line {
            Line::Comparison(line) => comparisons.push_str(&comparison_cells(line)),
            Line::Figure(line) => {
                let Figure {
                    what,
                    value,
                    unit,
                    target,
                } = line;
                let wanted = target.map_or_else(String::new, |t| t.to_string());
                let verdict = verdict(Some(*value), *target, "");
                let value = rounded(*value);
                figures.push_str(&format!(
                    "| {what} | {value} {unit} | {wanted} | {verdict} |\n"
                ));
            }
            Line::Absent { what, why } => figures.push_str(&format!("| {what} | {why} | | |\n")),
        }
    }
    let mut text = String::new();
    if !comparisons.is_empty() {
        text.push_str(COMPARISONS);
        text.push_str(&comparisons);
    }
    if !figures.is_empty() {
        text.push_str(FIGURES);
        text.push_str(&figures);
    }
    text
}

/// The headers of both tables.
const COMPARISONS: &str = "\n| case | tool | requests/s | client CPU | in user space \
     | server CPU/request | drumfire ÷ tool (min–max) | target | |\n\
     |---|---|---|---|---|---|---|---|---|\n";
const FIGURES: &str = "\n| what | figure | target | |\n|---|---|---|---|\n";

fn comparison_cells(line: &Comparison) -> String {
    let ratio = line.ratio.map_or_else(String::new, |ratio| {
        format!("{:.3} ({:.3}–{:.3})", ratio.median, ratio.min, ratio.max)
    });
    let failed = if line.failed == 0 {
        String::new()
    } else {
        format!(" ({} failed)", line.failed)
    };
    let target = line.target.map_or_else(String::new, |t| t.to_string());
    let verdict = verdict(line.ratio.map(|ratio| ratio.median), line.target, "");
    format!(
        "| {} | {} | {:.0}{failed} | {} | {:.0} % | {:.2} µs | {ratio} | {target} | {verdict} |\n",
        line.case,
        line.tool,
        line.rate.median,
        line.cost,
        100.0 * line.user_share,
        line.server_micros,
    )
}

/// `pass` or `MISS` if there is a target.
fn verdict(figure: Option<f64>, target: Option<Target>, before: &str) -> String {
    match (figure, target) {
        (Some(figure), Some(target)) if target.is_met(figure) => format!("{before}pass"),
        (Some(_), Some(target)) if before.is_empty() => {
            let _shown_beside = target;
            "**miss**".to_owned()
        }
        (Some(_), Some(target)) => format!("{before}MISS ({target})"),
        _ => String::new(),
    }
}

/// A number with a useful number of decimals.
fn rounded(value: f64) -> String {
    match value.abs() {
        v if v >= 1000.0 || v == v.trunc() => format!("{value:.0}"),
        v if v >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{Figure, Line, Spread, Target, markdown};

    #[test]
    fn the_median_is_the_middle_or_between_the_two_middles() {
        let of = |figures: &[f64]| Spread::from_values(figures.iter().copied());
        let spread = |median, min, max| Spread { median, min, max };
        assert_eq!(of(&[3.0, 1.0, 2.0]), spread(2.0, 1.0, 3.0));
        assert_eq!(of(&[4.0, 1.0, 2.0, 3.0]), spread(2.5, 1.0, 4.0));
        assert!(of(&[]).median.is_nan());
    }

    #[test]
    fn a_missed_target_is_told() {
        let table = |value| {
            let line = Figure {
                what: "calls".to_owned(),
                value,
                unit: "per request".to_owned(),
                target: Some(Target::AtMost(2.1)),
            };
            markdown(&[Line::Figure(line)])
        };
        assert!(table(2.05).ends_with("| calls | 2.05 per request | ≤ 2.1 | pass |\n"));
        assert!(table(2.2).ends_with("| ≤ 2.1 | **miss** |\n"));
    }

    #[test]
    fn another_programs_figure_has_its_name_and_no_target() {
        let line = Line::Figure(Figure {
            what: "calls".to_owned(),
            value: 2.2,
            unit: "per request".to_owned(),
            target: Some(Target::AtMost(2.1)),
        });
        let table = markdown(&[line.under("older")]);
        assert!(table.ends_with("| older: calls | 2.20 per request |  |  |\n"));
    }
}
