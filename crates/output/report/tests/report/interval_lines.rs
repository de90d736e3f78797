//! What is told of each interval: lines that line up, rows of CSV, and lines of JSON by their
//! schema.

use crate::fixture;
use drumfire_measure::{Interval, IntervalRow, Model, Outcome, Reading, Rows, RunInfo, Summary};
use drumfire_plan::Stage;
use drumfire_report::interval_lines::{Lines, sentence};
use drumfire_report::style::{Color, Style, Unicode};
use drumfire_report::{csv, json, text};
use drumfire_units::Nanos;
use serde_json::Value;
use std::sync::Arc;
use unicode_width::UnicodeWidthStr as _;

const SCHEMA: &str = include_str!("../../../../../docs/schema/drumfire.interval.v1.json");

/// A run of seconds: each with as many requests as are given, of which so many fail.
fn rows(info: &RunInfo, seconds: &[(u64, u64)]) -> Vec<IntervalRow> {
    let mut rows = Rows::new(info);
    let rows = (0..).zip(seconds).map(|(at, (requests, failed))| {
        let mut interval = Interval::new(&info.pool().steps);
        interval.reset(at, Nanos::from_secs(at));
        interval.end = Nanos::from_secs(at + 1);
        interval.total.record_intended(1_000);
        for n in 0..*requests {
            let sample = fixture::sample(interval.start + Nanos::from_millis(n));
            let outcome = [
                Outcome::HttpStatus,
                Outcome::AssertBody,
                Outcome::TimeoutTotal,
            ][(n % 3) as usize];
            interval.total.record(&match n < *failed {
                true => fixture::ended(sample, outcome, 503),
                false => sample,
            });
        }
        interval.sum_up();
        rows.next_row(&interval)
    });
    rows.collect()
}

fn typical() -> (RunInfo, Vec<IntervalRow>) {
    let info = fixture::info(Model::Open);
    let rows = rows(&info, &[(1_000, 0), (990, 9), (2, 0), (0, 0), (999, 999)]);
    (info, rows)
}

fn lines(info: &RunInfo, rows: &[IntervalRow], width: Option<u16>) -> String {
    let style = width.map(|width| Style::new(width, Color::Off, Unicode::On));
    let mut lines = Lines::new(info, Unicode::On, style.as_ref());
    rows.iter().map(|row| lines.next_line(row)).collect()
}

#[test]
fn a_log_has_every_figure_in_its_column() {
    let (info, rows) = typical();
    let expected = "\
# good/bad/failed: as expected / answered otherwise (status, check) / no answer
# goal: requests due; goal%: good and bad of them; open: in flight; chk: failed checks
# times in ms: response time, from when a request was due; lag99: drumfire's own lateness
# + or - at the end: p99 is at least 10 times the recent mean, or at most a tenth of it
# time                  run good/bad/failed   goal goal%  len   min   p50   p90   p95   p99  p999   max lag99  open drop chk
2026-01-31T23:59:59Z      1        1000/0/0   1000  100%   1s  1.02  1.02  1.02  1.02  1.02     -  1.02  0.02     0    0   0
2026-02-01T00:00:00Z      2         981/6/3   1000   98%   1s  1.02  1.02  1.02  1.02  1.02     - ≥1.02  0.02     0    0   3
2026-02-01T00:00:01Z      3           2/0/0   1000    0%   1s  1.02     -     -     -     -     -  1.02     -     0    0   0
2026-02-01T00:00:02Z      4           0/0/0   1000    0%   1s     -     -     -     -     -     -     -     -     0    0   0
2026-02-01T00:00:03Z      5       0/666/333   1000   66%   1s ≥1.02 ≥1.02     - ≥1.02 ≥1.02     - ≥1.02  0.02     0    0 333
";
    let shown = lines(&info, &rows, None);
    let at = |text: &str| text.lines().skip(4).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(at(&shown)[..4], at(expected)[..4], "{shown}");
    assert_eq!(
        shown.lines().take(4).collect::<Vec<_>>(),
        expected.lines().take(4).collect::<Vec<_>>()
    );
    for line in shown.lines().filter(|line| !line.starts_with('#')) {
        assert_eq!(
            line.split_whitespace().count(),
            17,
            "no blanks in fields: {line}"
        );
    }
}

