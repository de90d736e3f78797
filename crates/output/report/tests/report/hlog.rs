//! Logs of HdrHistogram, read by the crate of that name: its rows are the run's distributions.

use crate::fixture;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use drumfire_measure::{Histogram, Summary, decode_v2};
use drumfire_plan::Secrets;
use drumfire_report::hlog;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
use std::collections::BTreeMap;

/// The logs of a document by their tags, each merged; an empty tag stands for none.
fn logs(text: &[u8]) -> BTreeMap<String, Histogram> {
    let mut logs: BTreeMap<String, Histogram> = BTreeMap::new();
    for entry in IntervalLogIterator::new(text) {
        if let LogEntry::Interval(row) = entry.unwrap() {
            let bytes = STANDARD.decode(row.encoded_histogram()).unwrap();
            let tag = row.tag().map_or("", |tag| tag.as_str()).to_owned();
            logs.entry(tag)
                .or_default()
                .merge(&decode_v2(&bytes).unwrap());
        }
    }
    logs
}

/// The bounds of buckets and their counts, which the encoding keeps.
fn buckets(of: &Histogram) -> Vec<(u64, u64, u64)> {
    of.buckets().collect()
}

#[test]
fn rows_add_up_to_the_run() {
    for (name, run) in fixture::all() {
        let text = hlog::log(&run);
        let logs = logs(&text);
        let times = run.latency();
        let whole = logs.get("").map(buckets).unwrap_or_default();
        assert_eq!(whole, buckets(times), "{name}");
        let steps = run.steps();
        let tags = logs.keys().filter(|tag| tag.starts_with("step:")).count();
        let several = run.pools().filter(|(pool, _)| pool.steps.len() > 1);
        let expected: usize = several.map(|(pool, _)| pool.steps.len()).sum();
        assert!(tags <= expected, "{name}: {tags} of {expected}");
        if run.info.pools.len() == 1 && steps.len() > 1 {
            let counted: u64 = logs
                .iter()
                .filter(|(tag, _)| !tag.is_empty())
                .map(|(_, times)| times.count())
                .sum();
            assert_eq!(counted, times.count(), "{name}");
        }
    }
}

#[test]
fn pools_and_steps_have_tags() {
    let logs = logs(&hlog::log(&fixture::pools()));
    let tags: Vec<&str> = logs.keys().map(String::as_str).collect();
    let expected = [
        "",
        "pool:browse",
        "pool:buy",
        "step:browse/list",
        "step:browse/show",
    ];
    assert_eq!(tags, expected);
    assert_eq!(logs["step:browse/list"].count(), 1_000);
}

#[test]
fn a_reader_knows_the_time() {
    let run: Summary = fixture::open();
    let text = hlog::log(&run);
    let started = run.info.started_at_unix_ns / 1_000_000_000;
    let mut entries = IntervalLogIterator::new(&text).map(Result::unwrap);
    assert!(matches!(entries.next(), Some(LogEntry::StartTime(at)) if at.as_secs() == started));
    assert!(matches!(entries.next(), Some(LogEntry::BaseTime(at)) if at.as_secs() == started));
}

/// No name ends its tag or its line, and none shows a secret; a payload is never masked.
#[test]
fn hostile_names_stay_names() {
    let text = String::from_utf8(hlog::log(&fixture::hostile())).unwrap();
    assert!(!text.contains(fixture::CANARY));
    let tags = logs(text.as_bytes()).into_keys();
    let tags: Vec<String> = tags.filter(|tag| !tag.is_empty()).collect();
    let name = "step:=1+1%1B]0;owned%07%C2%9B2J%0D%0A%E2%80%AEtxt.exe%E2%80%8B%7F%E2%80%A8";
    assert_eq!(tags, [name]);
    let masked = Secrets::new(&["HISTFAAA".to_owned(), "txt.exe".to_owned()]).masked_log(&text);
    assert!(masked.contains("%AE***%E2"), "{masked}");
    assert_eq!(logs(masked.as_bytes()).len(), 2);
}
