//! A summary from a few lines: `span 10s`, and for each group of exchanges
//! `<count> <outcome> <status> <service time> <bytes received>`.

use drumfire_measure::{
    GeneratorHealth, Interval, Kept, Leniencies, Model, Outcome, Particulars, PoolInfo, Reading,
    RunEvent, RunInfo, Sample, Summary,
};

use drumfire_units::Nanos;
use std::sync::Arc;

/// The summary of a run with these exchanges.
pub(crate) fn summary(lines: &str) -> Summary {
    let info = Arc::new(info());
    let mut interval = Interval::new(&info.pool().steps);
    let mut span = Nanos::ZERO;
    for line in lines.lines() {
        match line.split(' ').collect::<Vec<_>>().as_slice() {
            ["span", text] => span = text.parse().unwrap(),
            [count, outcome, status, time, bytes] => {
                let count: u64 = count.parse().unwrap();
                let sample = sample(outcome, status, time, bytes);
                interval.total.record_intended(count);
                (0..count).for_each(|_| interval.total.record(&sample));
            }
            _ => panic!("`{line}` is no line of a run"),
        }
    }
    let mut reading = Reading::new(info, &[]);
    interval.sum_up();
    reading.absorb(&interval);
    reading.close_with(span, GeneratorHealth::default())
}

/// The events of the run: every exchange, one millisecond apart, and then the end.
pub(crate) fn events(lines: &str, summary: &Summary) -> Vec<RunEvent> {
    let mut kept = Vec::new();
    for line in lines.lines() {
        if let [count, outcome, status, time, bytes] =
            line.split(' ').collect::<Vec<_>>().as_slice()
        {
            let sample = sample(outcome, status, time, bytes);
            for _ in 0..count.parse::<u64>().unwrap() {
                let shift = Nanos::from_millis(kept.len() as u64);
                let sample = Sample {
                    intended: sample.intended + shift,
                    due: sample.due + shift,
                    sent: sample.sent + shift,
                    end: sample.end + shift,
                    ..sample
                };
                let detail =
                    (outcome.starts_with("grpc:")).then(|| Box::new("it \"said\", so".into()));
                kept.push(Kept {
                    sample,
                    particulars: Particulars {
                        arrival: 0,
                        began: sample.sent,
                        written: sample.sent,
                    },
                    detail,
                    answer: None,
                    pool: 0,
                });
            }
        }
    }
    vec![
        RunEvent::Started(Arc::clone(&summary.info)),
        RunEvent::Kept(Arc::new(kept)),
    ]
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
        version: "0".to_owned(),
        threads: 2,
        threads_planned: 2,
        target: "http://made.up/".to_owned(),
        ..RunInfo::new(vec![PoolInfo {
            connections: 10,
            ..PoolInfo::new("main", Model::Closed, ["all"])
        }])
    }
}
