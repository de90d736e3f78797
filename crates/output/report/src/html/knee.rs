//! The picture of a capacity: the quantile of the objective over the rate, with the objective as a
//! line, the interval of the limit as a band, and a dot for each rate that was held.

use super::chart::{self, At, Beside};
use crate::capacity::facts::{at_most, missed, most_missed, quantile_name};
use crate::capacity::rates;
use crate::figure::{Axis, Scale, Unit};
use crate::markup::Markup;
use drumfire_capacity::{Answer, Finding, KneeRow, Stage};
use drumfire_measure::Objective;

/// The desired number of ticks along the x axis: so many labels fit on a phone.
const TICKS: usize = 5;
/// The desired number of ticks along the y axis.
const TICKS_UP: usize = 6;
/// The radius of a dot, and of the dots of longer stages, in pixels.
const RADII: [f64; 2] = [4.0, 7.0];
/// The space above the highest dot, as a share of the axis.
const HEAD_ROOM: f64 = 1.06;

/// What a dot shows.
struct RoundDot {
    at: At,
    class: &'static str,
    radius: f64,
}

/// The axes, and the value of a row on the y axis.
struct Scales<'a> {
    finding: &'a Finding,
    /// The objective that bounds the rate.
    objective: &'a Objective,
    x: Axis,
    y: Axis,
}

/// Appends the picture; nothing without a rate that was held.
pub(super) fn print(out: &mut Markup, finding: &Finding) {
    let rows = finding.knee_rows();
    let Some(scales) = Scales::new(finding, &rows) else {
        return;
    };
    let name = scales.name();
    out.open("figure", &[("id", "knee"), ("class", "chart-of-rates")]);
    out.element("h2", &[], &format!("{name} by rate"));
    let question = format!("Up to which rate is {} kept?", scales.objective.expression);
    out.element("p", &[("class", "dim")], &question);
    out.open("div", &[("class", "chart")]);
    let named = ("aria-labelledby", "knee-t knee-d");
    out.open("svg", &[("role", "img"), named]);
    out.element("title", &[("id", "knee-t")], &format!("{name} by rate"));
    out.element("desc", &[("id", "knee-d")], &crate::capacity::note(finding));
    scales.print_axes(out);
    scales.print_limits(out);
    for row in &rows {
        if let Some(dot) = scales.dot(row) {
            chart::dot(out, dot.class, dot.at, dot.radius);
        }
    }
    out.close("svg");
    out.close("div");
    print_keys(out, &rows, &scales);
    out.close("figure");
}

impl<'a> Scales<'a> {
    /// The scales of these rows; `None` without rows or objectives.
    fn new(finding: &'a Finding, rows: &[&KneeRow]) -> Option<Self> {
        let objective = finding.objectives.get(finding.bounding())?;
        let highest = rows.iter().map(|row| row.rate).fold(0.0, f64::max);
        let high = match &finding.answer {
            Answer::Found(capacity) => capacity.high,
            _ => 0.0,
        };
        let x = Axis::linear("rate", Unit::PerSecond, [highest.max(high) * HEAD_ROOM]);
        let timed = objective.bound;
        let values = rows.iter().filter_map(|row| value(finding, row));
        let values: Vec<f64> = values.collect();
        let (least, most) = values
            .iter()
            .fold((f64::MAX, 0.0_f64), |(least, most), value| {
                (least.min(*value), most.max(*value))
            });
        let y = match timed {
            Some(bound) => {
                let bound = bound.0.max(1) as f64;
                let decade = |value: f64, round: fn(f64) -> f64| 10_f64.powf(round(value.log10()));
                Axis {
                    title: "",
                    unit: Unit::Time,
                    scale: Scale::Log,
                    from: decade(least.min(bound).max(1.0), f64::floor),
                    to: decade(most.max(bound) * HEAD_ROOM, f64::ceil),
                }
            }
            None => Axis::linear("", Unit::Share, [most.max(objective.share) * HEAD_ROOM]),
        };
        (!values.is_empty()).then_some(Self {
            finding,
            objective,
            x,
            y,
        })
    }

