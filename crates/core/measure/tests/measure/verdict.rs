//! The generator judges itself by rules.

use crate::samples::{self, healthy};
use drumfire_measure::{
    ArrivalClock, DepartureStamps, GeneratorHealth, Interval, Model, Outcome, Reading, Remedy,
    RunInfo, Stamps, Validity, Verdict,
};
use drumfire_units::Nanos;
use std::sync::Arc;

fn ms(n: u64) -> Nanos {
    Nanos::from_millis(n)
}

type Change = fn(&mut Interval, &mut GeneratorHealth);

/// One row of a table: a change to a healthy run, and the reasons that it must produce.
struct Case {
    name: &'static str,
    change: Change,
    validity: Validity,
    /// A part of a reason; empty if there must be none.
    says: &'static str,
}

const fn case(name: &'static str, change: Change, validity: Validity, says: &'static str) -> Case {
    Case {
        name,
        change,
        validity,
        says,
    }
}

/// The verdict on a run of this length.
fn judged(info: &Arc<RunInfo>, run: &Interval, health: GeneratorHealth, span: Nanos) -> Verdict {
    // Cases do not balance all counts themselves.
    let mut run = run.clone();
    let counts = &mut run.total.counts;
    counts.intended = counts.sent + counts.dropped + counts.pending;
    let mut reading = Reading::new(Arc::clone(info), &[]);
    reading.absorb(&run);
    reading.close_with(span, health).verdict
}

/// The reasons' texts, a line each.
fn texts(verdict: &Verdict) -> String {
    let texts: Vec<&str> = verdict.reasons.iter().map(|r| r.text.as_str()).collect();
    texts.join("\n")
}

fn check(model: Model, cases: &[Case]) {
    for case in cases {
        let info = samples::run(model, &["all"]);
        let mut run = healthy(&info);
        let mut generator = GeneratorHealth::default();
        (case.change)(&mut run, &mut generator);
        generator.limited_by = GeneratorHealth::from_figures(&run.total, &run.health, 1).limited_by;
        let verdict = judged(&info, &run, generator, Nanos::from_secs(1));
        let reasons = texts(&verdict);
        assert_eq!(verdict.validity, case.validity, "{}: {reasons}", case.name);
        if case.says.is_empty() {
            assert_eq!(reasons, "", "{}", case.name);
        } else {
            assert!(reasons.contains(case.says), "{}: {reasons}", case.name);
        }
    }
}

/// Adds `count` requests that were sent late by `lag` and took 5 ms.
fn add_late(run: &mut Interval, count: u64, lag: Nanos) {
    run.total.record_intended(count);
    for n in 0..count {
        run.total.record(&samples::late(ms(n), lag, ms(5)));
    }
}

#[test]
fn lag_counts_against_the_run() {
    check(
        Model::Open,
        &[
            case("nothing wrong", |_, _| {}, Validity::Valid, ""),
            case(
                "a few late ones stay below the 99th percentile",
                |run, _| add_late(run, 9, ms(50)),
                Validity::Valid,
                "",
            ),
            case(
                "3 ms late at p99",
                |run, _| add_late(run, 20, ms(3)),
                Validity::Suspect,
                "drumfire itself was late: 3.00 ms at p99, 1.00 ms allowed",
            ),
            case(
                "3 ms late is little beside a second",
                |run, _| {
                    run.total.record_intended(100);
                    for n in 0..100 {
                        run.total
                            .record(&samples::late(ms(n), ms(3), Nanos::from_secs(1)));
                    }
                },
                Validity::Valid,
                "",
            ),
            case(
                "8 ms late is more than the target took",
                |run, _| add_late(run, 20, ms(8)),
                Validity::Suspect,
                "late: 8.00 ms",
            ),
            case(
                "150 ms late says nothing of a target that takes 5 ms",
                |run, _| add_late(run, 20, ms(150)),
                Validity::Invalid,
                "late: 150 ms",
            ),
            case(
                "150 ms late beside 200 ms of the target",
                |run, _| {
                    run.total.record_intended(1000);
                    for n in 0..1000 {
                        run.total.record(&samples::late(ms(n), ms(150), ms(200)));
                    }
                },
                Validity::Suspect,
                "late: 150 ms at p99, 35.0 ms allowed",
            ),
        ],
    );
    check(
        Model::Closed,
        &[case(
            "late in a closed model is never worse than suspect",
            |run, _| add_late(run, 20, ms(150)),
            Validity::Suspect,
            "late: 150 ms",
        )],
    );
}

