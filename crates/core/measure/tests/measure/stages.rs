//! The law and each applied order divide a run into stages.

use crate::samples::{self, ok};
use drumfire_measure::{Changed, Interval, Model, Reading, RunInfo, Summary};
use drumfire_plan::{Change, Command, Stage, UserSteps, Warmup};
use drumfire_units::Nanos;
use std::sync::Arc;

const SECOND: Nanos = Nanos::from_secs(1);
/// The number of requests that become due in each interval.
const EACH: u64 = 10;

/// An event of a run.
#[derive(Clone, Copy)]
enum Event<'a> {
    /// An interval ends at this millisecond, and this many requests became due in it.
    Until(u64, u64),
    /// An order applies from this millisecond on.
    Order(u64, Act<'a>),
    /// The run continues in a further part at this millisecond, with this law.
    Part(u64, &'a str),
}

#[derive(Clone, Copy)]
enum Act<'a> {
    Rate(&'a str),
    Users(u32),
    Pause,
    Resume,
}
use Act::{Pause, Rate, Resume};
use Event::{Order, Part, Until};

fn stages(law: &str) -> Vec<Stage> {
    let law = law.parse().expect("a law");
    Stage::begun_by(&Change::Rate { law })
}

fn changed(at: u64, act: Act<'_>) -> Changed {
    let command = Command {
        at: Nanos::from_millis(at),
        pool: None,
        change: match act {
            Rate(law) => Change::Rate {
                law: law.parse().expect("a law"),
            },
            Act::Users(count) => Change::Users {
                law: UserSteps::constant(count),
            },
            Pause => Change::Pause,
            Resume => Change::Resume,
        },
    };
    Changed::by(&command)
}

fn info(law: &str) -> RunInfo {
    let mut info = Arc::unwrap_or_clone(samples::run(Model::Open, &["all"]));
    info.pools[0].stages = stages(law);
    info
}

/// The reading of a run after these events. Every request ends where it begins.
fn reading(info: RunInfo, events: &[Event<'_>]) -> Reading {
    let mut reading = Reading::new(Arc::new(info.clone()), &[]);
    let mut interval = Interval::of_pools(&info.pools);
    let (mut index, mut end) = (0, Nanos::ZERO);
    for event in events {
        match *event {
            Until(millis, due) => {
                interval.reset(index, end);
                end = Nanos::from_millis(millis);
                interval.end = end;
                for n in 0..due {
                    let sample = ok(interval.start + Nanos(n), Nanos(1_000));
                    if sample.intended < info.warmup.span() {
                        interval.total.record_warmup(&sample);
                    } else {
                        interval.total.record_intended(1);
                        interval.total.record(&sample);
                    }
                }
                interval.sum_up();
                reading.absorb(&interval);
                index += 1;
            }
            Order(at, act) => reading.note_change(&changed(at, act)),
            Part(at, law) => {
                end = Nanos::from_millis(at);
                reading.begin_part(end, &self::info(law));
            }
        }
    }
    reading
}

/// The names of the stages, the second at which each begins, and the number of requests that ended
/// in it.
fn told(summary: &Summary) -> Vec<(String, u64, u64)> {
    let stages = summary.stages().into_iter();
    let told = stages.map(|it| (it.stage.name, it.row.start.0 / SECOND.0, it.row.good));
    told.collect()
}

fn check(law: &str, events: &[Event<'_>], expected: &[(&str, u64, u64)]) {
    let reading = reading(info(law), events);
    let summary = reading.so_far();
    let expected = expected
        .iter()
        .map(|(name, start, good)| ((*name).to_owned(), *start, *good));
    assert_eq!(told(summary), expected.collect::<Vec<_>>(), "{law}");
}

fn second(number: u64) -> Event<'static> {
    Until(number * 1_000, EACH)
}

#[test]
fn each_order_begins_a_stage() {
    let law = "const(50,2s) const(100,2s)";
    let [one, two, three, four, five] = [1, 2, 3, 4, 5].map(second);
    check(
        law,
        &[one, Order(1_600, Rate("80/s")), two, three, four],
        &[("50/s", 0, 20), ("80/s", 2, 20)],
    );
    // The law continues after the pause.
    check(
        law,
        &[
            one,
            Order(1_000, Pause),
            two,
            Order(2_000, Resume),
            three,
            four,
        ],
        &[
            ("50/s", 0, 10),
            ("paused", 1, 10),
            ("50/s", 2, 10),
            ("100/s", 3, 10),
        ],
    );
    // A law that is set during a pause begins at the pause's end.
    check(
        law,
        &[
            one,
            Order(1_000, Pause),
            two,
            Order(2_500, Rate("const(7,1s) const(9,9s)")),
            three,
            Order(3_000, Resume),
            four,
            five,
        ],
        &[
            ("50/s", 0, 10),
            ("paused", 1, 20),
            ("7/s", 3, 10),
            ("9/s", 4, 10),
        ],
    );
    // A load of one stage is divided into several only by an order.
    check("50/s", &[one, two], &[]);
    check(
        "50/s",
        &[one, Order(1_000, Act::Users(1)), two],
        &[("50/s", 0, 10), ("1 user", 1, 10)],
    );
    // A stage without a separate interval is listed in the row of its time.
    check(
        "50/s",
        &[
            one,
            Order(1_200, Pause),
            Order(1_700, Resume),
            two,
            three,
            four,
        ],
        &[("50/s, paused", 0, 20), ("50/s", 2, 20)],
    );
}

/// The interval in which a pause ends does not belong to the pause, and the time of the pause does
/// not count as measured time of its neighbours.
#[test]
fn a_pause_has_what_became_due_in_it() {
    let [one, two, three, four, five] = [1, 2, 3, 4, 5].map(second);
    let paused = [
        one,
        Order(1_100, Pause),
        two,
        three,
        Order(3_500, Resume),
        four,
        five,
    ];
    check(
        "50/s",
        &paused,
        &[("50/s", 0, 20), ("paused", 2, 10), ("50/s", 3, 20)],
    );
    let measured = |events: &[Event<'_>]| -> Vec<u64> {
        let reading = reading(info("50/s"), events);
        let rows = reading.so_far().stages();
        rows.iter().map(|it| it.measured.0 / 1_000_000).collect()
    };
    assert_eq!(measured(&paused), [1_100, 1_000, 1_500]);
    // A pause without a separate interval does not count towards its row's time.
    let short = [
        one,
        Order(1_200, Pause),
        Order(1_700, Resume),
        two,
        three,
        four,
    ];
    assert_eq!(measured(&short), [1_500, 2_000]);
}

#[test]
fn a_stage_without_length_has_the_interval_in_which_it_lies() {
    let [one, two, three, four] = [1, 2, 3, 4].map(second);
    check(
        "const(50,1s) once(100) const(50,3s)",
        &[one, two, three, four],
        &[("50/s", 0, 10), ("100 at once", 1, 10), ("50/s", 2, 20)],
    );
    check(
        "once(50) const(20,3s)",
        &[one, two, three],
        &[("50 at once", 0, 10), ("20/s", 1, 20)],
    );
    // The following stage ends with the same interval, and later ends belong to its drain.
    check(
        "const(50,1s) once(100) const(50,1s)",
        &[one, two, Until(2_010, 0)],
        &[("50/s", 0, 10), ("100 at once, 50/s", 1, 10)],
    );
    check(
        "const(50,2s) once(9)",
        &[one, two, Until(2_010, 9)],
        &[("50/s", 0, 20), ("9 at once", 2, 9)],
    );
    check(
        "const(5,1500ms) once(100) const(5,3s)",
        &[one, two, three, four],
        &[("5/s", 0, 10), ("100 at once", 1, 10), ("5/s", 2, 20)],
    );
    check(
        "stairs(100,400ms,200,300ms,50,300ms,300,1s)",
        &[one, two],
        &[("100/s, 200/s, 50/s", 0, 10), ("300/s", 1, 10)],
    );
}

#[test]
fn a_further_part_follows_its_own_law() {
    let [one, two] = [1, 2].map(second);
    let later = [Until(61_000, EACH), Until(62_000, EACH)];
    let part = |law| [one, two, Part(60_000, law), later[0], later[1]];
    check(
        "const(50,1s) const(70,3s)",
        &part("const(70,2s)"),
        &[("50/s", 0, 10), ("70/s", 1, 30)],
    );
    check(
        "const(50,3s) const(70,1s)",
        &part("const(50,1s) const(70,1s)"),
        &[("50/s", 0, 30), ("70/s", 61, 10)],
    );
    check("50/s", &part("50/s"), &[]);
    let ordered = [
        one,
        Order(1_000, Rate("80/s")),
        two,
        Part(60_000, "50/s"),
        later[0],
    ];
    check(
        "50/s",
        &ordered,
        &[("50/s", 0, 10), ("80/s", 1, 10), ("50/s", 60, 10)],
    );
    // The time between the parts does not belong to a stage.
    let reading = reading(info("const(50,1s) const(70,3s)"), &part("const(70,2s)"));
    let rates = reading.so_far().stages();
    let rates: Vec<_> = rates.iter().map(|it| it.ended_per_s()).collect();
    assert_eq!(rates, [Some(10.0), Some(10.0)]);
}

/// The warm-up ends within the second stage.
#[test]
fn the_rate_of_a_stage_is_over_its_measured_time() {
    let mut info = info("step(50,150,50,2s)");
    info.warmup = Warmup::Span(Nanos::from_secs(3));
    let seconds = [1, 2, 3, 4, 5, 6].map(second);
    let reading = reading(info, &seconds);
    let stages = reading.so_far().stages();
    let rates: Vec<_> = stages
        .iter()
        .map(|it| (it.row.good, it.measured, it.ended_per_s()))
        .collect();
    let expected = [
        (0, Nanos::ZERO, None),
        (10, SECOND, Some(10.0)),
        (20, Nanos::from_secs(2), Some(10.0)),
    ];
    assert_eq!(rates, expected);
}

/// Figures that are left out of a run are left out of its stages, once.
#[test]
fn a_warm_up_that_is_found_counts_nothing_twice() {
    let mut info = info("const(50,60s) const(50,60s)");
    info.warmup = Warmup::Auto;
    let mut reading = Reading::new(Arc::new(info.clone()), &[]);
    let mut interval = Interval::of_pools(&info.pools);
    for number in 0..120 {
        interval.reset(number, Nanos(number * SECOND.0));
        interval.end = interval.start + SECOND;
        let took = if number < 10 { 90 } else { 2 };
        for n in 0..200 {
            interval.total.record_intended(1);
            let start = interval.start + Nanos(n);
            interval
                .total
                .record(&ok(start, Nanos(took * 1_000_000 + n * 100)));
        }
        interval.sum_up();
        reading.absorb(&interval);
    }
    let summary = reading.close(Nanos::from_secs(120), 0.0);
    assert!(summary.left_out() > Nanos::ZERO, "{:?}", summary.settling);
    let ended: u64 = summary.stages().iter().map(|it| it.row.good).sum();
    assert_eq!(ended, summary.total.counts.ok);
    let rates = summary.stages();
    assert!(rates.iter().all(|it| it.ended_per_s() == Some(200.0)));
}

/// An endless number of orders becomes one stage at the end.
#[test]
fn stages_are_bounded() {
    let mut events = Vec::new();
    for number in 1..=1_000 {
        let rate = if number % 2 == 0 { "5/s" } else { "7/s" };
        events.extend([Order((number - 1) * 1_000, Rate(rate)), second(number)]);
    }
    let reading = reading(info("9/s"), &events);
    let told = told(reading.so_far());
    assert_eq!(told.len(), 200);
    assert_eq!(told[199], ("later stages".to_owned(), 199, 8_010));
    assert_eq!(reading.so_far().orders(0).count, 1_000);
}
