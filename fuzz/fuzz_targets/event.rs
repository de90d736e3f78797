//! Arbitrary byte strings as events of a started run: they are refused, or encode to the same
//! bytes, and the end of the run gives a readable summary.

#![no_main]

use drumfire_measure::{EventReader, Model, PoolInfo, RunEvent, RunInfo, encode_event};
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
    let mut first = EventReader::new();
    for bytes in &events {
        let _started = first.read(bytes);
    }
    let mut reader = EventReader::new();
    let started = RunEvent::Started(Arc::new(info(3)));
    assert_eq!(reader.read(&encode_event(&started)), Ok(started));
    for bytes in &events {
        match reader.read(bytes) {
            Ok(RunEvent::Finished(summary)) => {
                let _steps = summary.steps();
                let _rate = summary.achieved_per_s();
            }
            Ok(event) => assert_eq!(&encode_event(&event), bytes),
            Err(_) => {}
        }
    }
});
