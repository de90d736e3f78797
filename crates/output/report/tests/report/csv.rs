//! The CSV of histograms: a shape that spreadsheets and scripts can rely on.

use crate::fixture;
use drumfire_report::csv;
use drumfire_units::Nanos;

#[test]
fn rows_hold_every_sample_once() {
    let run = fixture::open();
    let text = String::from_utf8(csv::histogram(&run)).unwrap();
    let mut lines = text.lines();
    assert_eq!(
        lines.next(),
        Some("metric,low_ns,high_ns,count,cumulative,quantile,at_least")
    );
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    assert!(rows.iter().all(|row| row.len() == 7));
    let latency = &run.total.latency;
    for (metric, histogram) in [
        ("response_time", &latency.response_time),
        ("service_time", &latency.service_time),
        ("lag", &latency.lag),
        ("waiting", &latency.waiting),
        ("failed", &latency.failed),
    ] {
        let of_metric: Vec<_> = rows.iter().filter(|row| row[0] == metric).collect();
        let (mut cumulative, mut at_least) = (0, 0);
        for row in &of_metric {
            let number = |at: usize| row[at].parse::<u64>().unwrap();
            assert!(number(1) <= number(2));
            cumulative += number(3);
            assert_eq!(number(4), cumulative);
            at_least += number(6);
        }
        assert_eq!(cumulative, histogram.count());
        let in_flight = matches!(metric, "response_time" | "service_time");
        assert_eq!(at_least, if in_flight { 3 } else { 0 }, "{metric}");
        assert_eq!(of_metric.last().unwrap()[5], "1.000000");
    }
}

#[test]
fn streams_have_the_times_of_their_messages() {
    let mut run = fixture::closed();
    let rows = |run: &drumfire_measure::Summary, metric: &str| {
        let text = String::from_utf8(csv::histogram(run)).unwrap();
        text.lines().filter(|line| line.starts_with(metric)).count()
    };
    assert_eq!(rows(&run, "messages."), 0, "no stream, no row");
    run.total.messages.first.record(Nanos(1_000));
    run.total.messages.gap.record(Nanos(2_000));
    run.total.messages.gap.record(Nanos(9_000));
    assert_eq!(rows(&run, "messages.first,"), 1);
    assert_eq!(rows(&run, "messages.gap,"), 2);
    let run = fixture::streamed_steps();
    assert!(rows(&run, "step(watch).messages.first,") > 100);
    assert_eq!(rows(&run, "step(watch).messages.gap,"), 1);
    assert_eq!(rows(&run, "step(login).messages."), 0, "a single message");
}

#[test]
fn scenarios_have_the_times_of_their_iterations() {
    let text = String::from_utf8(csv::histogram(&fixture::scenario())).unwrap();
    let counts = |metric: &str| {
        let rows = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
        let rows = rows.filter(|row| row[0] == metric);
        rows.map(|row| row[3].parse::<u64>().unwrap()).sum::<u64>()
    };
    // Two were not started, and one was in flight.
    assert_eq!(counts("iteration.time"), 1_200 - 24);
    assert_eq!(counts("iteration.failed"), 24);
    assert_eq!(counts("pool(buy).iteration.time"), 0, "it is the only pool");
    let text = String::from_utf8(csv::histogram(&fixture::scenarios())).unwrap();
    let of_pools = |name: &str| text.lines().filter(|line| line.starts_with(name)).count();
    assert!(of_pools("pool(buy).iteration.time,") > 100);
    assert_eq!(of_pools("pool(browse).iteration.time,"), 0);
    assert!(of_pools("pool(buy).scenario(thorough).time,") > 50);
}

#[test]
fn an_empty_run_has_a_header() {
    let text = String::from_utf8(csv::histogram(&fixture::empty())).unwrap();
    assert_eq!(
        text,
        "metric,low_ns,high_ns,count,cumulative,quantile,at_least\n"
    );
}

#[test]
fn foreign_names_stay_in_their_cell() {
    let text = String::from_utf8(csv::histogram(&fixture::hostile())).unwrap();
    assert!(text.contains("\n\"step(=1+1\u{fffd}]0"), "{text}");
    for (name, run) in fixture::all() {
        let text = String::from_utf8(csv::histogram(&run)).unwrap();
        assert!(!text.contains(fixture::CANARY), "{name}");
        for line in text.lines() {
            assert!(
                !line.starts_with(['=', '+', '-', '@', '\t']),
                "{name}: {line}"
            );
            assert!(!line.contains(char::is_control), "{name}: {line}");
        }
    }
}
