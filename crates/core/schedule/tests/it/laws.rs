//! All laws, compared with tables and with big integer arithmetic.

use drumfire_plan::{Arrivals, Law, Sequence};
use drumfire_schedule::{RANDOM_RATE_MAX, Schedule, ScheduleError};
use drumfire_units::{Nanos, Rate};
use num_bigint::BigUint;
use proptest::prelude::*;

const SECOND: u64 = 1_000_000_000;

fn rate(text: &str) -> Rate {
    text.parse().expect("a rate")
}

fn seconds(n: u64) -> Nanos {
    Nanos::from_secs(n)
}

fn constant(text: &str, duration: Nanos) -> Law {
    Law::Const {
        rate: rate(text),
        duration,
    }
}

fn line(from: &str, to: &str, duration: Nanos) -> Law {
    Law::Line {
        from: rate(from),
        to: rate(to),
        duration,
    }
}

fn schedule(laws: &[Law]) -> Result<Schedule, ScheduleError> {
    Schedule::new(&Sequence(laws.to_vec()), Arrivals::Constant, 0)
}

/// Checks the total, some starts, and that counts and iteration agree.
fn check(laws: &[Law], total: u64, starts: &[(u64, u64)]) {
    let schedule = schedule(laws).expect("a schedule");
    assert_eq!(schedule.total(), Some(total), "{laws:?}");
    assert_eq!(schedule.start_of(total), None, "{laws:?}");
    for &(n, start) in starts {
        assert_eq!(schedule.start_of(n), Some(Nanos(start)), "{n} of {laws:?}");
        assert!(schedule.count_before(Nanos(start)) <= n);
        assert!(schedule.count_before(Nanos(start + 1)) > n);
    }
    assert_eq!(schedule.count_before(Nanos::MAX), total);
}

#[test]
fn const_table() {
    let third = [(0, 0), (1, 333_333_333), (2, 666_666_666), (3, SECOND)];
    check(&[constant("3/s", seconds(2))], 6, &third);
    check(
        &[constant("90/m", seconds(60))],
        90,
        &[(1, 666_666_666), (3, 2 * SECOND)],
    );
    check(&[constant("0.2/s", seconds(11))], 3, &[(2, 10 * SECOND)]);
    check(&[constant("0/s", seconds(5))], 0, &[]);
    check(&[constant("5/s", Nanos::ZERO)], 0, &[]);
    // More than one arrival in a nanosecond.
    check(
        &[constant("3000000000", Nanos(4))],
        12,
        &[(2, 0), (3, 1), (11, 3)],
    );
}

#[test]
fn line_table() {
    // 5·60 + 195·60/2 = 6150; N(30 s) = 5·30 + 195·900/120 = 1612.5.
    let ramp = [line("5", "200", seconds(60))];
    // t(1) is the root of 5t + 1.625t² = 1.
    check(
        &ramp,
        6150,
        &[(0, 0), (1, 188_457_255), (6149, 59_994_999_796)],
    );
    let schedule = schedule(&ramp).unwrap();
    assert_eq!(schedule.count_before(seconds(30)), 1613);
    assert_eq!(schedule.duration(), Some(seconds(60)));
    assert!((schedule.rate_at(seconds(30)) - 102.5).abs() < 1e-9);
    // From a rate of 0, N(t) = t²/2 at 1/s²: t(n) = √2n.
    let rest = [line("0", "10", seconds(10))];
    check(
        &rest,
        50,
        &[(0, 0), (2, 2 * SECOND), (8, 4 * SECOND), (18, 6 * SECOND)],
    );
    // To a rate of 0: the mirror image. Arrival 50 would be exactly at the end, which is excluded.
    let halt = [line("10", "0", seconds(10))];
    check(
        &halt,
        50,
        &[(0, 0), (32, 4 * SECOND), (42, 6 * SECOND), (48, 8 * SECOND)],
    );
}