#[test]
fn lines_fit_a_terminal_and_keep_their_places() {
    let (info, rows) = typical();
    for width in [40, 80, 120, 200] {
        let shown = lines(&info, &rows, Some(width));
        let widths: Vec<_> = shown.lines().map(str::width).collect();
        assert!(
            widths.iter().all(|it| *it <= usize::from(width)),
            "{width}:\n{shown}"
        );
        let figures = shown.lines().filter(|line| !line.starts_with('#'));
        let figures: Vec<_> = figures.map(str::width).collect();
        assert!(
            figures.iter().all(|it| *it == figures[0]),
            "{width}:\n{shown}"
        );
        let time = if width < 60 {
            "\n23:59:59 "
        } else {
            "\n2026-01-31T23:59:59Z "
        };
        assert!(shown.contains(time), "{shown}");
        assert!(shown.contains("goal%") && shown.contains("p99"), "{shown}");
    }
}

#[test]
fn the_header_comes_back_and_the_legend_does_not() {
    let info = fixture::info(Model::Closed);
    let rows = rows(&info, &[(1, 0); 45]);
    let shown = lines(&info, &rows, None);
    let headers: Vec<_> = shown
        .lines()
        .zip(0..)
        .filter(|(line, _)| line.starts_with("# time "))
        .map(|(_, at)| at)
        .collect();
    assert_eq!(headers, [4, 25, 46]);
    assert_eq!(shown.matches("service time").count(), 1);
    assert!(
        shown.contains(" 1/0/0      -     -   1s "),
        "no goal:\n{shown}"
    );
}

#[test]
fn short_intervals_have_times_to_the_millisecond() {
    let mut info = fixture::info(Model::Open);
    info.interval = Nanos::from_millis(250);
    let mut interval = Interval::new(&info.pool().steps);
    interval.reset(1, Nanos::from_millis(250));
    interval.end = Nanos::from_millis(500);
    interval.total.record_warmup(&fixture::sample(Nanos::ZERO));
    interval.sum_up();
    let shown = lines(&info, &[Rows::new(&info).next_row(&interval)], None);
    let last = shown.lines().last().unwrap();
    assert!(
        last.starts_with("2026-01-31T23:59:59.373Z    0.5 "),
        "{shown}"
    );
    assert!(
        last.ends_with(" warm-up") && last.contains(" 0.25s "),
        "{shown}"
    );
    let widths: Vec<_> = shown.lines().skip(4).map(str::width).collect();
    assert_eq!(widths[0] + " warm-up".len(), widths[1], "{shown}");
}

#[test]
fn a_heartbeat_is_one_sentence() {
    let (_, rows) = typical();
    let style = Style::default();
    assert_eq!(
        sentence(&rows[1], &style),
        "after 2 s: in the last 1 s 981 ok, 9 failed, 0 in flight, 99 % of due, p50 1.02 ms, p99 1.02 ms"
    );
}

#[test]
fn rows_of_csv_have_the_header_s_columns() {
    let (_, rows) = typical();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let header = text(csv::interval_header());
    let names: Vec<_> = header.trim_end().split(',').collect();
    let cell = |row: &IntervalRow, name: &str| {
        let row = text(csv::interval(row));
        assert!(row.ends_with('\n'));
        let cells: Vec<_> = row
            .trim_end_matches('\n')
            .split(',')
            .map(str::to_owned)
            .collect();
        assert_eq!(cells.len(), names.len());
        let at = names.iter().position(|it| *it == name).unwrap();
        cells[at].clone()
    };
    assert_eq!(cell(&rows[1], "at"), "2026-02-01T00:00:00.123456789Z");
    assert_eq!(cell(&rows[1], "start_ns"), "1000000000");
    assert_eq!(cell(&rows[1], "bad"), "6");
    assert_eq!(cell(&rows[1], "goal_share"), "0.987000");
    assert_eq!(cell(&rows[1], "at_least"), "max");
    assert_eq!(cell(&rows[1], "lag_p99"), "20000");
    assert_eq!(cell(&rows[2], "p99"), "");
}