    /// What the y axis shows: the quantile of the objective, or the share beyond it if the
    /// objective has no time.
    fn name(&self) -> &'static str {
        match self.objective.bound {
            Some(_) => quantile_name(self.finding.quantile()),
            None => "Share beyond the objective",
        }
    }

    fn at(&self, rate: f64, value: f64) -> At {
        At::new(self.x.place(rate), 1.0 - self.y.place(value))
    }

    /// The dot of a row; `None` for a row without a value.
    fn dot(&self, row: &KneeRow) -> Option<RoundDot> {
        let value = value(self.finding, row)?;
        let is_missed = missed(self.finding, row, most_missed(self.finding, row)) > 1.0;
        let class = match (is_missed, is_bound(self.finding, row)) {
            (false, false) => "is-kept",
            (false, true) => "is-kept hollow",
            (true, false) => "is-missed",
            (true, true) => "is-missed hollow",
        };
        Some(RoundDot {
            at: self.at(row.rate, value),
            class,
            radius: RADII[usize::from(matches!(row.stage, Stage::Hold | Stage::Confirm))],
        })
    }

    fn print_axes(&self, out: &mut Markup) {
        let up = Beside {
            dx: -0.6,
            dy: 0.32,
            anchor: "end",
        };
        for tick in self.y.ticks(TICKS_UP) {
            let at = At::new(0.0, 1.0 - tick.place);
            chart::line(out, "rule", at, At { x: 1.0, ..at });
            chart::text(out, "soft", at, up, &tick.label);
        }
        let below = Beside {
            dx: 0.0,
            dy: 1.4,
            anchor: "middle",
        };
        for tick in self.x.ticks(TICKS) {
            let at = At::new(tick.place, 1.0);
            chart::line(out, "rule", At { y: 0.0, ..at }, at);
            chart::text(out, "soft", at, below, &tick.label);
        }
        let title = Beside {
            dx: 0.0,
            dy: 2.8,
            anchor: "end",
        };
        chart::text(out, "soft", At::new(1.0, 1.0), title, "requested rate");
    }

    /// Draws the objective, and the limit with its interval.
    fn print_limits(&self, out: &mut Markup) {
        if let Answer::Found(capacity) = &self.finding.answer {
            let ends = [capacity.low, capacity.rate, capacity.high];
            let [low, rate, high] = ends.map(|rate| self.x.place(rate));
            chart::area(out, "band", At::new(low, 0.0), At::new(high, 1.0));
            chart::line(out, "estimate", At::new(rate, 0.0), At::new(rate, 1.0));
            let anchor = match rate {
                ..0.25 => "start",
                0.75.. => "end",
                _ => "middle",
            };
            let above = Beside {
                dx: 0.0,
                dy: -0.6,
                anchor,
            };
            let [rate_words, low_words, high_words] = rates(capacity);
            let words = format!("limit {rate_words} ({low_words} to {high_words})");
            chart::text(out, "", At::new(rate, 0.0), above, &words);
        }
        let bound = match self.objective.bound {
            Some(bound) => bound.0 as f64,
            None => self.objective.share,
        };
        let at = At::new(0.0, 1.0 - self.y.place(bound));
        chart::line(out, "objective", at, At { x: 1.0, ..at });
        let above = Beside {
            dx: 0.3,
            dy: -0.4,
            anchor: "start",
        };
        chart::text(out, "", at, above, &self.objective.expression);
    }
}

/// The value of a row on the y axis: nanoseconds or a share; `None` without a request.
fn value(finding: &Finding, row: &KneeRow) -> Option<f64> {
    let slo = finding.bounding();
    match finding.objectives.get(slo)?.bound {
        Some(_) => at_most(&row.times, finding.quantile()).map(|time| time.0 as f64),
        None => row.shares.get(slo).copied(),
    }
}

/// Whether the row has too few requests for the quantile, so that its value is only an upper bound.
fn is_bound(finding: &Finding, row: &KneeRow) -> bool {
    let objective = finding.objectives.get(finding.bounding());
    let is_timed = objective.is_some_and(|it| it.bound.is_some());
    is_timed && row.times.quantile(finding.quantile()).is_none()
}

/// Appends what the marks mean, for those that occur.
fn print_keys(out: &mut Markup, rows: &[&KneeRow], scales: &Scales<'_>) {
    let dots: Vec<RoundDot> = rows.iter().filter_map(|row| scales.dot(row)).collect();
    let has = |class: &str| dots.iter().any(|dot| dot.class.contains(class));
    let is_long = dots.iter().any(|dot| dot.radius > RADII[0]);
    let name = scales.name();
    let keys = [
        (
            "is-kept",
            0,
            has("is-kept"),
            "keeps all objectives".to_owned(),
        ),
        (
            "is-missed",
            0,
            has("is-missed"),
            "misses an objective".to_owned(),
        ),
        (
            "is-kept",
            1,
            is_long,
            "large: hold and confirmation, which last longer".to_owned(),
        ),
        (
            "is-unclear hollow",
            0,
            has("hollow"),
            format!("hollow: too few requests for {name}, which is at most this"),
        ),
    ];
    out.open("ul", &[("class", "keys")]);
    for (class, size, _, words) in keys.iter().filter(|(_, _, is_shown, _)| *is_shown) {
        out.open("li", &[]);
        out.open("svg", &[("aria-hidden", "true")]);
        chart::dot(out, class, At::new(0.5, 0.5), RADII[*size].min(6.0));
        out.close("svg");
        out.text(words);
        out.close("li");
    }
    out.close("ul");
}