#[test]
fn lag_far_beyond_the_limit_makes_an_open_run_invalid() {
    for (model, validity) in [
        (Model::Open, Validity::Invalid),
        (Model::Closed, Validity::Suspect),
    ] {
        // Failures leave no response time, so the limit is the minimum, 1 ms.
        let info = samples::run(model, &["all"]);
        let mut run = Interval::new(&info.pool().steps);
        run.total.record_intended(400);
        for n in 0..400 {
            let sample = samples::late(ms(n), ms(11), ms(1));
            run.total.record(&drumfire_measure::Sample {
                outcome: Outcome::Reset,
                ..sample
            });
        }
        let verdict = judged(&info, &run, GeneratorHealth::default(), Nanos::from_secs(1));
        assert_eq!(verdict.validity, validity, "{:?}", verdict.reasons);
    }
}

#[test]
fn what_the_generator_lacks_makes_the_run_invalid() {
    check(
        Model::Open,
        &[
            case(
                "out of ports",
                |run, _| {
                    run.total.record_intended(1);
                    run.total
                        .record(&samples::failed(ms(1), ms(1), Outcome::LocalPorts));
                },
                Validity::Invalid,
                "(1 × local:ports)",
            ),
            case(
                "cut off by the end of the run",
                |run, _| {
                    run.total.record_intended(1);
                    run.total
                        .record(&samples::failed(ms(1), ms(1), Outcome::LocalCancelled));
                },
                Validity::Valid,
                "",
            ),
            case(
                "a dead target is the target's affair",
                |run, _| {
                    for n in 0..5000 {
                        run.total
                            .record(&samples::failed(ms(n), ms(1), Outcome::ConnectRefused));
                    }
                },
                Validity::Valid,
                "",
            ),
            case(
                "nothing measured",
                |run, _| run.reset(0, Nanos::ZERO),
                Validity::Invalid,
                "nothing was measured",
            ),
        ],
    );
}

#[test]
fn what_is_not_sent_is_no_fault_of_the_generator() {
    // The request waited for a connection, which the verdict on the load reports.
    check(
        Model::Open,
        &[case(
            "half of it is pending",
            |run, _| run.total.record_pending(0, ms(500), 1000),
            Validity::Valid,
            "",
        )],
    );
}

#[test]
fn what_takes_the_cores_away_counts_where_it_reaches_the_figures() {
    check(
        Model::Open,
        &[
            case(
                "each arrival would have been late",
                |_, generator| {
                    generator.run_queue_delay = ms(400);
                    generator.steal_share = 0.3;
                },
                Validity::Valid,
                "",
            ),
            case(
                "other programs",
                |run, generator| {
                    add_late(run, 20, ms(3));
                    generator.run_queue_delay = ms(380);
                },
                Validity::Suspect,
                "allowed; other programs used its cores 38.0 % of the time",
            ),
            case(
                "other machines",
                |run, generator| {
                    add_late(run, 20, ms(3));
                    generator.steal_share = 0.3;
                },
                Validity::Suspect,
                "allowed; the hypervisor gave 30.0 % of this machine's time to others",
            ),
        ],
    );
}