#[test]
fn step_once_trace_and_seams() {
    let step = |from: &str, to: &str, by: &str| Law::Step {
        from: rate(from),
        to: rate(to),
        by: rate(by),
        duration: seconds(30),
    };
    // 10, 20, 30, 40, 50 for 30 s each.
    check(
        &[step("10", "50", "10")],
        4500,
        &[(300, 30 * SECOND), (900, 60 * SECOND)],
    );
    check(
        &[step("50", "10", "10")],
        4500,
        &[(1500, 30 * SECOND), (2700, 60 * SECOND)],
    );
    check(&[step("10", "35", "10")], 1800, &[(900, 60 * SECOND)]);
    check(&[step("7", "7", "1")], 210, &[(209, 29_857_142_857)]);
    let trace = Law::Trace {
        times: [0, 5, 5, 9].map(Nanos).into(),
    };
    let laws = [
        Law::Once { count: 2 },
        constant("1/s", seconds(3)),
        trace,
        constant("2/s", seconds(1)),
    ];
    let base = 3 * SECOND;
    let starts = [(0, 0), (1, 0), (2, 0), (4, 2 * SECOND), (5, base)];
    check(&laws, 11, &starts);
    check(
        &laws,
        11,
        &[
            (7, base + 5),
            (8, base + 9),
            (9, base + 9),
            (10, base + 9 + SECOND / 2),
        ],
    );
    let ramp = [line("5", "200", seconds(60)), constant("200", seconds(300))];
    check(
        &ramp,
        66_150,
        &[(6150, 60 * SECOND), (6151, 60 * SECOND + 5_000_000)],
    );
}

#[test]
fn open_ended_pieces() {
    let laws = [constant("1/s", seconds(1)), constant("3/s", Nanos::MAX)];
    let endless = schedule(&laws).unwrap();
    assert_eq!((endless.total(), endless.duration()), (None, None));
    assert_eq!(
        endless.start_of(1 + 3 * SECOND),
        Some(Nanos(SECOND + SECOND * SECOND))
    );
    assert_eq!(endless.count_before(seconds(11)), 31);
    let pause = schedule(&[constant("0", Nanos::MAX)]).unwrap();
    assert_eq!(pause.start_of(0), None);
    let fast = schedule(&[constant("999999999999999", Nanos::MAX)]).unwrap();
    assert_eq!(fast.start_of(999_999_999_999_999), Some(seconds(1)));
}

/// Random arrivals are drawn one by one, so their rate is limited; even arrivals are computed.
#[test]
fn random_arrivals_have_a_bound() {
    let sine = |mean: &str| Law::Sine {
        mean: rate(mean),
        amplitude: rate("4000000/s"),
        period: seconds(1),
        duration: seconds(1),
    };
    let cases = [
        (constant("10000000/s", seconds(1)), true),
        (constant("10000001/s", seconds(1)), false),
        (line("1/s", "10000000/s", seconds(1)), true),
        (line("10000001/s", "1/s", seconds(1)), false),
        (sine("5000000/s"), true),
        (sine("6500000/s"), false),
        (Law::Once { count: 1 << 40 }, true),
    ];
    for (law, fits) in cases {
        let sequence = Sequence(vec![law]);
        let random = Schedule::new(&sequence, Arrivals::Poisson, 0).err();
        let error = ScheduleError::TooManyDraws {
            piece: 0,
            most: RANDOM_RATE_MAX,
        };
        assert_eq!(random, (!fits).then_some(error), "{sequence:?}");
        assert!(Schedule::new(&sequence, Arrivals::Constant, 0).is_ok());
    }
}

