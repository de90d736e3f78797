//! What k6 prints about scenarios before a run, and what they require: time and users.

use drumfire_units::Nanos;

use crate::executor::{Executor, Users};
use crate::inspect::go_duration;
use crate::scenario::Scenario;
use crate::starts::{Change, changes};

/// What all scenarios of a run require.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Requirements {
    /// The longest time from the start of the run to the end of the last scenario, with its graceful stop.
    pub duration_max: Nanos,
    /// The most users at the same time.
    pub users_max: u64,
}

impl Requirements {
    /// The requirements of scenarios.
    #[must_use]
    pub fn of(scenarios: &[Scenario]) -> Self {
        let duration_max = scenarios.iter().map(end).max().unwrap_or_default();
        let mut changes: Vec<(Nanos, i64)> = scenarios.iter().flat_map(user_changes).collect();
        // At one time users leave before others come.
        changes.sort_unstable();
        let (mut users, mut most) = (0, 0);
        for (_, change) in changes {
            users += change;
            most = most.max(users);
        }
        Self {
            duration_max,
            users_max: u64::try_from(most).unwrap_or(0),
        }
    }
}

/// The lines that describe the scenarios, in the order of their start, each with a line end.
#[must_use]
pub fn describe_scenarios(scenarios: &[Scenario]) -> String {
    let Requirements {
        duration_max,
        users_max,
    } = Requirements::of(scenarios);
    let count = scenarios.len();
    let plural = if count == 1 { "" } else { "s" };
    let mut text = format!(
        "     scenarios: (100.00%) {count} scenario{plural}, {users_max} max VUs, {} max duration (incl. graceful stop):\n",
        go_duration(duration_max)
    );
    let mut sorted: Vec<&Scenario> = scenarios.iter().collect();
    sorted.sort_by(|one, other| (one.start, &one.name).cmp(&(other.start, &other.name)));
    for scenario in sorted {
        text.push_str(&format!(
            "              * {}: {}\n",
            scenario.name,
            line(scenario)
        ));
    }
    text
}

/// What a scenario does, in one line.
fn line(scenario: &Scenario) -> String {
    let executor = &scenario.executor;
    let time = go_duration(executor.duration());
    let mut details = Vec::new();
    let what = match executor {
        Executor::SharedIterations {
            users, iterations, ..
        } => {
            details.push(format!("maxDuration: {time}"));
            format!("{iterations} iterations shared among {users} VUs")
        }
        Executor::PerUserIterations {
            users, iterations, ..
        } => {
            details.push(format!("maxDuration: {time}"));
            format!("{iterations} iterations for each of {users} VUs")
        }
        Executor::ConstantUsers { users, .. } => format!("{users} looping VUs for {time}"),
        Executor::RampingUsers {
            stages,
            graceful_ramp_down,
            ..
        } => {
            details.push(format!(
                "gracefulRampDown: {}",
                go_duration(*graceful_ramp_down)
            ));
            format!(
                "Up to {} looping VUs for {time} over {} stages",
                executor.users_max(),
                stages.len()
            )
        }
        Executor::ConstantArrivals {
            rate, unit, users, ..
        } => {
            details.push(users_text(*users));
            format!("{:.2} iterations/s for {time}", per_second(*rate, *unit))
        }
        Executor::RampingArrivals {
            start,
            unit,
            stages,
            users,
        } => {
            details.push(users_text(*users));
            let most = stages
                .iter()
                .fold(*start, |most, stage| most.max(stage.target));
            format!(
                "Up to {:.2} iterations/s for {time} over {} stages",
                per_second(most, *unit),
                stages.len()
            )
        }
    };
    details.extend(shared_details(scenario));
    if details.is_empty() {
        what
    } else {
        format!("{what} ({})", details.join(", "))
    }
}

/// What scenarios of all executors have.
fn shared_details(scenario: &Scenario) -> Vec<String> {
    let mut details = Vec::new();
    if scenario.exec != "default" {
        details.push(format!("exec: {}", scenario.exec));
    }
    if scenario.start > Nanos::ZERO {
        details.push(format!("startTime: {}", go_duration(scenario.start)));
    }
    if scenario.graceful_stop > Nanos::ZERO {
        details.push(format!(
            "gracefulStop: {}",
            go_duration(scenario.graceful_stop)
        ));
    }
    details
}

fn users_text(users: Users) -> String {
    if users.max > users.allocated {
        format!("maxVUs: {}-{}", users.allocated, users.max)
    } else {
        format!("maxVUs: {}", users.allocated)
    }
}

fn per_second(rate: u64, unit: Nanos) -> f64 {
    rate as f64 * 1e9 / unit.0 as f64
}

/// The end of a scenario with its graceful stop.
fn end(scenario: &Scenario) -> Nanos {
    let regular = scenario
        .start
        .0
        .saturating_add(scenario.executor.duration().0);
    Nanos(regular.saturating_add(scenario.graceful_stop.0))
}

/// When users of a scenario come (1) and leave (−1), at the latest.
fn user_changes(scenario: &Scenario) -> Vec<(Nanos, i64)> {
    let end = end(scenario);
    if let Executor::RampingUsers {
        start,
        stages,
        graceful_ramp_down,
    } = &scenario.executor
    {
        let steps = changes(*start, stages);
        return ramp_changes(&steps, scenario.start, *graceful_ramp_down, end);
    }
    let users = i64::try_from(scenario.executor.users_max()).unwrap_or(i64::MAX);
    vec![(scenario.start, users), (end, -users)]
}

