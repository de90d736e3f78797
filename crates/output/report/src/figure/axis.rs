//! An axis: the unit of its values, its scale, and its ticks. A place is a number from 0 to 1 along
//! the axis. A page has the ticks of all parts of a run's time ([`AxisLevel`]), since its reader zooms.

use crate::quantity::{latency_f64, span};
use crate::style::Unicode;
use drumfire_units::{ByteSize, Nanos, rounded};

/// The unit of an axis' values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Nanoseconds since the run's start.
    RunTime,
    /// Nanoseconds that something took.
    Time,
    /// Events per second.
    PerSecond,
    /// A number of things.
    Count,
    /// Bytes.
    Bytes,
    /// A share, from 0 to below 1.
    Share,
    /// No values: names stand along the axis.
    None,
}

/// The scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Places grow in proportion to the value.
    Linear,
    /// Places grow in proportion to the value's logarithm.
    Log,
    /// Places grow in proportion to the logarithm of 1/(1 − value): each nine of a quantile takes
    /// the same space.
    Tail,
}

/// An axis of a figure; `to` is greater than `from`.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// The words for the values, such as `response time`.
    pub title: &'static str,
    /// The unit of the values.
    pub unit: Unit,
    /// The scale.
    pub scale: Scale,
    /// The value at the beginning; above 0 on a logarithmic scale.
    pub from: f64,
    /// The value at the end.
    pub to: f64,
}

/// A value with a label beside an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Tick {
    /// The place, from 0 at the beginning of the axis to 1 at its end.
    pub place: f64,
    /// The label.
    pub label: String,
}

/// The ticks of a run's time at the multiples of a step, for parts of the time up to a length.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AxisLevel {
    /// The length in nanoseconds of the longest part with these ticks.
    pub(crate) span: f64,
    /// The step in nanoseconds.
    pub(crate) step: f64,
    /// The labels of 0, of the step, of twice the step, and so on.
    pub(crate) labels: Vec<String>,
}

impl AxisLevel {
    /// The levels for parts of a run's time that are at least `least` long, in nanoseconds, the
    /// shortest step first. A part has about as many ticks as a whole [`Axis`], and with the same
    /// steps.
    pub(crate) fn all(time: &Axis, least: f64, most: usize) -> Vec<Self> {
        let most = most.max(1) as f64;
        let step = |least: f64| step_of(least, Unit::RunTime);
        // The next step is the least that is above the one before.
        let next = |before: &f64| (before * most < time.to).then(|| step(before * 1.01));
        let level = |step: f64| Self {
            span: step * most,
            step,
            labels: (0..=(time.to / step + 1e-9) as usize)
                .map(|number| time.label(number as f64 * step))
                .collect(),
        };
        std::iter::successors(Some(step(least / most)), next)
            .map(level)
            .collect()
    }
}

/// Decimal steps between ticks, which repeat in each decade.
const STEPS: [f64; 3] = [1.0, 2.0, 5.0];
/// Steps of a run's time beyond ten seconds, in seconds.
const TIME_STEPS: [f64; 17] = [
    1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1_200.0, 1_800.0, 3_600.0, 7_200.0,
    21_600.0, 43_200.0, 86_400.0,
];
const SECOND: f64 = 1e9;

impl Axis {
    /// A linear axis from 0 to the maximum of these values.
    pub(crate) fn linear(
        title: &'static str,
        unit: Unit,
        values: impl IntoIterator<Item = f64>,
    ) -> Self {
        let to = values.into_iter().fold(0.0, f64::max);
        Self {
            title,
            unit,
            scale: Scale::Linear,
            from: 0.0,
            to: if to > 0.0 { to } else { 1.0 },
        }
    }

    /// A logarithmic axis that covers the decades of the values above 0.
    pub(super) fn log(
        title: &'static str,
        unit: Unit,
        values: impl IntoIterator<Item = f64>,
    ) -> Self {
        let values = values.into_iter().filter(|value| *value > 0.0);
        let (least, greatest) = values.fold((f64::MAX, 0.0_f64), |(least, greatest), value| {
            (least.min(value), greatest.max(value))
        });
        let (least, greatest) = match greatest > 0.0 {
            true => (least, greatest),
            false => (1.0, 10.0),
        };
        let from = 10_f64.powf(least.log10().floor());
        let to = 10_f64.powf(greatest.log10().ceil());
        Self {
            title,
            unit,
            scale: Scale::Log,
            from,
            to: to.max(from * 10.0),
        }
    }

    /// The place of a value: 0 at the beginning of the axis, 1 at its end; the nearer of both for a
    /// value outside.
    #[must_use]
    pub fn place(&self, value: f64) -> f64 {
        let along = |value: f64| match self.scale {
            Scale::Linear => value,
            Scale::Log => value.max(self.from).log10(),
            Scale::Tail => nines(value),
        };
        let (from, to) = (along(self.from), along(self.to));
        ((along(value) - from) / (to - from)).clamp(0.0, 1.0)
    }