#[test]
fn a_remedy_fits_its_cause() {
    let remedies = |model, busy, queued: u64| {
        let info = samples::run(model, &["all"]);
        let mut run = healthy(&info);
        add_late(&mut run, 20, ms(150));
        let generator = GeneratorHealth {
            cpu_share_max: busy,
            run_queue_delay: ms(queued),
            ..GeneratorHealth::default()
        };
        let verdict = judged(&info, &run, generator, Nanos::from_secs(1));
        let lag = |text: &str| text.contains("drumfire itself was late: 150 ms");
        let mut reasons = verdict.reasons.into_iter();
        reasons.find(|reason| lag(&reason.text)).unwrap().remedies
    };
    use Remedy::{AddThreads, FewerUsers, LowerRate, OwnCores, OwnMachine};
    assert_eq!(remedies(Model::Open, 0.97, 0), [LowerRate, AddThreads]);
    assert_eq!(remedies(Model::Closed, 0.97, 0), [FewerUsers, AddThreads]);
    assert_eq!(remedies(Model::Open, 0.01, 380), [OwnCores]);
    // A lower rate does not make threads punctual that sleep nearly all the time.
    assert_eq!(remedies(Model::Open, 0.01, 0), [OwnCores, OwnMachine]);
    let any = [LowerRate, AddThreads, OwnCores];
    assert_eq!(remedies(Model::Open, 0.7, 0), any);
    // 20 requests were late by 150 ms each, 3 s in total.
    let cause = |queued| {
        let info = samples::run(Model::Open, &["all"]);
        let mut run = healthy(&info);
        add_late(&mut run, 20, ms(150));
        run.health.wall = Nanos::from_secs(60);
        let generator = GeneratorHealth {
            cpu_share_max: 0.01,
            run_queue_delay: ms(queued),
            ..GeneratorHealth::default()
        };
        texts(&judged(&info, &run, generator, Nanos::from_secs(60)))
    };
    assert!(cause(1_000).contains("other programs used its cores for 1.00 s"));
    assert!(cause(100).contains("woke late although they used at most 1.00 % of a core"));
}

/// Lag counts by its effect on the figures that are reported.
#[test]
fn lag_that_no_quantile_shows_is_no_reason() {
    let info = samples::run(Model::Open, &["all"]);
    let mut run = Interval::new(&info.pool().steps);
    // The answers take 1 to 40 ms. Thirty of a thousand requests are late by 5 ms, each of them one
    // with a quick answer, so the quantiles of the response time show only the target.
    run.total.record_intended(1000);
    for n in 0..1000 {
        let lag = if n % 33 == 0 { ms(5) } else { Nanos::ZERO };
        let service = if n % 33 == 0 { ms(1) } else { ms(1 + n % 40) };
        run.total.record(&samples::late(ms(n), lag, service));
    }
    let span = Nanos::from_secs(1);
    let verdict = judged(&info, &run, GeneratorHealth::default(), span);
    assert_eq!(texts(&verdict), "");
    // Equal lag on the slowest answers is detected.
    let mut run = Interval::new(&info.pool().steps);
    run.total.record_intended(1000);
    for n in 0..1000 {
        let lag = if n % 40 == 39 { ms(5) } else { Nanos::ZERO };
        run.total.record(&samples::late(ms(n), lag, ms(1 + n % 40)));
    }
    let verdict = judged(&info, &run, GeneratorHealth::default(), span);
    assert_eq!(verdict.validity, Validity::Suspect, "{}", texts(&verdict));
}

#[test]
fn a_short_run_is_not_judged_by_what_it_cannot_tell() {
    // 200 requests of 50 users within 17 ms: the kernel's clock ticked once or twice, and the first
    // fifty were sent one after the other.
    let mut info = (*samples::run(Model::Closed, &["all"])).clone();
    info.pools[0].users = Some(50);
    let info = Arc::new(info);
    let mut run = Interval::new(&info.pool().steps);
    for n in 0..200 {
        run.total.record_intended(1);
        let lag = Nanos::from_micros(if n < 50 { n * 40 } else { 0 });
        run.total.record(&samples::late(Nanos::ZERO, lag, ms(4)));
    }
    run.health.wall = ms(17);
    run.health.loop_turn.record(Nanos::from_micros(2_300));
    let mut generator = GeneratorHealth {
        steal_share: 0.5,
        run_queue_delay: ms(18),
        ..GeneratorHealth::default()
    };
    let span = ms(17);
    let verdict = judged(&info, &run, generator.clone(), span);
    let short = "17.0 ms is too short to judge drumfire itself";
    assert_eq!(verdict.validity, Validity::Valid);
    assert_eq!(texts(&verdict), short);
    // A handful of requests, on time or late, supports no judgement in the open model either.
    let info = samples::run(Model::Open, &["all"]);
    let mut run = Interval::new(&info.pool().steps);
    for _ in 0..5 {
        run.total.record(&samples::late(Nanos::ZERO, ms(3), ms(4)));
    }
    assert_eq!(texts(&judged(&info, &run, generator.clone(), span)), short);
    let span = Nanos::from_secs(1);
    run.health.loop_turn.reset();
    generator.run_queue_delay = Nanos::ZERO;
    assert_eq!(texts(&judged(&info, &run, generator, span)), "");
}