#[test]
fn what_can_not_be_scheduled() {
    let refuse = |laws: &[Law], error| assert_eq!(schedule(laws).unwrap_err(), error);
    let endless = constant("1", Nanos::MAX);
    let finite = constant("1", seconds(1));
    refuse(&[], ScheduleError::Empty);
    refuse(
        &[endless, finite.clone()],
        ScheduleError::NeverEnds { piece: 0 },
    );
    let long = constant("0", Nanos(1 << 61));
    refuse(
        &[long.clone(), finite, long],
        ScheduleError::TooLong { piece: 2 },
    );
    refuse(
        &[line("1", "2", Nanos::MAX)],
        ScheduleError::NoSpan { piece: 0 },
    );
    refuse(
        &[line("1", "2", Nanos(1 << 62))],
        ScheduleError::TooLong { piece: 0 },
    );
    let many = constant("999999999999999", Nanos(1 << 61));
    refuse(&[many], ScheduleError::TooManyArrivals { piece: 0 });
    let once = Law::Once { count: u64::MAX };
    refuse(&[once], ScheduleError::TooManyArrivals { piece: 0 });
    let step = |by: &str| Law::Step {
        from: rate("0"),
        to: rate("1000000"),
        by: rate(by),
        duration: seconds(1),
    };
    refuse(&[step("1")], ScheduleError::TooManySteps { piece: 0 });
    refuse(&[step("0")], ScheduleError::TooManySteps { piece: 0 });
    let fine = line(
        "1/999999999999999998ns",
        "1/999999999999999997ns",
        seconds(1),
    );
    refuse(&[fine], ScheduleError::TooFine { piece: 0 });
    let trace = Law::Trace {
        times: [0, 5, 4].map(Nanos).into(),
    };
    refuse(&[trace], ScheduleError::TraceOrder { piece: 0, index: 2 });
    let wave = |amplitude: &str, period| Law::Sine {
        mean: rate("10/s"),
        amplitude: rate(amplitude),
        period,
        duration: seconds(1),
    };
    refuse(
        &[wave("601/m", seconds(1))],
        ScheduleError::NegativeRate { piece: 0 },
    );
    refuse(
        &[wave("1", Nanos::ZERO)],
        ScheduleError::NoSpan { piece: 0 },
    );
}

#[test]
fn unlimited_has_no_numbers() {
    let laws = [
        constant("1", seconds(2)),
        Law::Unlimited {
            duration: seconds(5),
        },
        constant("1", seconds(2)),
    ];
    let schedule = schedule(&laws).unwrap();
    assert_eq!(schedule.total(), None);
    assert_eq!(schedule.duration(), Some(seconds(9)));
    assert_eq!(schedule.start_of(2), Some(seconds(7)));
    assert_eq!(schedule.start_of(4), None);
    assert!(schedule.rate_at(seconds(3)).is_infinite());
}

fn any_rate() -> impl Strategy<Value = Rate> {
    let per = prop_oneof![
        Just(SECOND),
        Just(60 * SECOND),
        Just(1000 * SECOND),
        1..5 * SECOND
    ];
    (0..2_000_000_u64, per).prop_map(|(events, per)| Rate {
        events,
        per: Nanos(per),
    })
}

fn any_span() -> impl Strategy<Value = Nanos> {
    prop_oneof![0..50_u64, 0..5 * SECOND, 0..100_000 * SECOND].prop_map(Nanos)
}

/// Some arrival numbers to check: the first, the last and an arbitrary one.
fn probes(total: u64, anywhere: u64) -> impl Iterator<Item = u64> {
    let last = total.saturating_sub(1);
    [0, 1, anywhere % total.max(1), last.saturating_sub(1), last]
        .into_iter()
        .filter(move |&n| n < total)
}

fn big(n: u64) -> BigUint {
    BigUint::from(n)
}