    /// The ticks of the axis in order: about `most`, and seldom more.
    #[must_use]
    pub fn ticks(&self, most: usize) -> Vec<Tick> {
        let values = match (self.scale, self.unit) {
            (_, Unit::None) => Vec::new(),
            (Scale::Linear, unit) => self.even(most, unit),
            (Scale::Log, _) => self.decades(most),
            (Scale::Tail, _) => self.quantiles(),
        };
        let tick = |value: f64| Tick {
            place: self.place(value),
            label: self.label(value),
        };
        values.into_iter().map(tick).collect()
    }

    /// A value as a tick shows it: rounded, without the zeros at the end of its decimals. Zero has
    /// no unit.
    #[must_use]
    pub fn label(&self, value: f64) -> String {
        match self.unit {
            Unit::RunTime | Unit::Time | Unit::Count | Unit::Bytes | Unit::PerSecond
                if value == 0.0 =>
            {
                "0".to_owned()
            }
            Unit::RunTime => span(Nanos(value as u64), Unicode::On),
            Unit::Time => plain(&latency_f64(value, Unicode::On)),
            Unit::PerSecond => plain(&rounded::rate(value)),
            Unit::Count => rounded::count(value as u64),
            Unit::Bytes => plain(&ByteSize(value as u64).to_string()),
            Unit::Share => percent(value),
            Unit::None => String::new(),
        }
    }

    /// Values in even steps, with the smallest step that gives no more than `most` ticks.
    fn even(&self, most: usize, unit: Unit) -> Vec<f64> {
        let step = step_of((self.to - self.from) / most.max(1) as f64, unit);
        let first = (self.from / step).ceil();
        let count = ((self.to / step) + 1e-9).floor() - first;
        let numbers = 0..=count.max(0.0) as usize;
        numbers
            .map(|number| (first + number as f64) * step)
            .collect()
    }

    /// Powers of ten; with few of them, also twice and five times each. With many decades, some
    /// have no tick.
    fn decades(&self, most: usize) -> Vec<f64> {
        let (from, to) = (self.from.log10().round(), self.to.log10().round());
        let decades = (to - from) as usize;
        let each: &[f64] = match decades * STEPS.len() < most {
            true => &STEPS,
            false => &STEPS[..1],
        };
        let every = decades.div_ceil(most.max(1)).max(1);
        let powers = (0..=decades).step_by(every);
        let values = powers.flat_map(|power| {
            let power = 10_f64.powf(from + power as f64);
            each.iter().map(move |step| step * power)
        });
        values
            .filter(|value| *value <= self.to * 1.000_001)
            .collect()
    }

    /// The usual quantiles, up to the end of the axis.
    fn quantiles(&self) -> Vec<f64> {
        let named = [0.0, 0.5, 0.9, 0.99, 0.999, 0.999_9, 0.999_99, 0.999_999];
        named.into_iter().filter(|q| *q <= self.to).collect()
    }
}

/// The smallest step between ticks that is at least this. A run's time has steps of clocks and then
/// of days; a count has whole steps.
fn step_of(least: f64, unit: Unit) -> f64 {
    match unit {
        Unit::RunTime if least > SECOND => {
            let mut steps = TIME_STEPS.iter().map(|step| step * SECOND);
            let days = || (least / (86_400.0 * SECOND)).ceil() * 86_400.0 * SECOND;
            steps.find(|step| *step >= least).unwrap_or_else(days)
        }
        Unit::Count => decimal(least).max(1.0),
        _ => decimal(least),
    }
}

/// The smallest of 1, 2 and 5 times a power of ten that is at least this.
fn decimal(least: f64) -> f64 {
    let power = 10_f64.powf(least.log10().floor());
    let found = STEPS.iter().map(|step| step * power);
    found
        .into_iter()
        .find(|step| *step >= least * 0.999_999)
        .unwrap_or(10.0 * power)
}

/// The number of nines of a share: 1 for 90 %, 2 for 99 %, at most nine.
fn nines(share: f64) -> f64 {
    -(1.0 - share.clamp(0.0, 1.0 - 1e-9)).log10()
}

/// A rounded number without the zeros at the end of its decimals: `1 ms` for `1.00 ms`. A rate
/// keeps the text after its slash.
fn plain(rounded: &str) -> String {
    let (number, unit) = rounded.split_once(' ').unwrap_or((rounded, ""));
    let (number, slash) = number
        .find('/')
        .map_or((number, ""), |at| number.split_at(at));
    let number = match number.contains('.') {
        true => number.trim_end_matches('0').trim_end_matches('.'),
        false => number,
    };
    match unit {
        "" => format!("{number}{slash}"),
        unit => format!("{number}{slash} {unit}"),
    }
}

