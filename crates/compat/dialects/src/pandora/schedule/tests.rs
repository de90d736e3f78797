//! Pandora's own test tables of schedules (`core/schedule/*_test.go`) as data, and the differences.

use super::super::mistakes::Mistakes;
use super::super::value::{self, Format, Value};
use super::*;
use drumfire_document::Bare;
use drumfire_plan::{Arrivals, Sequence};
use drumfire_schedule::Schedule as Starts;

fn read(yaml: &str) -> (Schedule, Vec<String>) {
    let mistakes = Mistakes::default();
    let json = value::read(Format::Yaml, yaml).unwrap();
    let value: Value = value::filled(json, "rps", &Bare, &mistakes);
    let entry = Entry {
        path: "rps".to_owned(),
        value: &value,
        mistakes: &mistakes,
    };
    let schedule = Schedule::read(&entry);
    (schedule, mistakes.into_inner())
}

/// The instants of a law in milliseconds, as drumfire's schedule computes them.
fn instants(law: &str) -> Vec<u64> {
    let rate: Sequence = law.parse().unwrap();
    let starts = Starts::new(&rate, Arrivals::Constant, 1).unwrap();
    (0..)
        .map_while(|n| starts.start_of(n))
        .map(|at| at.0 / 1_000_000)
        .collect()
}

/// Checks schedules: each has a law, whose requests are due at these milliseconds.
fn check(table: Vec<(&str, &str, Vec<u64>)>) {
    for (yaml, law, wanted) in table {
        let (schedule, mistakes) = read(yaml);
        assert!(mistakes.is_empty(), "{yaml}: {mistakes:?}");
        let made = schedule.law();
        assert_eq!(made.as_deref().unwrap_or_default(), law, "{yaml}");
        assert_eq!(
            made.map_or_else(Vec::new, |law| instants(&law)),
            wanted,
            "{yaml}"
        );
    }
}

#[test]
fn shots_are_due_when_pandora_says_so() {
    check(vec![
        (
            "{type: const, ops: 1, duration: 2s}",
            "const(1,2s)",
            vec![0, 1000],
        ),
        (
            "{type: const, ops: 5, duration: 1100ms}",
            "const(5,990ms) const(0,110ms)",
            vec![0, 200, 400, 600, 800],
        ),
        ("{type: const, ops: 0.1, duration: 5s}", "", vec![]),
        ("{type: const, ops: 0, duration: 5s}", "", vec![]),
        (
            "{type: line, from: 2, to: 8, duration: 2s}",
            "line(2,8,2s)",
            vec![0, 387, 666, 896, 1097, 1276, 1441, 1594, 1737, 1871],
        ),
        ("{type: line, from: 0, to: 1.999, duration: 1s}", "", vec![]),
        (
            "{type: line, from: 5, to: 5, duration: 1s}",
            "const(5,1s)",
            vec![0, 200, 400, 600, 800],
        ),
        ("{type: once, times: 3}", "once(3)", vec![0, 0, 0]),
        (
            "{type: step, from: 1, to: 2, step: 1, duration: 2s}",
            "const(1,2s) const(2,2s)",
            vec![0, 1000, 2000, 2500, 3000, 3500],
        ),
        (
            "{type: step, from: 10, to: 35, step: 10, duration: 100ms}",
            "const(10,100ms) const(20,100ms) const(30,100ms)",
            vec![0, 100, 150, 200, 233, 266],
        ),
        (
            "{type: instance_step, from: 1, to: 3, step: 1, stepduration: 1s}",
            "once(1) const(0,1s) once(1) const(0,1s) once(1)",
            vec![0, 1000, 2000],
        ),
        (
            "[{type: once, times: 1}, {type: const, ops: 1, duration: 2s}, {type: const, ops: 0, duration: 5s}, {type: once, times: 2}]",
            "once(1) const(1,2s) const(0,5s) once(2)",
            vec![0, 0, 1000, 7000, 7000],
        ),
        (
            "{type: composite, nested: [{type: once, times: 1}, [{type: once, times: 1}]]}",
            "once(1) once(1)",
            vec![0, 0],
        ),
    ]);
}

#[test]
fn what_pandora_gets_wrong_is_right() {
    check(vec![
        // Pandora sends 22 and 0 requests, because it truncates the span to whole seconds.
        (
            "{type: line, from: 0, to: 4, duration: 1500ms}",
            "line(0,4,1s500ms)",
            vec![0, 866, 1224],
        ),
        (
            "{type: line, from: 0, to: 8, duration: 500ms}",
            "line(0,8,500ms)",
            vec![0, 353],
        ),
        // Pandora sends no requests.
        (
            "{type: step, from: 2, to: 1, step: 1, duration: 1s}",
            "const(2,1s) const(1,1s)",
            vec![0, 500, 1000],
        ),
        ("[]", "", vec![]),
    ]);
}