#[test]
fn every_line_of_json_satisfies_its_schema() {
    let mut schema: Value = serde_json::from_str(SCHEMA).unwrap();
    schema["additionalProperties"] = Value::Bool(false);
    let validator = jsonschema::validator_for(&schema).unwrap();
    let (info, rows) = typical();
    for row in &rows {
        let line = String::from_utf8(json::interval(row, &info)).unwrap();
        assert_eq!(line.matches('\n').count(), 1, "{line}");
        let value: Value = serde_json::from_str(&line).unwrap();
        let faults: Vec<_> = validator
            .iter_errors(&value)
            .map(|it| it.to_string())
            .collect();
        assert!(faults.is_empty(), "{faults:?}: {line}");
        assert_eq!(value["good"], row.good);
        assert_eq!(value["length_ns"], 1_000_000_000);
        let mut broken = value;
        broken["p50"] = Value::from("much");
        assert!(!validator.is_valid(&broken));
    }
}

#[test]
fn a_summary_has_its_intervals() {
    let run = fixture::open();
    let summary: Value = serde_json::from_slice(&json::summary(&run)).unwrap();
    let intervals = summary["intervals"].as_array().unwrap();
    let sum = |key: &str| {
        intervals
            .iter()
            .map(|it| it[key].as_u64().unwrap())
            .sum::<u64>()
    };
    assert_eq!(sum("good"), run.total.counts.ok);
    assert_eq!(sum("bad") + sum("failed"), run.total.counts.failed);
    assert_eq!(sum("goal"), run.total.counts.intended);
}

/// Ten seconds of two stages.
fn staged() -> Summary {
    let mut info = fixture::info(Model::Open);
    let stage = |name: &str, start| Stage {
        name: name.to_owned(),
        start: Nanos::from_secs(start),
    };
    info.pools[0].stages = vec![stage("5/s to 200/s", 0), stage("200/s", 3)];
    let mut interval = Interval::of_pools(&info.pools);
    let mut reading = Reading::new(Arc::new(info), &[]);
    for second in 0..10 {
        interval.reset(second, Nanos::from_secs(second));
        interval.end = Nanos::from_secs(second + 1);
        interval.total.record_intended(200);
        for n in 0..200 {
            let sample = fixture::sample(interval.start + Nanos::from_millis(n));
            interval.total.record(&match (second, n) {
                (7, 0) => fixture::ended(sample, Outcome::ConnectRefused, 0),
                _ => sample,
            });
        }
        interval.sum_up();
        reading.absorb(&interval);
    }
    let health = fixture::health(&reading.so_far().total);
    reading.close_with(Nanos::from_secs(10), health)
}

#[test]
fn stages_have_a_table_and_entries() {
    let run = staged();
    for width in [40, 80, 120] {
        let text = text::summary(&run, &Style::new(width, Color::Off, Unicode::On));
        let table: Vec<_> = text
            .lines()
            .skip_while(|line| !line.starts_with("Stages"))
            .take(3)
            .collect();
        assert_eq!(table.len(), 3, "{text}");
        assert!(
            table[1].starts_with("5/s to 200/s") && table[2].starts_with("200/s"),
            "{text}"
        );
        assert!(table[2].contains("1,399"), "{text}");
        assert!(
            table.iter().all(|line| line.width() <= usize::from(width)),
            "{text}"
        );
    }
    let summary: Value = serde_json::from_slice(&json::summary(&run)).unwrap();
    let stages = summary["stages"].as_array().unwrap();
    assert_eq!(
        (&stages[1]["name"], &stages[1]["pool"]),
        (&"200/s".into(), &"main".into())
    );
    assert_eq!(
        (&stages[0]["good"], &stages[1]["failed"]),
        (&600.into(), &1.into())
    );
    assert_eq!(stages[1]["start_ns"], 3_000_000_000_u64);
    let schema = include_str!("../../../../../docs/schema/drumfire.summary.v1.json");
    let validator = jsonschema::validator_for(&serde_json::from_str(schema).unwrap()).unwrap();
    assert!(validator.is_valid(&summary));
}