/// Fewer connections do not help a thread that is nearly idle: its turn was long because it was
/// descheduled.
#[test]
fn a_long_turn_has_the_remedy_of_its_cause() {
    let info = samples::run(Model::Open, &["all"]);
    let remedies = |busy: f64, queued: Nanos| {
        let mut run = healthy(&info);
        run.health.loop_turn.reset();
        (0..20).for_each(|_| run.health.loop_turn.record(ms(2)));
        let generator = GeneratorHealth {
            cpu_share_max: busy,
            run_queue_delay: queued,
            ..GeneratorHealth::default()
        };
        let verdict = judged(&info, &run, generator, Nanos::from_secs(2));
        let [reason] = &verdict.reasons[..] else {
            panic!("{verdict:?}");
        };
        reason.remedies.clone()
    };
    assert_eq!(remedies(0.01, ms(79)), [Remedy::OwnCores]);
    let busy = [Remedy::FewerConnections, Remedy::AddThreads];
    assert_eq!(remedies(0.7, ms(1)), busy);
}

#[test]
fn pauses_and_busy_threads_count_against_the_run() {
    check(
        Model::Closed,
        &[
            case(
                "stopped for 200 ms",
                |run, _| run.health.loop_turn.record(ms(200)),
                Validity::Suspect,
                "drumfire was stopped for up to 200 ms",
            ),
            case(
                "woken two seconds late",
                |run, _| run.health.wake_lateness.record(ms(2000)),
                Validity::Invalid,
                "drumfire was stopped for up to 2.00 s",
            ),
            case(
                "84 % busy",
                |_, generator| generator.cpu_share_max = 0.84,
                Validity::Valid,
                "",
            ),
            case(
                "97 % busy",
                |_, generator| generator.cpu_share_max = 0.97,
                Validity::Suspect,
                "the generator was 97.0 % busy: the target may be faster than shown",
            ),
            case(
                "spinning is busy by intent",
                |_, generator| {
                    generator.cpu_share_max = 1.0;
                    generator.spin = true;
                },
                Validity::Valid,
                "",
            ),
            case(
                "slow turns",
                |run, _| (0..20).for_each(|_| run.health.loop_turn.record(ms(2))),
                Validity::Suspect,
                "a turn of the event loop took 2.00 ms",
            ),
            case(
                "steal",
                |_, generator| generator.steal_share = 0.06,
                Validity::Suspect,
                "the hypervisor took 6.00 %",
            ),
            case(
                "a little steal is usual",
                |_, generator| generator.steal_share = 0.04,
                Validity::Valid,
                "",
            ),
        ],
    );
}

#[test]
fn waits_for_a_core_count_where_they_reach_the_times() {
    check(
        Model::Closed,
        &[
            case(
                "waits of more than a tenth of a service time",
                |_, generator| generator.run_queue_delay = ms(600),
                Validity::Suspect,
                "waited 60.0 % of the time for a core, 600 µs before each turn",
            ),
            case(
                "waits of 60 µs beside answers of 5 ms",
                |_, generator| generator.run_queue_delay = ms(60),
                Validity::Valid,
                "",
            ),
            case(
                "few waits, and long ones: wakes show them",
                |run, generator| {
                    (0..20).for_each(|_| run.health.wake_lateness.record(ms(5)));
                    generator.run_queue_delay = ms(60);
                },
                Validity::Suspect,
                "waited 6.00 % of the time for a core",
            ),
            case(
                "4 % in the run queue is usual",
                |_, generator| generator.run_queue_delay = ms(40),
                Validity::Valid,
                "",
            ),
        ],
    );
}

