//! The generator judges itself by rule.

use crate::samples::{self, healthy};
use drumfire_measure::{GeneratorHealth, Interval, Model, Outcome, Validity, Verdict};
use drumfire_units::Nanos;

fn ms(n: u64) -> Nanos {
    Nanos::from_millis(n)
}

type Change = fn(&mut Interval, &mut GeneratorHealth);

/// One row of a table: a change to a healthy run, and the reasons that it must yield.
struct Case {
    name: &'static str,
    change: Change,
    validity: Validity,
    /// In a reason; empty when there must be none.
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

fn check(model: Model, cases: &[Case]) {
    for case in cases {
        let info = samples::run(model, &["all"]);
        let mut run = healthy(&info);
        let mut generator = GeneratorHealth::default();
        (case.change)(&mut run, &mut generator);
        generator.limited_by = GeneratorHealth::of(&run.total, &run.health, 1).limited_by;
        let verdict = Verdict::judge(&info, &run.total, &run.health, &generator);
        let reasons = verdict.reasons.join("\n");
        assert_eq!(verdict.validity, case.validity, "{}: {reasons}", case.name);
        if case.says.is_empty() {
            assert_eq!(reasons, "", "{}", case.name);
        } else {
            assert!(reasons.contains(case.says), "{}: {reasons}", case.name);
        }
    }
}

/// Adds `count` requests that left late by `lag` and took 5 ms.
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
                "requests left late by 3 ms (p99 of lag, at most 1 ms is allowed)",
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
                "late by 8 ms",
            ),
            case(
                "150 ms late says nothing of a target that takes 5 ms",
                |run, _| add_late(run, 20, ms(150)),
                Validity::Invalid,
                "late by 150 ms",
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
                "late by 150 ms (p99 of lag, at most 35 ms is allowed)",
            ),
        ],
    );
    check(
        Model::Closed,
        &[case(
            "late in a closed model is never worse than suspect",
            |run, _| add_late(run, 20, ms(150)),
            Validity::Suspect,
            "late by 150 ms",
        )],
    );
}

#[test]
fn lag_far_beyond_the_limit_makes_an_open_run_invalid() {
    for (model, validity) in [
        (Model::Open, Validity::Invalid),
        (Model::Closed, Validity::Suspect),
    ] {
        // Failures leave no response time, so the limit is the least one: 1 ms.
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
        let health = GeneratorHealth::default();
        let verdict = Verdict::judge(&info, &run.total, &run.health, &health);
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
fn unsent_requests_count_when_nothing_was_waited_for() {
    check(
        Model::Open,
        &[
            case(
                "pending although connections were free",
                |run, _| {
                    run.total.record_intended(50);
                    run.total.counts.pending = 50;
                },
                Validity::Suspect,
                "50 of 1050 requests were due and not sent",
            ),
            case(
                "one in a thousand is let pass",
                |run, _| {
                    run.total.record_intended(1);
                    run.total.counts.pending = 1;
                },
                Validity::Valid,
                "",
            ),
            case(
                "pending because every connection is busy",
                |run, _| {
                    run.total.record_intended(50);
                    run.total.counts.pending = 50;
                    run.total.counts.in_flight = 8;
                },
                Validity::Valid,
                "",
            ),
            case(
                "pending because requests waited for connections",
                |run, _| {
                    run.total.record_intended(51);
                    run.total.counts.pending = 50;
                    let mut sample = samples::ok(ms(0), ms(100));
                    sample.due = ms(90);
                    sample.sent = ms(90);
                    run.total.record(&sample);
                },
                Validity::Valid,
                "",
            ),
        ],
    );
    check(
        Model::Closed,
        &[case(
            "a closed model has no schedule to fall behind",
            |run, _| {
                run.total.record_intended(50);
                run.total.counts.pending = 50;
            },
            Validity::Valid,
            "",
        )],
    );
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
                "the generator stood still for 200 ms",
            ),
            case(
                "woken two seconds late",
                |run, _| run.health.wake_lateness.record(ms(2000)),
                Validity::Invalid,
                "the generator stood still for 2 s",
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
                "the generator was 97 % busy: the target may be faster than shown",
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
                |_, generator| generator.loop_turn_p99 = ms(2),
                Validity::Suspect,
                "the event loop took 2 ms",
            ),
            case(
                "6 % of the time in the run queue",
                |_, generator| generator.run_queue_delay = ms(60),
                Validity::Suspect,
                "waited 6 % of the time for a CPU",
            ),
            case(
                "4 % in the run queue is usual",
                |_, generator| generator.run_queue_delay = ms(40),
                Validity::Valid,
                "",
            ),
            case(
                "steal",
                |_, generator| generator.steal_share = 0.02,
                Validity::Suspect,
                "the hypervisor took 2 %",
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
        ..GeneratorHealth::of(&run.total, &run.health, 1)
    };
    let verdict = Verdict::judge(&info, &run.total, &run.health, &generator);
    assert_eq!(verdict.validity, Validity::Invalid);
    assert_eq!(verdict.reasons.len(), 2);
    assert!(verdict.reasons[0].starts_with("generator-limited"));
}