/// The changes of a ramp: a user stays for the grace after it is no longer planned, and one that is planned
/// again within that time is the same user.
fn ramp_changes(steps: &[Change], start: Nanos, grace: Nanos, end: Nanos) -> Vec<(Nanos, i64)> {
    let mut changes = Vec::new();
    // For each user: when it leaves, if it is no longer planned.
    let mut leaves: Vec<Option<Nanos>> = Vec::new();
    let mut planned = 0;
    for step in steps {
        let at = Nanos(start.0.saturating_add(step.at.0));
        let count = usize::try_from(step.users).unwrap_or(usize::MAX);
        for user in planned..count {
            match leaves.get_mut(user) {
                None => {
                    leaves.push(None);
                    changes.push((at, 1));
                }
                Some(leave) => {
                    if let Some(left) = leave.take().filter(|left| *left <= at) {
                        changes.extend([(left, -1), (at, 1)]);
                    }
                }
            }
        }
        for leave in leaves.iter_mut().take(planned).skip(count) {
            *leave = Some(end.min(Nanos(at.0.saturating_add(grace.0))));
        }
        planned = count;
    }
    changes.extend(leaves.into_iter().map(|leave| (leave.unwrap_or(end), -1)));
    changes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::{Layer, Options};

    fn scenarios(text: &str) -> Vec<Scenario> {
        let options = serde_json::from_str(text).expect("JSON");
        Options::consolidate(&[(Layer::Script, options)])
            .expect("options")
            .scenarios
    }

    const MANY: &str = r#"{ "scenarios": {
        "cv": { "executor": "constant-vus", "vus": 2, "duration": "90s", "gracefulStop": "0s" },
        "car": { "executor": "constant-arrival-rate", "rate": 5, "timeUnit": "2s", "duration": "1m", "preAllocatedVUs": 2,
            "maxVUs": 10, "exec": "other", "startTime": "1s", "gracefulStop": "1s" },
        "car2": { "executor": "constant-arrival-rate", "rate": 7, "timeUnit": "3s", "duration": "1m", "preAllocatedVUs": 2 },
        "rar": { "executor": "ramping-arrival-rate", "startRate": 3, "timeUnit": "1m", "preAllocatedVUs": 2,
            "stages": [{ "duration": "10s", "target": 120 }, { "duration": "10s", "target": 30 }] },
        "rv": { "executor": "ramping-vus", "stages": [{ "duration": "1m", "target": 50 }, { "duration": "30s", "target": 3 },
            { "duration": "30s", "target": 0 }] },
        "rv1": { "executor": "ramping-vus", "startVUs": 0, "gracefulRampDown": "0s", "stages": [{ "duration": "1m", "target": 5 }] },
        "si": { "executor": "shared-iterations", "vus": 2, "iterations": 10 },
        "pv": { "executor": "per-vu-iterations", "vus": 1, "iterations": 5, "maxDuration": "61s" },
        "pv1": { "executor": "per-vu-iterations", "startTime": "61s" } } }"#;

    /// What k6 v2.2 prints for these scenarios.
    const LINES: &str = "     scenarios: (100.00%) 9 scenarios, 73 max VUs, 11m31s max duration (incl. graceful stop):
              * car2: 2.33 iterations/s for 1m0s (maxVUs: 2, gracefulStop: 30s)
              * cv: 2 looping VUs for 1m30s
              * pv: 5 iterations for each of 1 VUs (maxDuration: 1m1s, gracefulStop: 30s)
              * rar: Up to 2.00 iterations/s for 20s over 2 stages (maxVUs: 2, gracefulStop: 30s)
              * rv: Up to 50 looping VUs for 2m0s over 3 stages (gracefulRampDown: 30s, gracefulStop: 30s)
              * rv1: Up to 5 looping VUs for 1m0s over 1 stages (gracefulRampDown: 0s, gracefulStop: 30s)
              * si: 10 iterations shared among 2 VUs (maxDuration: 10m0s, gracefulStop: 30s)
              * car: 2.50 iterations/s for 1m0s (maxVUs: 2-10, exec: other, startTime: 1s, gracefulStop: 1s)
              * pv1: 1 iterations for each of 1 VUs (maxDuration: 10m0s, startTime: 1m1s, gracefulStop: 30s)
";

    #[test]
    fn scenarios_are_described_as_k6_does() {
        assert_eq!(describe_scenarios(&scenarios(MANY)), LINES);
        let one = describe_scenarios(&scenarios(r#"{ "vus": 2, "iterations": 3 }"#));
        assert!(
            one.starts_with("     scenarios: (100.00%) 1 scenario, 2 max VUs, 10m30s max duration"),
            "{one}"
        );
    }

    #[test]
    fn users_that_come_back_in_time_are_the_same() {
        let ramp = |grace: &str| {
            let text = format!(
                r#"{{ "scenarios": {{ "a": {{ "executor": "ramping-vus", "startVUs": 4, "gracefulRampDown": "{grace}", "gracefulStop": "0s",
                    "stages": [{{ "duration": "1s", "target": 4 }}, {{ "duration": "0s", "target": 1 }}, {{ "duration": "5s", "target": 1 }}, {{ "duration": "0s", "target": 3 }},
                        {{ "duration": "1s", "target": 3 }}] }},
                    "b": {{ "executor": "constant-vus", "vus": 2, "duration": "1s", "startTime": "4s", "gracefulStop": "0s" }} }} }}"#
            );
            Requirements::of(&scenarios(&text))
        };
        let duration_max = Nanos(7_000_000_000);
        assert_eq!(
            ramp("0s"),
            Requirements {
                duration_max,
                users_max: 4
            }
        );
        assert_eq!(
            ramp("10s"),
            Requirements {
                duration_max,
                users_max: 6
            }
        );
    }
}
