//! Arbitrary byte strings as events of a started run: they are refused, or encode to the same
//! bytes, and an ending after them gives a readable summary.

#![no_main]

use drumfire_measure::{
    Ending, Model, PoolInfo, Reading, RunInfo, decode_event, encode_event, form,
};
use drumfire_plan::{Growth, Warmup};
use drumfire_units::Nanos;
use libfuzzer_sys::fuzz_target;
use std::sync::Arc;

/// The facts of a run with a pool of this many steps.
fn info(steps: usize) -> RunInfo {
    RunInfo {
        id: "id".to_owned(),
        started_at_unix_ns: 7,
        seed: 7,
        version: "0".to_owned(),
        threads: 1,
        threads_planned: 1,
        pools: vec![PoolInfo {
            name: "main".to_owned(),
            model: Model::Open,
            steps: (0..steps).map(|n| Arc::from(n.to_string())).collect(),
            intended_rate: None,
            connections: 1,
            growth: Growth::Ahead,
            streams: 1,
            users: None,
            iterations: steps > 1,
            scenarios: Vec::new(),
            stages: Vec::new(),
            asked: None,
        }],
        interval: Nanos::from_secs(1),
        warmup: Warmup::Span(Nanos::ZERO),
        tls_verified: None,
        spin: false,
        thresholds: Vec::new(),
        notes: Vec::new(),
        target: String::new(),
    }
}

fuzz_target!(|events: Vec<Vec<u8>>| {
    let info = Arc::new(info(3));
    let mut reading = Reading::new(Arc::clone(&info), &info.thresholds);
    for bytes in &events {
        if let Ok(event) = decode_event(bytes, &info) {
            assert_eq!(encode_event(&event).as_ref(), Some(bytes));
            reading.observe(&event);
        }
        if let Ok(ending) = form::decode::<Ending>(bytes) {
            let summary = reading.clone().restore(ending);
            let _steps = summary.steps();
            let _rate = summary.achieved_per_s();
        }
    }
});