proptest! {
    #[test]
    fn const_is_the_exact_floor(rate in any_rate(), duration in any_span(), anywhere: u64) {
        let schedule = schedule(&[Law::Const { rate, duration }]).unwrap();
        let total = schedule.total().unwrap();
        // n < r·d, which is the ceiling of r·d.
        let exact = (big(rate.events) * duration.0 + rate.per.0 - 1_u32) / rate.per.0;
        prop_assert_eq!(big(total), exact);
        for n in probes(total, anywhere) {
            let start = schedule.start_of(n).unwrap();
            prop_assert_eq!(big(start.0), big(n) * rate.per.0 / rate.events);
            prop_assert!(start < duration);
        }
    }

    #[test]
    fn line_is_bracketed_exactly(
        (from, to) in (any_rate(), any_rate()),
        duration in any_span(),
        anywhere: u64,
    ) {
        let d = duration.0;
        // N(t)·2d·per_from·per_to, for any t in the piece.
        let grown = |t: u64| {
            let falling = big(from.events) * to.per.0 * (2 * d - t);
            let rising = big(to.events) * from.per.0 * t;
            (falling + rising) * t
        };
        let scaled = |n: u64| big(n) * 2_u32 * d * from.per.0 * to.per.0;
        let schedule = schedule(&[Law::Line { from, to, duration }]);
        if matches!(schedule, Err(ScheduleError::TooFine { .. })) {
            return Ok(());
        }
        let schedule = schedule.unwrap();
        let total = schedule.total().unwrap();
        prop_assert!(scaled(total) >= grown(d), "not too few");
        prop_assert!(total == 0 || scaled(total - 1) < grown(d), "not too many");
        for n in probes(total, anywhere) {
            let t = schedule.start_of(n).unwrap().0;
            prop_assert!(grown(t) <= scaled(n), "N(t) <= n");
            prop_assert!(t < d && scaled(n) < grown(t + 1), "n < N(t + 1)");
        }
    }

    #[test]
    fn a_level_line_is_const(rate in any_rate(), duration in any_span(), anywhere: u64) {
        let level = Law::Line { from: rate, to: rate, duration };
        let (level, constant) = (
            schedule(&[level]).unwrap(),
            schedule(&[Law::Const { rate, duration }]).unwrap(),
        );
        prop_assert_eq!(level.total(), constant.total());
        for n in probes(level.total().unwrap(), anywhere) {
            prop_assert_eq!(level.start_of(n), constant.start_of(n));
        }
    }

    #[test]
    fn sine_inverts_its_integral(
        mean in 1_u64..100_000,
        share in 0_u64..=100,
        (period, duration) in (1_u64..1000, 1_u64..3000),
        anywhere: u64,
    ) {
        let amplitude = mean * share / 100;
        let law = Law::Sine {
            mean: Rate::per_second(mean),
            amplitude: Rate::per_second(amplitude),
            period: seconds(period),
            duration: seconds(duration),
        };
        let schedule = schedule(&[law]).unwrap();
        let total = schedule.total().unwrap();
        let turn = std::f64::consts::TAU / period as f64;
        let integral = |t: f64| {
            mean as f64 * t + amplitude as f64 / turn * (1.0 - (turn * t).cos())
        };
        let size = integral(duration as f64);
        prop_assert!((total as f64 - size).abs() < 1.0 + 1e-9 * size);
        for n in probes(total, anywhere) {
            let start = schedule.start_of(n).unwrap();
            let slack = (mean + amplitude) as f64 * 2e-9 + 1e-12 * size;
            let reached = integral(start.as_secs_f64());
            prop_assert!((reached - n as f64).abs() <= slack, "{} for {}", reached, n);
            prop_assert!(schedule.count_before(start) <= n);
            prop_assert!(schedule.count_before(Nanos(start.0 + 1)) > n);
        }
    }
}

/// A display needs the duration to show the remaining load.
#[test]
fn a_sequence_knows_how_long_it_lasts() {
    for (text, lasts) in [
        ("line(5,200,60s) const(200,5m)", Some(360)),
        ("500", None),
        ("line(5,200,60s) const(200)", None),
        ("once(100) const(5,2s)", Some(2)),
        ("step(10,50,10,30s)", Some(150)),
        ("step(50,10,15,1s)", Some(3)),
        ("unlimited(10s)", Some(10)),
        ("unlimited", None),
        ("sine(100,50,60s,10m)", Some(600)),
        ("stairs(5,1s,7,2s)", Some(3)),
        ("stairs(5)", None),
    ] {
        let expected = lasts.map(Nanos::from_secs);
        let laws: Sequence = text.parse().expect(text);
        let schedule = Schedule::new(&laws, Arrivals::Constant, 0).expect(text);
        assert_eq!(schedule.duration(), expected, "{text}");
    }
}
