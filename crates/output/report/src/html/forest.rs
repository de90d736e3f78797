//! A forest plot: a row for each figure of a comparison, with its shift as a dot, the interval as a
//! bar, and the shifts that do not matter as a grey band.
//!
//! Worse is at the right, whatever the sign of the shift. All rows have one scale: the shift as a
//! multiple of the least shift that matters, which differs from figure to figure. The scale is linear
//! around no difference and logarithmic beyond the band (the inverse hyperbolic sine), so that a
//! shift of 1 % and one of 200 % are both visible.

use super::chart::{self, At, Beside};
use crate::comparison::{answer_name, interval_words, percent, signed};
use crate::markup::Markup;
use drumfire_compare::{Answer, Comparison, Figure, Row};

/// The least multiple of the least shift at both ends of the scale.
const ENDS_LEAST: f64 = 1.5;
/// The space at both ends, as a share of the scale.
const HEAD_ROOM: f64 = 1.05;
/// Shifts that can have a number on the scale.
const TICKS: [f64; 10] = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0];
/// The least distance of two numbers on the scale.
const TICKS_APART: f64 = 0.11;
/// The radius of a dot in pixels.
const RADIUS: f64 = 5.0;

/// Appends the plot; nothing without a figure.
pub(super) fn print(out: &mut Markup, of: &Comparison) {
    if of.rows.is_empty() {
        return;
    }
    let scale = RatioScale::new(&of.rows);
    let ticks = scale.ticks(of.terms.least);
    out.open("section", &[("id", "forest")]);
    out.element("h2", &[], "Is the candidate worse?");
    out.open("div", &[("class", "forest")]);
    out.open("div", &[("class", "sides")]);
    out.element("span", &[], "← better");
    out.element("span", &[], "worse →");
    out.close("div");
    print_ticks(out, &ticks);
    for row in &of.rows {
        print_row(out, row, &scale, &ticks);
    }
    out.close("div");
    out.element("p", &[("class", "dim")], &note(of));
    out.close("section");
}

/// Appends the numbers of the scale. They have no sign, because the sign of what is better differs.
fn print_ticks(out: &mut Markup, ticks: &[Tick]) {
    out.open("div", &[("class", "scale"), ("aria-hidden", "true")]);
    out.open("svg", &[]);
    let below = Beside {
        dx: 0.0,
        dy: -0.3,
        anchor: "middle",
    };
    for tick in ticks {
        chart::text(out, "soft", At::new(tick.place, 1.0), below, &tick.label);
    }
    out.close("svg");
    out.close("div");
}

/// Appends a row: the name, the picture, the shift, the interval and the answer.
fn print_row(out: &mut Markup, row: &Row, scale: &RatioScale, ticks: &[Tick]) {
    out.open("div", &[("class", "row")]);
    out.element("span", &[("class", "label")], row.figure.name());
    let class = match row.answer {
        Some(Answer::Worse) => "is-missed",
        Some(Answer::Better | Answer::Equal) => "is-kept",
        Some(Answer::Open) | None => "is-unclear",
    };
    out.open("div", &[("class", &format!("picture {class}"))]);
    // The words of the row have everything that the picture shows.
    out.open("svg", &[("aria-hidden", "true")]);
    let [low, high] = scale.band();
    chart::area(out, "band", At::new(low, 0.0), At::new(high, 1.0));
    // Those of failures are shares of all requests, on a scale of their own.
    if row.figure != Figure::Failed {
        for tick in ticks {
            let ends = [0.0, 1.0].map(|y| At::new(tick.place, y));
            chart::line(out, "rule", ends[0], ends[1]);
        }
    }
    chart::line(out, "zero", At::new(0.5, 0.0), At::new(0.5, 1.0));
    if let Some((low, high)) = row.interval {
        let ends = [low, high].map(|end| At::new(scale.place(row, end), 0.5));
        chart::line(out, "span", ends[0], ends[1]);
    }
    let at = At::new(scale.place(row, row.shift), 0.5);
    chart::dot(out, "shift", at, RADIUS);
    out.close("svg");
    out.close("div");
    out.element("span", &[("class", "shift")], &signed(row.shift));
    out.element(
        "span",
        &[("class", "interval")],
        &interval_words(row.interval),
    );
    let answer = match row.answer {
        Some(_) => answer_name(row),
        None => String::new(),
    };
    out.element("span", &[("class", "answer")], &answer);
    out.close("div");
}

