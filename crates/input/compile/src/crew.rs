//! The users of a pool: their number, and the times at which they start.
//!
//! A load can set a number, a law of the number over time (`users: line(1,100,1m)`), or a law of
//! starts (`start: const(10/s,5s)`), with or without a number. All become [`UserSteps`], a list of
//! changes in order of time. The list has an entry for each start, so [`STARTS_MAX`] bounds the
//! number of starts.
//!
//! A law of the number may rise and fall, and its end is the end of the load. Starts only add
//! users, and these stay until something else ends the run. Neither can follow a trace, because a
//! trace contains the times of requests.

use crate::scope::Scope;
use drumfire_document::{Load as Written, Text};
use drumfire_plan::{Arrivals, UserSteps};
use drumfire_schedule::Schedule;
use drumfire_units::Nanos;

/// The maximum number of users that start one by one. Each is an entry of 16 bytes in the plan.
const STARTS_MAX: u64 = 10_000_000;

/// The users of a pool, if its load sets them.
#[derive(Default)]
pub(crate) struct Crew {
    /// The number of users over time.
    pub(crate) users: Option<UserSteps>,
    /// The end of their law, if it has one, at which the load ends as well.
    pub(crate) end: Option<Nanos>,
}

/// The users that a load sets; empty if it sets neither a number nor a law.
pub(crate) fn compile_crew(written: &Written, scope: &mut Scope<'_>) -> Crew {
    match &written.start {
        None => by_number(written.users.as_ref(), scope),
        Some(start) => Crew {
            users: by_starts(start, written.users.as_ref(), scope),
            end: None,
        },
    }
}

/// Users that start one by one according to a law. Their number is the number of the law's starts, or
/// the number written next to the law.
fn by_starts(start: &Text, number: Option<&Text>, scope: &mut Scope<'_>) -> Option<UserSteps> {
    let most = match number {
        None => None,
        Some(text) => {
            let count = text.value.parse::<u32>().map_err(
                |_| "with `start`, the number of users is a maximum; write a number such as 50",
            );
            Some(scope.found.ok(&text.place, count)?)
        }
    };
    let mut no_trace = |_: &str| {
        Err("users can't start from a trace; use `once`, `const`, `step` or `line`".to_owned())
    };
    let law = scope.law(start, &mut no_trace)?;
    let schedule = Schedule::new(&law, Arrivals::Constant, 0).map_err(|error| error.to_string());
    let schedule = scope.found.ok(&start.place, schedule)?;
    scope.found.ok(&start.place, starts(&schedule, most))
}

/// The users of a schedule of starts. If a number is also written, the law must have at least that
/// many starts; otherwise the run would never reach the written load.
///
/// Starts at the same instant form one change. The list begins with 0 users at the start of the
/// run.
fn starts(schedule: &Schedule, most: Option<u32>) -> Result<UserSteps, String> {
    let brought = schedule.total();
    let count = match (brought, most) {
        (Some(brought), None) => brought,
        (None, None) => {
            return Err(
                "the law starts users without an end; set `users` to their maximum number, or \
                 write a law that ends, such as const(10/s,5s)"
                    .to_owned(),
            );
        }
        (Some(brought), Some(most)) if brought < u64::from(most) => {
            return Err(format!(
                "the law starts only {brought} of the {most} users; make it longer, or reduce \
                 `users`"
            ));
        }
        (_, Some(most)) => u64::from(most),
    };
    if count > STARTS_MAX {
        return Err("a pool has at most 10,000,000 users; write fewer".to_owned());
    }
    let mut changes: Vec<(Nanos, u32)> = vec![(Nanos::ZERO, 0)];
    for number in 0..count {
        let at = schedule.start_of(number).unwrap_or(Nanos::MAX);
        // `number` is at most `STARTS_MAX`.
        let present = number as u32 + 1;
        match changes.last_mut() {
            Some(last) if last.0 == at => last.1 = present,
            _ => changes.push((at, present)),
        }
    }
    let users = UserSteps::changing(changes).filter(|users| users.most() > 0);
    users.ok_or_else(|| "the law starts no users; write one such as once(10)".to_owned())
}

/// A number of users, or a law of their number over time.
fn by_number(text: Option<&Text>, scope: &mut Scope<'_>) -> Crew {
    let Some(text) = text else {
        return Crew::default();
    };
    let crew = match text.value.parse::<u32>() {
        Ok(count) => Crew {
            users: Some(UserSteps::constant(count)),
            end: None,
        },
        Err(_) if text.value.contains('(') => by_law(text, scope).unwrap_or_default(),
        Err(_) => {
            let shown = text.value.escape_debug();
            let message = format!(
                "`{shown}` is not a number of users; write one such as 10, or a law such as \
                 line(1,100,1m)"
            );
            scope.found.add(&text.place, message);
            return Crew::default();
        }
    };
    let absent = crew.users.as_ref().is_some_and(|users| users.most() == 0);
    let message = "a run needs at least one user";
    scope.found.add_if(absent, &text.place, message);
    crew
}

/// Users by a law of their number. A law without an end does not end the load.
fn by_law(text: &Text, scope: &mut Scope<'_>) -> Option<Crew> {
    let mut no_trace =
        |_: &str| Err("users can't follow a trace; use `const`, `step` or `line`".to_owned());
    let law = scope.law(text, &mut no_trace)?;
    let (users, end) = scope.found.ok(&text.place, UserSteps::of_law(&law))?;
    Some(Crew {
        users: Some(users),
        end: (end < Nanos::MAX).then_some(end),
    })
}