/// A share in the form of a quantile: `99.9 %`.
fn percent(share: f64) -> String {
    let text = format!("{:.6}", share * 100.0);
    format!("{} %", text.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn labels(axis: &Axis, most: usize) -> Vec<String> {
        let ticks = axis.ticks(most);
        ticks.into_iter().map(|tick| tick.label).collect()
    }

    fn axis(unit: Unit, scale: Scale, from: f64, to: f64) -> Axis {
        Axis {
            title: "",
            unit,
            scale,
            from,
            to,
        }
    }

    #[test]
    fn ticks_are_values_that_people_name() {
        let time = axis(Unit::RunTime, Scale::Linear, 0.0, 95.0 * SECOND);
        assert_eq!(labels(&time, 5), ["0", "20 s", "40 s", "1m00s", "1m20s"]);
        let short = axis(Unit::RunTime, Scale::Linear, 0.0, 3.0 * SECOND);
        assert_eq!(labels(&short, 4), ["0", "1 s", "2 s", "3 s"]);
        let latency = Axis::log("", Unit::Time, [230_000.0, 41_000_000.0]);
        assert_eq!(labels(&latency, 6), ["100 µs", "1 ms", "10 ms", "100 ms"]);
        let narrow = Axis::log("", Unit::Time, [1.2e6, 3e6]);
        assert_eq!(labels(&narrow, 6), ["1 ms", "2 ms", "5 ms", "10 ms"]);
        let tail = axis(Unit::Share, Scale::Tail, 0.0, 0.999);
        assert_eq!(labels(&tail, 6), ["0 %", "50 %", "90 %", "99 %", "99.9 %"]);
        let few = Axis::linear("", Unit::Count, [2.0]);
        assert_eq!(labels(&few, 5), ["0", "1", "2"]);
        let rate = Axis::linear("", Unit::PerSecond, [1_200.0]);
        assert_eq!(labels(&rate, 3), ["0", "500/s", "1,000/s"]);
    }

    #[test]
    fn nothing_still_has_an_axis() {
        for nothing in [
            Axis::linear("", Unit::PerSecond, []),
            Axis::log("", Unit::Time, [0.0]),
        ] {
            assert!(nothing.to > nothing.from);
            assert!(!nothing.ticks(5).is_empty());
        }
    }

    /// A reader who zooms sees as many ticks as in the whole, at the same values.
    #[test]
    fn every_part_of_the_time_has_a_level() {
        let time = |to: f64| axis(Unit::RunTime, Scale::Linear, 0.0, to * SECOND);
        let levels = |to: f64, least: f64| AxisLevel::all(&time(to), least * SECOND, 8);
        let steps: Vec<f64> = levels(60.0, 2.0)
            .iter()
            .map(|of| of.step / SECOND)
            .collect();
        assert_eq!(steps, [0.5, 1.0, 2.0, 5.0, 10.0]);
        let labels = levels(3.0, 1.0)[0].labels.clone();
        assert_eq!(labels[..4], ["0", "200 ms", "400 ms", "600 ms"]);
        for (to, least) in [
            (0.004, 0.001),
            (3.0, 0.1),
            (95.0, 3.0),
            (86_400.0, 600.0),
            (4e7, 3e5),
        ] {
            let all = levels(to, least);
            assert!(all[0].step < least * SECOND && all.is_sorted_by(|a, b| a.step < b.step));
            let last = all.last().unwrap();
            assert!(last.span >= to * SECOND);
            assert_eq!(last.labels, self::labels(&time(to), 8));
            let labels: usize = all.iter().map(|level| level.labels.len()).sum();
            assert!((labels as f64) < 32.0 * to / least, "{labels} for {to} s");
        }
    }

    proptest! {
        #[test]
        fn places_and_ticks_are_in_order(
            values in prop::collection::vec(0.0..1e13_f64, 1..20),
            is_log in any::<bool>(),
            most in 1..20_usize,
        ) {
            let axis = match is_log {
                true => Axis::log("", Unit::Time, values.iter().copied()),
                false => Axis::linear("", Unit::RunTime, values.iter().copied()),
            };
            let ticks = axis.ticks(most);
            prop_assert!(ticks.len() <= 2 * most + 3, "{}", ticks.len());
            prop_assert!(ticks.is_sorted_by(|a, b| a.place < b.place));
            let mut sorted = values;
            sorted.sort_by(f64::total_cmp);
            let places: Vec<f64> = sorted.iter().map(|value| axis.place(*value)).collect();
            prop_assert!(places.is_sorted());
            prop_assert!(places.iter().all(|place| (0.0..=1.0).contains(place)));
        }
    }
}