#[test]
fn parts_of_shots_at_a_pieces_end_are_not_shot() {
    for (yaml, count) in [
        ("{type: line, from: 0, to: 19, duration: 1s}", 9),
        ("{type: line, from: 19, to: 0, duration: 1s}", 9),
        ("{type: line, from: 1, to: 1000, duration: 777ms}", 388),
        ("{type: const, ops: 33.3, duration: 10s}", 333),
        ("{type: const, ops: 0.7, duration: 10s}", 7),
        ("{type: step, from: 1, to: 9, step: 2, duration: 333ms}", 5),
    ] {
        let (schedule, _) = read(yaml);
        let law = schedule.law().unwrap();
        assert_eq!(instants(&law).len(), count, "{yaml}: {law}");
    }
}

#[test]
fn laws_are_short() {
    for (yaml, law) in [
        (
            "{type: line, from: 1, to: 20, duration: 7s}",
            "line(1,19.81,6s930ms) const(0,70ms)",
        ),
        (
            "{type: line, from: 0, to: 19, duration: 1s}",
            "line(0,18.43,970ms) const(0,30ms)",
        ),
        (
            "{type: const, ops: 2.5, duration: 3s}",
            "const(2.5,2s700ms) const(0,300ms)",
        ),
        ("{type: const, ops: 4.35, duration: 20s}", "const(4.35,20s)"),
        (
            "{type: line, from: 1, to: 1000, duration: 777ms}",
            "line(1,998.002,775ms446us) const(0,1ms554us)",
        ),
    ] {
        let (schedule, _) = read(yaml);
        assert_eq!(schedule.law().unwrap(), law, "{yaml}");
    }
}

#[test]
fn instances_start_and_stay() {
    for (yaml, law, most) in [
        ("{type: once, times: 5}", "once(5)", 5),
        ("{type: const, ops: 1, duration: 3s}", "const(1,3s)", 3),
        (
            "{type: instance_step, from: 2, to: 6, step: 2, stepduration: 1s}",
            "once(2) const(0,1s) once(2) const(0,1s) once(2)",
            6,
        ),
        (
            "[{type: const, ops: 0, duration: 1s}, {type: once, times: 1}]",
            "const(0,1s) once(1)",
            1,
        ),
        (
            "{type: line, from: 0, to: 4, duration: 1s}",
            "line(0,4,1s)",
            2,
        ),
        ("[]", "", 0),
    ] {
        let (schedule, mistakes) = read(yaml);
        assert!(mistakes.is_empty(), "{yaml}: {mistakes:?}");
        let startup = schedule.startup().unwrap();
        assert_eq!((startup.law(), startup.most()), (law, most), "{yaml}");
    }
    for (yaml, at_once) in [
        ("{type: once, times: 5}", Some(5)),
        ("[{type: once, times: 5}, {type: once, times: 1}]", Some(6)),
        ("{type: const, ops: 1, duration: 3s}", None),
    ] {
        assert_eq!(read(yaml).0.startup().unwrap().at_once(), at_once, "{yaml}");
    }
    let started = read("{type: const, ops: 1, duration: 3s}")
        .0
        .startup()
        .unwrap();
    assert_eq!(started.started(Nanos::from_millis(999)), 1);
    assert_eq!(started.started(Nanos::from_secs(1)), 2);
    for yaml in [
        "{type: unlimited, duration: 1s}",
        "{type: once, times: 1000001}",
    ] {
        assert!(read(yaml).0.startup().is_err(), "{yaml}");
    }
}

#[test]
fn what_a_schedule_does_not_have_is_refused() {
    for (yaml, wanted) in [
        (
            "{type: cons, ops: 1}",
            "rps: no plugins of type core.Schedule has been registered for name cons; did you mean `const`?",
        ),
        (
            "{type: const, ops: 1, duration: 1s, from: 1}",
            "rps: has invalid keys: from",
        ),
        (
            "{type: const, ops: -1, duration: 1s}",
            "rps.ops: validation failed on the 'min' tag; use at least 0",
        ),
        (
            "{type: const, ops: 1}",
            "rps.duration: validation failed on the 'min-time' tag; use at least 1ms",
        ),
        (
            "{type: once}",
            "rps.times: validation failed on the 'min' tag; use at least 1",
        ),
        (
            "{type: step, from: 1, to: 2, duration: 1s}",
            "rps.step: validation failed on the 'min' tag; use at least 1",
        ),
        ("{ops: 1}", "rps: plugin type expected; add `type: …`"),
        ("5", "rps: expected a map, got 'int'"),
    ] {
        assert_eq!(read(yaml).1, [wanted], "{yaml}");
    }
}
