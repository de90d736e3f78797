//! A row for each request.

use crate::fixture;
use drumfire_measure::{Kept, Leniencies, Model, Outcome, Particulars, RunInfo, Sample};
use drumfire_report::{RequestRows, RowAnswers, RowForm};
use drumfire_units::Nanos;

fn kept(outcome: Outcome) -> Kept {
    let is_ok = outcome == Outcome::Ok;
    Kept {
        sample: Sample {
            intended: Nanos(1_000),
            due: Nanos(1_200),
            sent: Nanos(if is_ok { 1_300 } else { 5_000 }),
            first_byte: if is_ok { Nanos(3_000) } else { Nanos::MAX },
            end: Nanos(5_000),
            bytes_sent: if is_ok { 99 } else { 0 },
            outcome,
            leniencies: Leniencies::default(),
            bytes_received: if is_ok { 250 } else { 0 },
            status: if is_ok { 200 } else { 0 },
            step: 0,
        },
        particulars: Particulars {
            arrival: 0,
            began: Nanos(1_200),
            written: Nanos(1_400),
        },
        detail: None,
        answer: None,
        pool: 0,
    }
}

fn info() -> RunInfo {
    let mut info = fixture::info(Model::Open);
    info.started_at_unix_ns = 1_700_000_000_000_000_000;
    info.pools[0].name = "main".to_owned();
    info.pools[0].steps = vec!["=a,b".into()];
    info
}

#[test]
fn a_request_is_a_row_of_cells() {
    let rows = RequestRows::new(&info(), RowForm::Csv, RowAnswers::Without);
    let mut out = rows.header();
    rows.push(&kept(Outcome::Ok), None, &mut out);
    rows.push(&kept(Outcome::ConnectRefused), Some("a, b"), &mut out);
    let lines: Vec<&str> = out.lines().collect();
    let columns = lines[0].split(',').count();
    assert_eq!(
        lines[1],
        "1700000000000001000,main,\"'=a,b\",ok,200,4000,3700,200,100,1700,99,250,"
    );
    assert_eq!(
        lines[2],
        "1700000000000001000,main,\"'=a,b\",connect:refused,,4000,,200,3800,,0,0,\"a, b\""
    );
    assert_eq!(columns, 13);
}

#[test]
fn a_request_is_an_object_on_a_line() {
    let rows = RequestRows::new(&info(), RowForm::JsonLine, RowAnswers::Without);
    let mut out = rows.header();
    rows.push(&kept(Outcome::ConnectRefused), Some("a\nb"), &mut out);
    assert_eq!(out.lines().count(), 1);
    let row: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(row["outcome"], "connect:refused");
    assert_eq!(row["step"], "=a,b");
    assert_eq!(row["service_time_ns"], serde_json::Value::Null);
    assert_eq!(row["detail"], "a\nb");
}
