//! Runs of one plan share its key, even if they differ otherwise.

use crate::asked;
use drumfire_measure::{ArrivalClock, Asked, AskedStop, Model, PlanKey};

fn key(name: &str, model: Model, asked: &Asked) -> PlanKey {
    PlanKey::from_pools([(name, model, asked)], ArrivalClock::Program)
}

#[test]
fn a_key_differs_with_each_fact_of_a_plan() {
    let facts = asked::asked_by_number(0x9e37_79b9_7f4a_7c15);
    let one = key("main", Model::Open, &facts);
    assert_eq!(one, key("main", Model::Open, &facts));
    let mut longer = facts.clone();
    longer.stop = AskedStop {
        requests: Some(longer.stop.requests.unwrap_or(0) + 1),
        ..longer.stop
    };
    let others = [
        key("main", Model::Open, &longer),
        key(
            "main",
            Model::Open,
            &asked::asked_by_number(0x1234_5678_9abc_def1),
        ),
        key("other", Model::Open, &facts),
        key("main", Model::Closed, &facts),
        PlanKey::from_pools(
            [("main", Model::Open, &facts), ("main", Model::Open, &facts)],
            ArrivalClock::Program,
        ),
        PlanKey::from_pools([("main", Model::Open, &facts)], ArrivalClock::Kernel),
        PlanKey::from_pools([("main", Model::Open, &facts)], ArrivalClock::Wire),
    ];
    for (number, other) in others.into_iter().enumerate() {
        assert_ne!(one, other, "{number}");
    }
}