#[test]
fn the_gravest_reason_comes_first() {
    let info = samples::run(Model::Open, &["all"]);
    let mut run = healthy(&info);
    run.total
        .record(&samples::failed(ms(1), ms(1), Outcome::LocalDescriptors));
    let generator = GeneratorHealth {
        cpu_share_max: 0.9,
        ..GeneratorHealth::from_figures(&run.total, &run.health, 1)
    };
    let verdict = judged(&info, &run, generator, Nanos::from_secs(1));
    assert_eq!(verdict.validity, Validity::Invalid);
    assert_eq!(verdict.reasons.len(), 2);
    assert!(verdict.reasons[0].text.starts_with("generator-limited"));
}

/// A thousand receives with a stamp, and this many without.
fn stamped(generator: &mut GeneratorHealth, missing: u64) {
    generator.stamps = Stamps {
        taken: 1_000,
        missing,
        refused: 0,
    };
    generator.clock = ArrivalClock::from_stamps(generator.stamps, generator.departures);
}

/// Sets stamps of a thousand departures; `missing` further ones have no stamp.
fn departed(generator: &mut GeneratorHealth, missing: u64) {
    generator.departures = DepartureStamps {
        taken: 1_000,
        missing,
        ..DepartureStamps::default()
    };
    stamped(generator, 0);
}

/// By the kernel's clock, the threads' lateness is in no time of the target.
#[test]
fn turns_and_queues_reach_no_stamped_time() {
    check(
        Model::Closed,
        &[
            case(
                "slow turns",
                |run, generator| {
                    stamped(generator, 0);
                    (0..20).for_each(|_| run.health.loop_turn.record(ms(2)));
                },
                Validity::Valid,
                "",
            ),
            case(
                "waits for a core",
                |_, generator| {
                    stamped(generator, 0);
                    generator.run_queue_delay = ms(600);
                },
                Validity::Valid,
                "",
            ),
            case(
                "stopped for 200 ms",
                |run, generator| {
                    stamped(generator, 0);
                    run.health.loop_turn.record(ms(200));
                },
                Validity::Suspect,
                "drumfire was stopped for up to 200 ms: requests due at that moment left late",
            ),
            case(
                "97 % busy",
                |_, generator| {
                    stamped(generator, 0);
                    generator.cpu_share_max = 0.97;
                },
                Validity::Suspect,
                "the generator was 97.0 % busy",
            ),
            case(
                "steal",
                |_, generator| {
                    stamped(generator, 0);
                    generator.steal_share = 0.06;
                },
                Validity::Suspect,
                "the hypervisor took 6.00 %",
            ),
        ],
    );
}

#[test]
fn requests_without_a_stamp_count_where_they_are_many() {
    check(
        Model::Open,
        &[
            case(
                "few stamps are missing",
                |_, generator| departed(generator, 9),
                Validity::Valid,
                "",
            ),
            case(
                "many stamps are missing",
                |_, generator| departed(generator, 100),
                Validity::Suspect,
                "9.09 % of the requests had no plausible kernel timestamp",
            ),
            case(
                "most stamps are missing: they count from the hand-over",
                |_, generator| departed(generator, 1_001),
                Validity::Valid,
                "",
            ),
            case(
                "slow turns",
                |run, generator| {
                    departed(generator, 0);
                    (0..20).for_each(|_| run.health.loop_turn.record(ms(2)));
                },
                Validity::Valid,
                "",
            ),
        ],
    );
}

#[test]
fn responses_without_a_stamp_count_where_they_are_many() {
    check(
        Model::Closed,
        &[
            case(
                "few stamps are missing",
                |_, generator| stamped(generator, 9),
                Validity::Valid,
                "",
            ),
            case(
                "many stamps are missing",
                |_, generator| stamped(generator, 100),
                Validity::Suspect,
                "9.09 % of the receives had no plausible kernel timestamp",
            ),
            case(
                "most stamps are missing: the program's clock held",
                |run, generator| {
                    stamped(generator, 1_001);
                    (0..20).for_each(|_| run.health.loop_turn.record(ms(2)));
                },
                Validity::Suspect,
                "a turn of the event loop took 2.00 ms",
            ),
        ],
    );
}
