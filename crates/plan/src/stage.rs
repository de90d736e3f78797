//! The stages of a load: the parts of its law that a report tells of one by one.

use crate::{Law, Load, Pool, Sequence};
use drumfire_units::{Nanos, Rate, rounded};

/// A load of more stages is told of as a whole.
const STAGES_MAX: usize = 100;

/// A part of a load's law: a piece of a sequence, a step, or a number of users.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stage {
    /// What it is, in words: `100/s`, `5/s to 200/s`, `50 users`.
    pub name: String,
    /// Where it begins, from the run's start; it ends where the next one begins.
    pub start: Nanos,
}

/// The stages of a pool's load, from the run's start on; none where there are fewer than two, or
/// more than a hundred.
pub(crate) fn of_pool(pool: &Pool) -> Vec<Stage> {
    let mut stages = match (&pool.load, &pool.users) {
        (Load::Open { rate, .. } | Load::PerUser { rate, .. }, _) => of_law(rate),
        (Load::Closed { .. }, Some(users)) => {
            let changes = users.changes().iter().take(STAGES_MAX + 1);
            let stage = |(start, count): &(Nanos, u32)| Stage {
                name: counted(u64::from(*count), "user"),
                start: *start,
            };
            changes.map(stage).collect()
        }
        (Load::Closed { .. }, None) => Vec::new(),
    };
    // What takes no time belongs to what follows it.
    let starts: Vec<Nanos> = stages.iter().map(|stage| stage.start).collect();
    let mut next = starts.iter().skip(1);
    stages.retain(|stage| next.next() != Some(&stage.start));
    match stages.len() {
        2..=STAGES_MAX => stages,
        _ => Vec::new(),
    }
}

/// The stages of a law.
fn of_law(sequence: &Sequence) -> Vec<Stage> {
    let mut stages = Vec::new();
    let mut start = Nanos::ZERO;
    for law in &sequence.0 {
        if stages.len() > STAGES_MAX {
            break;
        }
        for (name, span) in pieces(law) {
            stages.push(Stage { name, start });
            start += span;
        }
    }
    stages
}

/// The pieces of one law, each with its length.
fn pieces(law: &Law) -> Vec<(String, Nanos)> {
    let rate = |rate: &Rate| rounded::rate(rate.as_per_second());
    let one = |name, span| vec![(name, span)];
    match law {
        Law::Const { rate: at, duration } => one(rate(at), *duration),
        Law::Line { from, to, duration } => {
            one(format!("{} to {}", rate(from), rate(to)), *duration)
        }
        Law::Step {
            from,
            to,
            by,
            duration,
        } => steps(*from, *to, *by)
            .map(|at| (rounded::rate(at), *duration))
            .collect(),
        Law::Once { count } => one(format!("{} at once", rounded::count(*count)), Nanos::ZERO),
        Law::Unlimited { duration } => one("unlimited".to_owned(), *duration),
        Law::Sine {
            mean,
            amplitude,
            duration,
            ..
        } => one(format!("{} ± {}", rate(mean), rate(amplitude)), *duration),
        Law::Trace { times } => {
            let last = times.last().copied().unwrap_or_default();
            one("trace".to_owned(), last)
        }
        Law::Stairs { steps } => {
            let steps = steps.iter().take(STAGES_MAX + 1);
            steps.map(|(at, span)| (rate(at), *span)).collect()
        }
    }
}

/// The rates of a `step`, from the first as far as the last: one more than the bound at most.
fn steps(from: Rate, to: Rate, by: Rate) -> impl Iterator<Item = f64> {
    let [from, to, by] = [from, to, by].map(Rate::as_per_second);
    // A part of a step is none, but for the rounding of parts of rates.
    let changes = ((to - from).abs() / by + 1e-9).floor();
    let changes = (changes.max(0.0) as usize).min(STAGES_MAX);
    (0..=changes).map(move |k| from + (to - from).signum() * k as f64 * by)
}

/// A number of things.
fn counted(count: u64, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {what}{plural}", rounded::count(count))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stages(law: &str) -> Vec<(String, u64)> {
        let law: Sequence = law.parse().unwrap();
        let millis = |stage: Stage| (stage.name, stage.start.0 / 1_000_000);
        of_law(&law).into_iter().map(millis).collect()
    }

    #[test]
    fn pieces_follow_each_other() {
        let named = |all: &[(&str, u64)]| -> Vec<(String, u64)> {
            all.iter()
                .map(|(name, at)| ((*name).to_owned(), *at))
                .collect()
        };
        for (law, expected) in [
            ("const(100,10s)", &[("100/s", 0)][..]),
            (
                "line(5,200,1m) const(200,10m) line(200,0,30s)",
                &[
                    ("5/s to 200/s", 0),
                    ("200/s", 60_000),
                    ("200/s to 0/s", 660_000),
                ],
            ),
            (
                "step(10,30,10,2500ms) once(50)",
                &[
                    ("10/s", 0),
                    ("20/s", 2_500),
                    ("30/s", 5_000),
                    ("50 at once", 7_500),
                ],
            ),
            ("step(30,10,15,1s)", &[("30/s", 0), ("15/s", 1_000)]),
            (
                "step(0.1,0.3,0.1,1s)",
                &[("0.1/s", 0), ("0.2/s", 1_000), ("0.3/s", 2_000)],
            ),
            ("stairs(1,5s,2,5s)", &[("1/s", 0), ("2/s", 5_000)]),
        ] {
            assert_eq!(stages(law), named(expected), "{law}");
        }
        assert_eq!(stages("step(1,1000000,1,1s)").len(), STAGES_MAX + 1);
    }
}
