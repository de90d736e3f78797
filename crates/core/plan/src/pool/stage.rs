//! The stages of a load: the parts of its law that a report shows one by one.

use crate::{Change, Law, Load, Pool, Sequence, UserSteps};
use drumfire_units::{Nanos, Rate, rounded};

/// The maximum number of stages; a load with more counts as one stage.
const STAGES_MAX: usize = 100;

/// The maximum length of the name of such a law, in characters.
const NAME_MAX: usize = 40;

/// A part of a load's law: a piece of a sequence, a step, or a number of users.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stage {
    /// The name: `100/s`, `5/s to 200/s`, `50 users`.
    pub name: String,
    /// The start, from the run's start; the stage ends where the next one starts. A stage that
    /// takes no time, such as `100 at once`, starts together with the next one.
    pub start: Nanos,
}

/// The stages of a pool's load, from the run's start: at least one.
pub(crate) fn of_pool(pool: &Pool) -> Vec<Stage> {
    match (&pool.load, &pool.users) {
        (Load::Open { rate, .. } | Load::PerUser { rate, .. }, _) => of_law(rate),
        (Load::Closed { .. }, Some(users)) => of_users(users),
        (Load::Closed { users, .. }, None) => of_users(&UserSteps::constant(*users)),
    }
}

impl Stage {
    /// The stages of the law that a change starts, in the law's own time; empty if the change
    /// starts no law.
    #[must_use]
    pub fn begun_by(change: &Change) -> Vec<Self> {
        match change {
            Change::Rate { law } => of_law(law),
            Change::Users { law } => of_users(law),
            Change::Pause | Change::Resume | Change::Mark { .. } | Change::Stop { .. } => {
                Vec::new()
            }
        }
    }
}

/// The stages of a number of users; a law of more than a hundred numbers is one stage.
fn of_users(users: &UserSteps) -> Vec<Stage> {
    let changes = users.changes();
    if changes.len() > STAGES_MAX {
        let most = counted(u64::from(users.most()), "user");
        return vec![Stage {
            name: format!("up to {most}"),
            start: Nanos::ZERO,
        }];
    }
    let stage = |(start, count): &(Nanos, u32)| Stage {
        name: counted(u64::from(*count), "user"),
        start: *start,
    };
    changes.iter().map(stage).collect()
}

/// The stages of a law; a law of more than a hundred stages is one stage.
fn of_law(sequence: &Sequence) -> Vec<Stage> {
    let mut stages = Vec::new();
    let mut start = Nanos::ZERO;
    for law in &sequence.0 {
        for (name, span) in pieces(law) {
            stages.push(Stage { name, start });
            start += span;
        }
        if stages.len() > STAGES_MAX {
            return vec![Stage {
                name: shortened(&sequence.to_string()),
                start: Nanos::ZERO,
            }];
        }
    }
    stages
}

/// The beginning of a text that is too long for a name.
fn shortened(text: &str) -> String {
    match text.chars().count() {
        0..=NAME_MAX => text.to_owned(),
        _ => text.chars().take(NAME_MAX - 1).chain(['…']).collect(),
    }
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

/// The rates of a `step`, from the first to the last, at most one more than the limit.
fn steps(from: Rate, to: Rate, by: Rate) -> impl Iterator<Item = f64> {
    let [from, to, by] = [from, to, by].map(Rate::as_per_second);
    // Only complete steps count; the small term allows for rounding of fractional rates.
    let changes = ((to - from).abs() / by + 1e-9).floor();
    let changes = (changes.max(0.0) as usize).min(STAGES_MAX);
    (0..=changes).map(move |k| from + (to - from).signum() * k as f64 * by)
}

/// A count with its noun.
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
            (
                "const(50,1s) once(100) const(50,1s)",
                &[("50/s", 0), ("100 at once", 1_000), ("50/s", 1_000)],
            ),
            ("step(1,1000000,1,1s)", &[("step(1/s,1000000/s,1/s,1s)", 0)]),
        ] {
            assert_eq!(stages(law), named(expected), "{law}");
        }
    }
}
