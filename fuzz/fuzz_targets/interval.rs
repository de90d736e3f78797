//! Arbitrary bytes as an interval, and as the facts of a run: they are refused, or encode to the
//! same bytes, and decoded data can be merged and read.

#![no_main]

use drumfire_measure::{Interval, Model, PoolInfo, RunInfo, form};
use drumfire_plan::Growth;
use libfuzzer_sys::fuzz_target;
use std::sync::Arc;

/// A pool with `steps` steps.
fn pool(steps: usize) -> PoolInfo {
    PoolInfo {
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
    }
}

fuzz_target!(|bytes: &[u8]| {
    for pools in [vec![pool(1)], vec![pool(3), pool(80)]] {
        if let Ok(mut decoded) = Interval::decode(bytes, &pools) {
            assert_eq!(decoded.encode(), bytes);
            let again = decoded.clone();
            decoded.merge(&again);
            decoded.sum_up();
            let _quantile = decoded.total.latency.response_time.quantile(0.99);
            let _rows = decoded.total.errors();
        }
    }
    if let Ok(decoded) = form::decode::<RunInfo>(bytes) {
        assert_eq!(form::encode(&decoded), bytes);
    }
});
