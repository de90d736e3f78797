//! The rest of a plan: each arrival of the whole occurs in exactly one of the two parts.

use drumfire_plan::{Load, Plan, Sequence, rest};
use drumfire_schedule::Schedule;
use drumfire_testkit::open;
use drumfire_units::Nanos;
use proptest::prelude::*;

fn law(plan: &Plan) -> &Sequence {
    match &plan.pools()[0].load {
        Load::Open { rate, .. } => rate,
        other => panic!("{other:?} has no law"),
    }
}

fn schedule(law: &Sequence) -> Schedule {
    Schedule::new(law, drumfire_plan::Arrivals::Constant, 1).expect("a law")
}

/// Pieces whose ends are known.
fn any_law() -> impl Strategy<Value = String> {
    let constant =
        (0..400_u32, 1..4_000_u32).prop_map(|(rate, ms)| format!("const({rate},{ms}ms)"));
    let slow = (1..90_u32, 1..4_000_u32).prop_map(|(rate, ms)| format!("const({rate}/m,{ms}ms)"));
    let line = (0..300_u32, 0..300_u32, 1..4_000_u32)
        .prop_map(|(from, to, ms)| format!("line({from},{to},{ms}ms)"));
    let step = (1..50_u32, 1..50_u32, 1..20_u32, 1..900_u32)
        .prop_map(|(from, to, by, ms)| format!("step({from},{to},{by},{ms}ms)"));
    let piece = prop_oneof![constant, slow, line, step];
    proptest::collection::vec(piece, 1..4).prop_map(|pieces| pieces.join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn parts_of_a_law_have_its_arrivals(law_text in any_law(), at in 0..8_000_000_000_u64) {
        let Ok(plan) = open(&law_text).connections(1).plan() else {
            // A law that sends nothing is refused.
            return Ok(());
        };
        let whole = schedule(law(&plan));
        let (before, total) = (whole.count_before(Nanos(at)), whole.total());
        let after = match rest(plan, Nanos(at), &[], 1) {
            Ok(rest) => schedule(law(&rest)).total(),
            Err(_) => Some(0),
        };
        let (total, after) = (total.unwrap_or(0), after.unwrap_or(0));
        prop_assert_eq!(before + after, total, "{} at {}", law_text, Nanos(at));
    }
}
