//! Laws for property tests.

use drumfire_plan::{Arrivals, Law, Sequence, Shape};
use drumfire_units::{Nanos, Rate};
use proptest::prelude::*;

const MILLI: u64 = 1_000_000;

fn any_rate() -> impl Strategy<Value = Rate> {
    (0..300_u64, 1..200_u64).prop_map(|(events, per)| Rate {
        events,
        per: Nanos(per * MILLI + 7),
    })
}

fn any_law() -> impl Strategy<Value = Law> {
    let span = || (0..400 * MILLI).prop_map(Nanos);
    prop_oneof![
        (any_rate(), span()).prop_map(|(rate, duration)| Law::Const { rate, duration }),
        (any_rate(), any_rate(), span()).prop_map(|(from, to, duration)| Law::Line {
            from,
            to,
            duration
        }),
        (0..40_u64).prop_map(|count| Law::Once { count }),
        proptest::collection::vec((0..300_u64, 0..100 * MILLI), 1..6).prop_map(|steps| {
            let step = |(rate, span)| (Rate::per_second(rate), Nanos(span));
            Law::Stairs {
                steps: steps.into_iter().map(step).collect(),
            }
        }),
        span().prop_map(|duration| Law::Unlimited { duration }),
        (any_rate(), 1..100 * MILLI, span()).prop_map(|(mean, period, duration)| Law::Sine {
            mean,
            amplitude: mean,
            period: Nanos(period),
            duration,
        }),
        proptest::collection::vec(0..300 * MILLI, 0..20).prop_map(|mut times| {
            times.sort_unstable();
            Law::Trace {
                times: times.into_iter().map(Nanos).collect(),
            }
        }),
        (0..9_u64, 0..9_u64, 1..4_u64).prop_map(|(from, to, by)| Law::Step {
            from: Rate::per_second(from * 50),
            to: Rate::per_second(to * 50),
            by: Rate::per_second(by * 50),
            duration: Nanos(50 * MILLI),
        }),
    ]
}

/// Up to five laws, each of less than half a second.
pub(crate) fn any_sequence() -> impl Strategy<Value = Sequence> {
    proptest::collection::vec(any_law(), 1..6).prop_map(Sequence)
}

pub(crate) fn any_arrivals() -> impl Strategy<Value = Arrivals> {
    let shape = (10..10_000_u32).prop_filter_map("a shape", Shape::from_thousandths);
    prop_oneof![
        Just(Arrivals::Constant),
        Just(Arrivals::Poisson),
        shape.prop_map(Arrivals::Gamma)
    ]
}
