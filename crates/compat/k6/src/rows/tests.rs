use drumfire_units::Nanos;
use proptest::prelude::*;

use super::*;
use crate::golden::{points, registry};
use crate::metrics::{Detail, Registry, Sample, Tags};

fn check_json(rows: &str, thresholds: &str) {
    let registry = registry(rows, thresholds, Detail::Run);
    let (mut written, mut writer) = (Vec::new(), JsonRows::default());
    for row in points(rows) {
        writer.write(&registry, &row.sample(&registry), &mut written);
    }
    let written = String::from_utf8(written).expect("UTF-8");
    for (row, expected) in written.lines().zip(rows.lines()) {
        assert_eq!(row, expected);
    }
    assert_eq!(written.len(), rows.len());
}

#[test]
fn json_rows_are_those_of_k6() {
    check_json(include_str!("../../tests/golden/tags.jsonl"), "{}");
    check_json(include_str!("../../tests/golden/groups-full.jsonl"), "{}");
    check_json(include_str!("../../tests/golden/slow.jsonl"), "{}");
}

/// Columns of k6's rows, with the other tags in the order of their names: k6's order is random.
fn table(text: &str) -> Vec<Vec<String>> {
    let mut reader = ::csv::ReaderBuilder::new()
        .has_headers(false)
        .from_reader(text.as_bytes());
    let rows = reader.records().map(|row| {
        let mut row: Vec<String> = row.expect("a row").iter().map(str::to_owned).collect();
        let extra = row.len() - 2;
        let mut tags: Vec<&str> = row[extra].split('&').collect();
        tags.sort_unstable();
        row[extra] = tags.join("&");
        row
    });
    rows.collect()
}

#[test]
fn csv_rows_are_those_of_k6() {
    for (rows, expected, is_exact) in [
        (
            include_str!("../../tests/golden/tags.jsonl"),
            include_str!("../../tests/golden/tags.csv"),
            false,
        ),
        (
            include_str!("../../tests/golden/groups-full.jsonl"),
            include_str!("../../tests/golden/groups-full.csv"),
            true,
        ),
        (
            include_str!("../../tests/golden/names-full.jsonl"),
            include_str!("../../tests/golden/names-full.csv"),
            true,
        ),
    ] {
        let registry = registry(rows, "{}", Detail::Run);
        let writer = CsvRows::new(SYSTEM_TAGS, TimeFormat::Unix);
        let mut written = Vec::new();
        writer.write_header(&mut written);
        for row in points(rows) {
            writer.write(&registry, &row.sample(&registry), &mut written);
        }
        let written = String::from_utf8(written).expect("UTF-8");
        assert_eq!(table(&written), table(expected));
        if is_exact {
            assert_eq!(written, expected);
        }
    }
}

#[test]
fn targets_of_csv() {
    let none = |_: &str| None;
    let target = |argument: &str| CsvTarget::parse(argument, none);
    let second = Nanos(1_000_000_000);
    for (argument, file, save_interval, time_format) in [
        ("", "file.csv", second, TimeFormat::Unix),
        ("a.csv.gz", "a.csv.gz", second, TimeFormat::Unix),
        ("-", "-", second, TimeFormat::Unix),
        (
            "fileName=b.csv,saveInterval=2s,timeFormat=rfc3339_nano",
            "b.csv",
            Nanos(2_000_000_000),
            TimeFormat::Rfc3339Nano,
        ),
    ] {
        let file = file.to_owned();
        assert_eq!(
            target(argument),
            Ok(CsvTarget {
                file,
                save_interval,
                time_format
            }),
            "{argument}"
        );
    }
    let environment = |name: &str| (name == "K6_CSV_TIME_FORMAT").then(|| "unix_milli".to_owned());
    assert_eq!(
        CsvTarget::parse("", environment)
            .expect("a target")
            .time_format,
        TimeFormat::UnixMilli
    );
    for (argument, message) in [
        (
            "nope=1",
            "--out csv: unknown key `nope`; use fileName, saveInterval or timeFormat",
        ),
        (
            "fileName=a,b",
            "--out csv: `b` has no value; use fileName=FILE",
        ),
        (
            "timeFormat=x",
            "--out csv: unknown time format `x`; use unix, unix_milli, unix_micro, unix_nano, rfc3339 or rfc3339_nano",
        ),
    ] {
        assert_eq!(target(argument), Err(message.to_owned()));
    }
}

#[test]
fn times_of_csv() {
    let registry = Registry::new(Detail::Run);
    let sample = Sample {
        metric: registry.id("vus").expect("a metric"),
        time: Nanos(1_796_123_886_301_674_381),
        value: 2.0,
        tags: &Tags::default(),
        metadata: &Tags::default(),
    };
    for (format, time) in [
        ("unix", "1796123886"),
        ("unix_milli", "1796123886301"),
        ("unix_micro", "1796123886301674"),
        ("unix_nano", "1796123886301674381"),
        ("rfc3339", "2026-12-01T11:18:06Z"),
        ("rfc3339_nano", "2026-12-01T11:18:06.301674381Z"),
    ] {
        let format = TimeFormat::parse(format).expect(format);
        let mut row = Vec::new();
        CsvRows::new([], format).write(&registry, &sample, &mut row);
        assert_eq!(
            String::from_utf8(row).expect("UTF-8"),
            format!("vus,{time},2.000000,,\n")
        );
    }
}

proptest! {
    /// Any tag comes back from a reader that knows nothing of the writer.
    #[test]
    fn tags_survive(name in "[a-z]{1,8}", value in any::<String>(), number in -1e12_f64..1e12) {
        let registry = Registry::new(Detail::Run);
        let tags: Tags = [("url", value.as_str()), (name.as_str(), value.as_str())].into_iter().collect();
        let sample = Sample {
            metric: registry.id("http_reqs").expect("a metric"),
            time: Nanos(1),
            value: number,
            tags: &tags,
            metadata: &tags,
        };
        let mut row = Vec::new();
        JsonRows::default().write(&registry, &sample, &mut row);
        let text = String::from_utf8(row).expect("UTF-8");
        let point: serde_json::Value = serde_json::from_str(text.lines().nth(1).expect("a point")).expect("JSON");
        prop_assert_eq!(point["data"]["tags"]["url"].as_str(), Some(value.as_str()));
        prop_assert_eq!(point["data"]["value"].as_f64(), Some(number));
        let mut row = Vec::new();
        CsvRows::new(["url"], TimeFormat::Unix).write(&registry, &sample, &mut row);
        let mut reader = ::csv::ReaderBuilder::new().has_headers(false).from_reader(row.as_slice());
        let records: Vec<_> = reader.records().collect::<Result<_, _>>().expect("rows");
        prop_assert_eq!(records.len(), 1);
        prop_assert_eq!(records[0].len(), 6);
        prop_assert_eq!(&records[0][3], value.as_str());
    }
}
