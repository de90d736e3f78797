//! A picture of the tails of several lists of times over each other.

use drumfire_report::figure::{Axis, Figure, Plot, Point, Role, Scale, Series, Unit};
use drumfire_units::Nanos;

/// Points for each nine of the axis.
const POINTS_PER_NINE: u32 = 24;
/// The most nines: no list here has as many times.
const NINES_MAX: u32 = 9;
/// The times that must lie beyond a point.
const BEYOND: f64 = 10.0;

/// A list of times with its name in the legend.
#[derive(Clone, Debug)]
pub struct Tail {
    /// Its name.
    pub name: String,
    /// Its times, in any order.
    pub times: Vec<Nanos>,
}

/// The times over the share of requests that took no longer, a line for each list. A line ends where
/// fewer than ten times lie beyond it.
#[must_use]
pub fn tails(title: &str, question: &'static str, lists: &[Tail]) -> Figure {
    let series = lists.iter().zip(0..).map(|(tail, rank)| Series {
        name: tail.name.clone(),
        role: Role::Rank(rank),
        points: points(&tail.times),
    });
    let all: Vec<Series> = series.collect();
    let points = || all.iter().flat_map(|series| &series.points);
    let times = || points().filter_map(|point| point.y);
    let least = times().fold(f64::MAX, f64::min);
    let most = times().fold(1.0, f64::max);
    let decade = |time: f64, round: fn(f64) -> f64| 10_f64.powf(round(time.log10()));
    Figure {
        name: "tails",
        title: title.to_owned(),
        question,
        x: Axis {
            title: "share of requests that took no longer",
            unit: Unit::Share,
            scale: Scale::Tail,
            from: 0.0,
            to: points().map(|point| point.x).fold(0.9, f64::max),
        },
        y: Axis {
            title: "service time",
            unit: Unit::Time,
            scale: Scale::Log,
            from: decade(least.min(most), f64::floor),
            to: decade(most, f64::ceil),
        },
        plot: Plot::Lines(all),
        marks: Vec::new(),
        note: None,
    }
}

/// The points of a list at equal distances along the axis, by the nearest rank.
fn points(times: &[Nanos]) -> Vec<Point> {
    let mut times: Vec<u64> = times.iter().map(|time| time.0).collect();
    times.sort_unstable();
    let count = times.len() as f64;
    let shares = (0..NINES_MAX * POINTS_PER_NINE).map(|step| {
        let nines = f64::from(step) / f64::from(POINTS_PER_NINE);
        1.0 - 10_f64.powf(-nines)
    });
    let known = shares.take_while(|share| count * (1.0 - share) >= BEYOND);
    let point = |share: f64| {
        let rank = (share * count).ceil() as usize;
        let time = times.get(rank.max(1) - 1)?;
        Some(Point {
            x: share,
            y: Some(*time as f64),
            is_at_least: false,
        })
    };
    known.filter_map(point).collect()
}

#[cfg(test)]
mod tests {
    use super::{Plot, Tail, tails};
    use drumfire_units::Nanos;

    #[test]
    fn a_line_has_the_times_by_rank_and_ends_where_few_are_left() {
        let times = (1..=1_000).rev().map(|time| Nanos(time * 1_000)).collect();
        let name = "a clock".to_owned();
        let figure = tails("Tails", "How slow?", &[Tail { name, times }]);
        assert_eq!((figure.y.from, figure.y.to), (1e3, 1e6));
        let Plot::Lines(lines) = figure.plot else {
            panic!("lines");
        };
        let [line] = &lines[..] else {
            panic!("one line");
        };
        let at = |share: f64| {
            let mut points = line.points.iter();
            points.find(|point| point.x == share).unwrap().y
        };
        assert_eq!(at(0.0), Some(1e3));
        assert_eq!(at(0.9), Some(900e3));
        let last = line.points.last().unwrap().x;
        assert!((last - 0.99).abs() < 1e-9, "{last}");
        assert_eq!(tails("Tails", "How slow?", &[]).plot, Plot::Lines(vec![]));
    }
}
