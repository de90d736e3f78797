//! Facts about an agent's clock besides its measured offset: the state of its system's clock, and
//! when the load started.

use drumfire_measure::form;
use drumfire_units::{Nanos, rounded};

/// The facts about an agent's clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClockFacts {
    /// The error of the system's wall clock by the system's own estimate. `Some(None)` means that
    /// the wall clock is not synchronised, and `None` that the system does not report its state.
    pub system: Option<Option<Nanos>>,
    /// The time from the scheduled start to the time at which the workers started.
    pub late: Option<Nanos>,
    /// The wall clock's reading at the epoch of the agent's clock, in nanoseconds since 1970, if
    /// known.
    pub unix_ns: Option<u64>,
}

form! { struct ClockFacts { system, late, unix_ns } }

/// The note about the start of agents, each with the bound of its clock's offset.
pub(crate) fn start_note(agents: &[(Option<Nanos>, ClockFacts)]) -> String {
    let count = agents.len();
    let mut bounds: Vec<Nanos> = agents.iter().filter_map(|(bound, _)| *bound).collect();
    bounds.sort_unstable();
    // Two clocks differ at most by the sum of the two widest bounds.
    let widest = bounds.iter().rev().take(2);
    let apart = widest.fold(Nanos::ZERO, |sum, it| sum + *it);
    let shown = |time: Nanos| rounded::time(time.0 as f64);
    let lates: Option<Vec<Nanos>> = agents.iter().map(|(_, facts)| facts.late).collect();
    let late = lates.and_then(|lates| lates.into_iter().max());
    let begun = late.map_or_else(String::new, |late| {
        let (within, late) = (shown(apart + late), shown(late));
        format!(", and the latest started {late} late: all started within {within} of each other")
    });
    let apart = shown(apart);
    format!(
        "{count} agents were scheduled to start together; their clocks agree within {apart}{begun}"
    )
}

/// The note about the system clocks of agents, by name; `None` if no system reports its state.
pub(crate) fn system_note(agents: &[(&str, ClockFacts)]) -> Option<String> {
    let known = agents.iter().filter(|(_, facts)| facts.system.is_some());
    let known: Vec<_> = known.collect();
    let errors = known.iter().filter_map(|(_, facts)| facts.system.flatten());
    let (synchronised, error) = (errors.clone().count(), errors.max());
    let missing: Vec<&str> = known
        .iter()
        .filter(|(_, facts)| facts.system == Some(None))
        .map(|(agent, _)| *agent)
        .collect();
    let of = known.len();
    let within = error.map_or_else(String::new, |error| {
        format!(
            ", within {} by its own estimate",
            rounded::time(error.0 as f64)
        )
    });
    let not = match missing.as_slice() {
        [] => String::new(),
        names => format!("; not on {}", names.join(", ")),
    };
    (of > 0).then(|| {
        format!("the system clock is synchronised on {synchronised} of {of} agents{within}{not}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_widest_bounds_and_the_latest_start_count() {
        let facts = |late: u64| ClockFacts {
            late: Some(Nanos::from_micros(late)),
            ..ClockFacts::default()
        };
        let agents = [10, 30, 20].map(|bound| (Some(Nanos::from_micros(bound)), facts(bound)));
        let note = start_note(&agents);
        assert!(note.contains("their clocks agree within 50.0 µs"), "{note}");
        assert!(note.contains("the latest started 30.0 µs late"), "{note}");
        assert!(
            note.contains("all started within 80.0 µs of each other"),
            "{note}"
        );
        let unknown = [agents[0], (None, ClockFacts::default())];
        assert!(!start_note(&unknown).contains("the latest started"));
    }

    #[test]
    fn systems_without_a_clock_that_is_kept_are_named() {
        let of = |system| ClockFacts {
            system,
            unix_ns: Some(1 << 60),
            late: None,
        };
        let good = of(Some(Some(Nanos::from_millis(2))));
        let agents = [("a", good), ("b", of(Some(None))), ("c", of(None))];
        let note = system_note(&agents).unwrap();
        assert!(note.contains("1 of 2 agents, within 2.00 ms"), "{note}");
        assert!(note.ends_with("; not on b"), "{note}");
        assert_eq!(system_note(&agents[2..]), None);
    }
}
