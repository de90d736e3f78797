//! ghz's schedules: `const`, `step` and `line` as rates over time and as workers over time.
//!
//! A `line` changes once per second. It changes until it reaches its end or its maximum duration
//! has passed, whichever comes first, and then stays constant.

use super::options::{Options, Schedule};
use drumfire_plan::{Law, UserSteps};
use drumfire_units::{Nanos, Rate};
use std::sync::Arc;

/// The maximum number of changes; later ones are omitted, and the last one then lasts.
const CHANGES_MAX: u64 = 50_000;

/// The maximum number of workers.
pub(super) const WORKERS_MAX: u64 = 65_536;

/// How a number changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Const,
    Step,
    Line,
}

fn kind(text: &str) -> Option<Kind> {
    match text.to_ascii_lowercase().as_str() {
        "" | "const" => Some(Kind::Const),
        "step" => Some(Kind::Step),
        "line" => Some(Kind::Line),
        _ => None,
    }
}

/// Whether a schedule of this kind never changes.
pub(super) fn is_constant(text: &str) -> bool {
    matches!(kind(text), None | Some(Kind::Const))
}

/// Whether the schedules make sense, in ghz's order and words; what ghz lets pass and then hangs
/// or panics on is refused too.
pub(super) fn check(options: &Options) -> Result<(), String> {
    let load = &options.load;
    match kind(&load.kind) {
        None => return Err(r#"schedule much be "const", "step", or "line""#.to_owned()),
        Some(Kind::Const) => {}
        Some(kind) => {
            let same = "load start cannot equal load end";
            check_moves(load, kind, ("load", same))?;
        }
    }
    match kind(&options.workers.kind) {
        None => Err(format!(
            "concurrency schedule must be \"const\", \"step\", or \"line\", not {}",
            crate::go_text::quoted(&options.workers.kind)
        )),
        Some(Kind::Const) => Ok(()),
        Some(kind) => {
            let same = "concurrency start start cannot equal concurrency end";
            check_moves(&options.workers, kind, ("concurrency", same))
        }
    }
}

fn check_moves(schedule: &Schedule, kind: Kind, (what, same): (&str, &str)) -> Result<(), String> {
    let Schedule {
        start, end, step, ..
    } = *schedule;
    if start == end {
        return Err(same.to_owned());
    }
    if step == 0 {
        return Err(format!("invalid {what} step"));
    }
    if kind == Kind::Step && schedule.step_duration == Nanos::ZERO {
        return Err(format!("invalid {what} step duration"));
    }
    if end > 0 && (step > 0) != (end > start) {
        return Err(format!(
            "{what} step {step} never reaches {what} end {end} from {what} start {start}"
        ));
    }
    if start == 0 && step < 0 {
        return Err(format!(
            "{what} step {step} goes below 0 from {what} start 0"
        ));
    }
    Ok(())
}

/// The time after which a number changes.
fn period(schedule: &Schedule) -> Nanos {
    match kind(&schedule.kind) {
        Some(Kind::Step) => schedule.step_duration,
        _ => Nanos::from_secs(1),
    }
}

/// The number after `changes` changes, and whether it is the last one.
fn level(schedule: &Schedule, changes: u64) -> (u64, bool) {
    let moved = i128::from(schedule.start) + i128::from(changes) * i128::from(schedule.step);
    let moved = u64::try_from(moved.max(0)).unwrap_or(u64::MAX);
    let Schedule { end, step, .. } = *schedule;
    match step > 0 {
        true if end > 0 && moved >= end => (end, true),
        false if moved <= end => (end, true),
        _ => (moved, false),
    }
}

/// The rate over time; `None` means as fast as the workers can. The first request is due at 1/rate,
/// the k-th when the integral of the rate reaches k.
pub(super) fn rate(options: &Options, total: Option<u64>, duration: Option<Nanos>) -> Option<Law> {
    let one = |rate| Law::Stairs {
        steps: Arc::from([(Rate::per_second(rate), Nanos::MAX)]),
    };
    let load = &options.load;
    if is_constant(&load.kind) {
        return (options.rate > 0).then(|| one(options.rate));
    }
    let period = period(load);
    let last_change = match load.max_duration {
        Nanos::ZERO => CHANGES_MAX,
        longest => (longest.0 / period.0).min(CHANGES_MAX),
    };
    let (mut steps, mut start, mut parts) = (Vec::new(), Nanos::ZERO, 0_u128);
    for changes in 0.. {
        let (level, is_end) = level(load, changes);
        start += period;
        parts += u128::from(level) * u128::from(period.0);
        let counted = total.is_some_and(|total| parts / 1_000_000_000 >= u128::from(total));
        let timed = duration.is_some_and(|duration| start >= duration);
        let lasts = is_end || changes >= last_change || counted || timed;
        if lasts && level == 0 {
            // No further calls come, which ends the run.
            break;
        }
        let span = if lasts { Nanos::MAX } else { period };
        steps.push((Rate::per_second(level), span));
        if lasts {
            break;
        }
    }
    Some(Law::Stairs {
        steps: steps.into(),
    })
}

/// The workers over time: always at least one, except before the first ones start.
pub(super) fn workers(options: &Options) -> UserSteps {
    let schedule = &options.workers;
    if matches!(kind(&schedule.kind), None | Some(Kind::Const)) {
        return UserSteps::constant(bounded(options.concurrency));
    }
    let period = period(schedule);
    // A change exactly at the end of the maximum duration is not made.
    let last_change = match schedule.max_duration {
        Nanos::ZERO => CHANGES_MAX,
        longest => (longest.0.div_ceil(period.0) - 1).min(CHANGES_MAX),
    };
    let mut changes: Vec<(Nanos, u32)> = Vec::new();
    for n in 0..=last_change {
        let (level, is_end) = level(schedule, n);
        let least = u64::from(schedule.step < 0);
        let count = bounded(level.max(least));
        if changes.last().is_none_or(|(_, last)| *last != count) {
            changes.push((Nanos(period.0.saturating_mul(n)), count));
        }
        if is_end || level >= WORKERS_MAX {
            break;
        }
    }
    UserSteps::changing(changes).unwrap_or_else(|| UserSteps::constant(1))
}

fn bounded(count: u64) -> u32 {
    count.min(WORKERS_MAX) as u32
}

/// Whether the schedule of the rate has no end.
pub(super) fn is_endless(options: &Options) -> bool {
    match rate(options, None, None) {
        Some(law) => law.runs_on(),
        None => true,
    }
}

/// Whether a schedule of this name keeps a number constant.
pub(super) fn is_const_name(name: &str) -> bool {
    matches!(kind(name), None | Some(Kind::Const))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schedule(kind: &str, [start, end]: [u64; 2], step: i64, times: [u64; 2]) -> Schedule {
        Schedule {
            kind: kind.to_owned(),
            start,
            end,
            step,
            step_duration: Nanos::from_secs(times[0]),
            max_duration: Nanos::from_millis(times[1]),
        }
    }

    fn loads(load: Schedule) -> Options {
        Options {
            load,
            ..Options::default()
        }
    }

    /// Rates and their lengths in seconds; 0 means endless.
    fn steps(options: &Options, total: Option<u64>) -> Vec<(u64, u64)> {
        match rate(options, total, None) {
            Some(Law::Stairs { steps }) => steps
                .iter()
                .map(|(rate, span)| match *span {
                    Nanos::MAX => (rate.events, 0),
                    span => (rate.events, span.0 / 1_000_000_000),
                })
                .collect(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_comes_first_ends_the_change() {
        let both = |end, max| loads(schedule("step", [10, end], 10, [1, max]));
        assert_eq!(steps(&both(30, 8_000), None), [(10, 1), (20, 1), (30, 0)]);
        assert_eq!(steps(&both(90, 2_500), None), [(10, 1), (20, 1), (30, 0)]);
        assert_eq!(steps(&both(90, 2_000), None), [(10, 1), (20, 1), (30, 0)]);
        assert_eq!(steps(&both(25, 0), None), [(10, 1), (20, 1), (25, 0)]);
        let down = loads(schedule("LINE", [6, 0], -2, [0, 0]));
        assert_eq!(steps(&down, None), [(6, 1), (4, 1), (2, 1)]);
        let from_none = loads(schedule("line", [0, 0], 5, [0, 0]));
        assert_eq!(steps(&from_none, Some(10)), [(0, 1), (5, 1), (10, 0)]);
    }

    #[test]
    fn a_walk_that_leads_nowhere_is_refused() {
        for (schedule, message) in [
            (
                schedule("foo", [1, 0], 1, [1, 0]),
                r#"schedule much be "const", "step", or "line""#,
            ),
            (
                schedule("step", [0, 0], 1, [1, 0]),
                "load start cannot equal load end",
            ),
            (schedule("step", [5, 0], 0, [1, 0]), "invalid load step"),
            (
                schedule("step", [5, 0], 5, [0, 0]),
                "invalid load step duration",
            ),
            (
                schedule("line", [50, 20], 10, [0, 0]),
                "load step 10 never reaches load end 20 from load start 50",
            ),
            (
                schedule("line", [0, 5], -1, [0, 0]),
                "load step -1 never reaches load end 5 from load start 0",
            ),
        ] {
            assert_eq!(check(&loads(schedule)), Err(message.to_owned()));
        }
    }

    #[test]
    fn workers_never_overshoot_and_never_vanish() {
        let counts = |schedule| {
            let options = Options {
                workers: schedule,
                ..Options::default()
            };
            let users = workers(&options);
            let changes = users.changes().iter();
            changes
                .map(|(at, n)| (at.0 / 1_000_000_000, *n))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            counts(schedule("step", [2, 7], 2, [1, 0])),
            [(0, 2), (1, 4), (2, 6), (3, 7)]
        );
        assert_eq!(
            counts(schedule("step", [2, 20], 2, [1, 3_500])),
            [(0, 2), (1, 4), (2, 6), (3, 8)]
        );
        assert_eq!(
            counts(schedule("step", [2, 5], 2, [1, 3_500])),
            [(0, 2), (1, 4), (2, 5)]
        );
        assert_eq!(
            counts(schedule("line", [8, 1], -3, [0, 0])),
            [(0, 8), (1, 5), (2, 2), (3, 1)]
        );
        assert_eq!(
            counts(schedule("line", [4, 0], -2, [0, 0])),
            [(0, 4), (1, 2), (2, 1)]
        );
        assert_eq!(
            counts(schedule("line", [0, 2], 1, [0, 0])),
            [(0, 0), (1, 1), (2, 2)]
        );
        assert_eq!(counts(schedule("const", [9, 9], 0, [0, 0])), [(0, 50)]);
    }
}
