//! A step's latency over time: the columns of all steps have one quantile and the same spans.

use crate::fixture;
use drumfire_measure::{Interval, Model, Reading, Summary};
use drumfire_report::figure::Sparks;
use drumfire_report::style::Unicode;
use drumfire_units::Nanos;
use std::sync::Arc;

/// A run of two steps over some seconds, this many requests of each a second. The second step has
/// none in the third second, and stalls in the fifth.
fn run(seconds: u64, requests: u64) -> Summary {
    let mut info = fixture::info(Model::Open);
    info.pools[0].steps = vec!["steady".into(), "stalling".into()];
    let mut interval = Interval::new(&info.pool().steps);
    let mut reading = Reading::new(Arc::new(info), &[]);
    for second in 0..seconds {
        interval.reset(second, Nanos::from_secs(second));
        interval.end = Nanos::from_secs(second + 1);
        for n in 0..requests {
            for step in 0..2 {
                if step == 1 && second == 2 {
                    continue;
                }
                let mut sample = fixture::sample(Nanos::from_secs(second) + Nanos::from_micros(n));
                sample.step = step;
                if step == 1 && second == 4 {
                    sample.end += Nanos::from_millis(80);
                }
                interval.total.record_intended(1);
                interval.total.record(&sample);
            }
        }
        interval.sum_up();
        reading.absorb(&interval);
    }
    let health = fixture::health(&reading.so_far().total);
    reading.close_with(Nanos::from_secs(seconds), health)
}

fn blocks(run: &Summary, columns: usize) -> (&'static str, Vec<String>) {
    let sparks = Sparks::for_steps(run, &[(0, 0), (0, 1)], columns).unwrap();
    let steps = sparks.steps.iter().flatten();
    (
        sparks.quantile,
        steps.map(|spark| spark.blocks(Unicode::On)).collect(),
    )
}

#[test]
fn a_stall_stands_at_its_time() {
    let (quantile, steps) = blocks(&run(8, 40), 24);
    assert_eq!(quantile, "p90");
    assert_eq!(steps, ["████████", "▁▁ ▁█▁▁▁"]);
    let (_, steps) = blocks(&run(8, 40), 4);
    assert_eq!(steps, ["████", "▁▁█▁"]);
    let (quantile, _) = blocks(&run(8, 10), 24);
    assert_eq!(quantile, "p50");
}

#[test]
fn a_run_too_short_has_none() {
    assert_eq!(Sparks::for_steps(&run(2, 40), &[(0, 0), (0, 1)], 24), None);
    assert_eq!(Sparks::for_steps(&run(8, 2), &[(0, 0), (0, 1)], 24), None);
    assert_eq!(Sparks::for_steps(&fixture::open(), &[(0, 0)], 24), None);
}

/// The only step of a run has no timeline of its own: its requests are the run's.
#[test]
fn a_run_has_a_spark_of_its_own() {
    let run = run(8, 40);
    let sparks = Sparks::of_run(&run, 24).unwrap();
    assert_eq!(sparks.heading(), "p90 over time");
    let spark = sparks.steps[0].as_ref().unwrap();
    assert_eq!(spark.blocks(Unicode::On).chars().count(), 8);
    assert_eq!(spark.blocks(Unicode::Off).chars().count(), 8);
}