/// How to read the plot.
fn note(of: &Comparison) -> String {
    let least = percent(of.terms.least);
    let bar = match of.is_pair() {
        true => {
            "Each bar is the interval of a shift, which covers only chance within the two runs."
        }
        false => {
            "Each bar is the interval of a shift, at the level that decides. Without a bar, the runs \
             are too few to show anything."
        }
    };
    let failed = of.rows.iter().find(|row| row.figure == Figure::Failed);
    let failed = failed.map_or_else(String::new, |row| {
        let least = percent(row.least);
        format!(", of failures {least} of all requests (the numbers of the scale are not theirs)")
    });
    format!("{bar} In the grey band, shifts are too small to matter: below {least}{failed}.")
}

/// A number on the scale.
struct Tick {
    /// From 0 to 1.
    place: f64,
    /// A percentage without a sign.
    label: String,
}

/// The scale of all rows.
struct RatioScale {
    /// The end of the scale at both sides, as a multiple of the least shift.
    end: f64,
}

impl RatioScale {
    /// The scale that has room for all shifts and intervals.
    fn new(rows: &[Row]) -> Self {
        let ends = rows.iter().flat_map(|row| {
            let interval = row.interval.into_iter().flat_map(|(low, high)| [low, high]);
            let ends = interval.chain([row.shift]);
            ends.map(|end| (end / row.least).abs())
        });
        let ends = ends.filter(|end| end.is_finite());
        Self {
            end: ends.fold(ENDS_LEAST, f64::max),
        }
    }

    /// The place of a shift of a row, from 0 to 1. A shift that is worse is at the right.
    fn place(&self, row: &Row, shift: f64) -> f64 {
        let multiple = shift / row.least;
        self.along(match row.figure.is_better_greater() {
            true => -multiple,
            false => multiple,
        })
    }

    /// The ends of the band.
    fn band(&self) -> [f64; 2] {
        [-1.0, 1.0].map(|end| self.along(end))
    }

    /// No shift, the least that matters, and those beyond it that are far enough from each other;
    /// each at both sides. `least` is that of times and rates, as a share.
    fn ticks(&self, least: f64) -> Vec<Tick> {
        let mut right = vec![(0.0, 0.5)];
        for shift in [least]
            .into_iter()
            .chain(TICKS.into_iter().filter(|at| *at > least))
        {
            let place = self.along(shift / least);
            let (_, last) = right.last().copied().unwrap_or_default();
            if shift <= least * self.end && place - last >= TICKS_APART {
                right.push((shift, place));
            }
        }
        let both = right
            .iter()
            .flat_map(|&(shift, place)| [(shift, 1.0 - place), (shift, place)]);
        // Both sides have the one in the middle.
        let tick = |(shift, place)| Tick {
            place,
            label: percent(shift),
        };
        both.skip(1).map(tick).collect()
    }

    fn along(&self, multiple: f64) -> f64 {
        let place = multiple.asinh() / (self.end.asinh() * HEAD_ROOM);
        0.5 + place.clamp(-1.0, 1.0) / 2.0
    }
}

#[cfg(test)]
mod tests {
    use super::RatioScale;

    #[test]
    fn numbers_of_the_scale_are_apart_and_the_same_at_both_sides() {
        for end in [1.5, 10.0, 1_000.0] {
            let mut ticks = RatioScale { end }.ticks(0.02);
            ticks.sort_by(|a, b| a.place.total_cmp(&b.place));
            let labels: Vec<&str> = ticks.iter().map(|tick| &*tick.label).collect();
            let mirrored: Vec<&str> = labels.iter().rev().copied().collect();
            assert_eq!(labels, mirrored);
            // Beside shifts of thousands of percent there is no room for it.
            assert_eq!(labels.contains(&"2 %"), end < 1_000.0, "{labels:?}");
            assert!(ticks.is_sorted_by(|a, b| b.place - a.place > 0.1));
        }
    }

    #[test]
    fn the_band_is_in_the_middle_and_all_shifts_have_room() {
        for end in [1.5, 10.0, 1_000.0] {
            let scale = RatioScale { end };
            let [low, high] = scale.band();
            assert!(low > 0.0 && high < 1.0 && (low + high - 1.0).abs() < 1e-9);
            assert!((scale.along(0.0) - 0.5).abs() < 1e-9);
            let [least, most] = [-end, end].map(|it| scale.along(it));
            assert!(0.0 < least && least < low && high < most && most < 1.0);
        }
    }
}
