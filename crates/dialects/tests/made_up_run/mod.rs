//! A summary from a few lines: `span 10s`, and for each group of exchanges
//! `<count> <outcome> <status> <service time> <bytes received>`.

use drumfire_measure::{
    GeneratorHealth, Interval, Leniencies, Model, Outcome, RunInfo, Sample, Summary, Unfinished,
    WindowedThresholds,
};
use drumfire_units::Nanos;
use std::sync::Arc;

/// The summary of a run in which this happened.
pub(crate) fn summary(lines: &str) -> Summary {
    let info = Arc::new(info());
    let mut interval = Interval::new(&info.steps);
    let mut span = Nanos::ZERO;
    for line in lines.lines() {
        match line.split(' ').collect::<Vec<_>>().as_slice() {
            ["span", text] => span = text.parse().unwrap(),
            [count, outcome, status, time, bytes] => {
                let count: u64 = count.parse().unwrap();
                let sample = sample(outcome, status, time, bytes);
                interval.record_intended(count);
                (0..count).for_each(|_| interval.record(&sample));
            }
            _ => panic!("`{line}` is no line of a run"),
        }
    }
    let windows = WindowedThresholds::new(&[], info.interval);
    let mut summary = Summary::new(info);
    summary.absorb(&interval);
    let health = GeneratorHealth::default();
    summary.finish(span, Unfinished::default(), health, &[], &windows)
}

fn sample(outcome: &str, status: &str, time: &str, bytes: &str) -> Sample {
    let named = |o: &&Outcome| o.name() == outcome;
    Sample {
        intended: Nanos::ZERO,
        due: Nanos::ZERO,
        sent: Nanos::ZERO,
        first_byte: Nanos::MAX,
        end: time.parse().unwrap(),
        bytes_sent: 100,
        outcome: *Outcome::ALL.iter().find(named).expect("an outcome's name"),
        leniencies: Leniencies::default(),
        bytes_received: bytes.parse().unwrap(),
        status: status.parse().unwrap(),
        step: 0,
    }
}

fn info() -> RunInfo {
    RunInfo {
        id: "made-up".to_owned(),
        started_at_unix_ns: 0,
        model: Model::Closed,
        seed: 0,
        version: "0",
        threads: 2,
        steps: vec!["all".into()],
        intended_rate: None,
        connections: 10,
        interval: Nanos::from_secs(1),
        warmup: Nanos::ZERO,
        tls_verified: None,
        spin: false,
        plan_text: Vec::new(),
        notes: Vec::new(),
        target: "http://made.up/".to_owned(),
    }
}
