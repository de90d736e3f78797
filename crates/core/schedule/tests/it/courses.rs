//! Courses: laws that replace each other, pauses, and shares whose union is the whole.

use crate::random_laws::{any_arrivals, any_sequence};
use drumfire_plan::{Arrivals, Law, Sequence};
use drumfire_schedule::{Course, CourseChange, Due, Next, Schedule};
use drumfire_units::{Nanos, Rate};
use proptest::prelude::*;

const MILLI: u64 = 1_000_000;

/// A change with a law that is not compiled yet.
#[derive(Clone, Debug)]
enum Change {
    Follow(Sequence),
    Pause,
    Resume,
}

/// A first law, and changes with their times, ascending.
#[derive(Clone, Debug)]
struct Script {
    first: Sequence,
    kind: Arrivals,
    seed: u64,
    changes: Vec<(u64, Change)>,
}

impl Script {
    fn schedule(&self, law: &Sequence, number: u64) -> Schedule {
        Schedule::new(law, self.kind, self.seed ^ number).expect("a schedule")
    }

    /// The changes with their schedules. Each schedule has a number, so that each has a separate
    /// seed.
    fn changes(&self) -> Vec<(Nanos, CourseChange)> {
        let compiled = |((at, change), number): (&(u64, Change), u64)| {
            let change = match change {
                Change::Follow(law) => CourseChange::Follow(self.schedule(law, number)),
                Change::Pause => CourseChange::Pause,
                Change::Resume => CourseChange::Resume,
            };
            (Nanos(*at), change)
        };
        self.changes.iter().zip(1..).map(compiled).collect()
    }

    fn course(&self, worker: u32, of: u32) -> Course {
        Course::new(self.schedule(&self.first, 0), worker, of)
    }
}

fn any_script() -> impl Strategy<Value = Script> {
    let change = prop_oneof![
        2 => any_sequence().prop_map(Change::Follow),
        1 => Just(Change::Pause),
        1 => Just(Change::Resume),
    ];
    let changes = proptest::collection::vec((0..900 * MILLI, change), 0..8);
    (any_sequence(), any_arrivals(), any::<u64>(), changes).prop_map(
        |(first, kind, seed, changes)| {
            let mut changes = changes;
            changes.sort_by_key(|(at, _)| *at);
            Script {
                first,
                kind,
                seed,
                changes,
            }
        },
    )
}

/// Takes all arrivals due before `end`.
fn take_before(course: &mut Course, end: Nanos, taken: &mut Vec<Due>) {
    loop {
        assert!(taken.len() < 1_000_000, "runs on");
        match course.peek() {
            Next::At(due) if due.at < end => {
                taken.push(due);
                course.advance();
            }
            Next::At(_) => return,
            Next::Unlimited { .. } | Next::End => {
                if !course.pass(end) {
                    return;
                }
            }
        }
    }
}

fn walk(mut course: Course) -> Vec<Due> {
    let mut taken = Vec::new();
    take_before(&mut course, Nanos::MAX, &mut taken);
    taken
}

fn walk_all(script: &Script, worker: u32, of: u32, limit: u64) -> Vec<Due> {
    let mut course = script.course(worker, of).limit(limit);
    for (at, change) in script.changes() {
        course.change(at, change);
    }
    walk(course)
}

/// The expected arrivals, by an independent implementation of the rule: each law's arrivals from
/// its whole schedule, moved by the pauses and cut off at the start of the next law.
fn expected(script: &Script) -> Vec<Due> {
    let mut due = Vec::new();
    let mut begins = vec![(0, &script.first, 0)];
    for ((at, change), number) in script.changes.iter().zip(1..) {
        if let Change::Follow(law) = change {
            begins.push((*at, law, number));
        }
    }
    let pauses = pauses(script);
    for (k, (begin, law, number)) in begins.iter().enumerate() {
        let end = begins.get(k + 1).map_or(u64::MAX, |(at, _, _)| *at);
        let mut segment = script.schedule(law, *number).segment(0, 1);
        while segment.peek() != Next::End {
            if let Next::At(Due { at, .. }) = segment.peek() {
                let mut time = begin + at.0;
                for (from, until) in &pauses {
                    let from = (*from).max(*begin);
                    if until > begin && time >= from {
                        time = time.saturating_add(until - from);
                    }
                }
                if time < end {
                    due.push(time);
                }
            }
            segment.advance();
        }
    }
    let numbered = due.into_iter().zip(0..);
    numbered
        .map(|(at, index)| Due {
            index,
            at: Nanos(at),
        })
        .collect()
}

/// The times during which the clock is stopped; the last pause may have no end.
fn pauses(script: &Script) -> Vec<(u64, u64)> {
    let mut pauses: Vec<(u64, u64)> = Vec::new();
    for (at, change) in &script.changes {
        let stands = pauses.last().is_some_and(|(_, until)| *until == u64::MAX);
        match change {
            Change::Pause if !stands => pauses.push((*at, u64::MAX)),
            Change::Resume if stands => {
                if let Some(last) = pauses.last_mut() {
                    last.1 = *at;
                }
            }
            _ => {}
        }
    }
    pauses
}

proptest! {
    #[test]
    fn a_course_is_its_laws_moved_past_the_pauses(script in any_script()) {
        let never = |due: &Due| due.at == Nanos::MAX;
        let mut expected = expected(&script);
        expected.retain(|due| !never(due));
        prop_assert_eq!(walk_all(&script, 0, 1, u64::MAX), expected);
    }

    #[test]
    fn a_law_that_runs_on_ends_when_the_one_before_would_have(
        first in any_sequence(),
        kind in any_arrivals(),
        rate in 1..5_000_u64,
        at in 0..900 * MILLI,
        pause in (0..500 * MILLI, 0..500 * MILLI),
    ) {
        let end = Schedule::new(&first, kind, 1).expect("a schedule").duration();
        let rest = end.expect("its laws end") - Nanos(at);
        prop_assume!(rest > Nanos::ZERO);
        let script = |duration| {
            let rate = Rate::per_second(rate);
            let follows = Sequence(vec![Law::Const { rate, duration }]);
            let paused = at + pause.0;
            Script {
                first: first.clone(),
                kind,
                seed: 1,
                changes: vec![
                    (at, Change::Follow(follows)),
                    (paused, Change::Pause),
                    (paused + pause.1, Change::Resume),
                ],
            }
        };
        let runs_on = walk_all(&script(Nanos::MAX), 0, 1, u64::MAX);
        prop_assert_eq!(runs_on, walk_all(&script(rest), 0, 1, u64::MAX));
    }

    #[test]
    fn the_union_of_the_shares_is_the_whole(
        script in any_script(),
        of in 1_u32..8,
        limit in prop_oneof![2 => Just(u64::MAX), 1 => 0..200_u64],
    ) {
        let whole = walk_all(&script, 0, 1, limit);
        let mut union = Vec::new();
        for worker in 0..of {
            let own = walk_all(&script, worker, of, limit);
            prop_assert!(own.iter().all(|due| due.index % u64::from(of) == u64::from(worker)));
            prop_assert!(own.is_sorted_by_key(|due| (due.at, due.index)));
            union.extend(own);
        }
        union.sort_by_key(|due| due.index);
        prop_assert_eq!(union, whole);
    }

    /// A change may be added at any time before it takes effect.
    #[test]
    fn a_change_may_be_given_late(script in any_script(), of in 1_u32..4, lead in 0..300 * MILLI) {
        for worker in 0..of {
            let mut course = script.course(worker, of);
            let mut taken = Vec::new();
            for (at, change) in script.changes() {
                take_before(&mut course, at - Nanos(lead), &mut taken);
                course.change(at, change);
            }
            take_before(&mut course, Nanos::MAX, &mut taken);
            prop_assert_eq!(taken, walk_all(&script, worker, of, u64::MAX));
        }
    }

    #[test]
    fn skipping_is_walking(
        script in any_script(),
        of in 1_u32..4,
        mut ends in proptest::collection::vec(0..1_500 * MILLI, 1..6),
    ) {
        let mut walking = script.course(0, of);
        for (at, change) in script.changes() {
            walking.change(at, change);
        }
        let mut skipping = walking.clone();
        ends.sort_unstable();
        for end in ends.into_iter().map(Nanos) {
            let mut taken = Vec::new();
            take_before(&mut walking, end, &mut taken);
            prop_assert_eq!(skipping.skip_before(end), taken.len() as u64);
            prop_assert_eq!(skipping.peek(), walking.peek());
        }
        prop_assert_eq!(walk(skipping), walk(walking));
    }
}

fn constant(rate: u64, duration: Nanos) -> Sequence {
    Sequence(vec![Law::Const {
        rate: Rate::per_second(rate),
        duration,
    }])
}

fn even(law: &Sequence) -> Schedule {
    Schedule::new(law, Arrivals::Constant, 0).expect("a schedule")
}

/// 10/s, then 100/s from 1.05 s, and a pause from 1.075 s to 2 s.
#[test]
fn a_law_follows_at_its_time_and_goes_on_where_it_stood() {
    let mut course = Course::new(even(&constant(10, Nanos::MAX)), 0, 1).limit(17);
    course.change(
        Nanos(1_050 * MILLI),
        CourseChange::Follow(even(&constant(100, Nanos::MAX))),
    );
    course.change(Nanos(1_075 * MILLI), CourseChange::Pause);
    course.change(Nanos(2_000 * MILLI), CourseChange::Resume);
    let at: Vec<u64> = walk(course).iter().map(|due| due.at.0 / MILLI).collect();
    let first = [0, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1000];
    assert_eq!(at[..11], first);
    assert_eq!(at[11..], [1050, 1060, 1070, 2005, 2015, 2025]);
}

#[test]
fn the_end_moves_with_pauses_and_laws() {
    let second = Nanos::from_secs(1);
    let mut course = Course::new(even(&constant(10, second)), 1, 3);
    assert_eq!(course.end(), Some(second));
    course.change(Nanos(500 * MILLI), CourseChange::Pause);
    assert_eq!(course.end(), None, "who knows until when");
    course.skip_before(Nanos(500 * MILLI));
    assert!(!course.is_exhausted(), "it goes on some day");
    course.change(Nanos(700 * MILLI), CourseChange::Resume);
    course.skip_before(Nanos(800 * MILLI));
    assert_eq!(course.end(), Some(Nanos(1_200 * MILLI)));
    course.change(
        Nanos(1_200 * MILLI),
        CourseChange::Follow(even(&constant(1, second))),
    );
    assert_eq!(course.end(), None, "at its end another law follows");
    course.skip_before(Nanos(1_300 * MILLI));
    assert_eq!(course.end(), Some(Nanos(2_200 * MILLI)));
    course.change(
        Nanos(2_201 * MILLI),
        CourseChange::Follow(even(&constant(1, second))),
    );
    assert!(
        course.is_exhausted(),
        "what follows later than the end does not"
    );
}
