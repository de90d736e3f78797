//! Logs that are cut or damaged at any place.

use crate::folder::Folder;
use crate::runs;
use drumfire_measure::Validity;
use drumfire_store::Record;
use std::fs;

/// The log of a run of two seconds, and the ends of its entries. A file that is complete up to the
/// n-th end has the facts of the run and n intervals, counted from 0.
fn log() -> (Vec<u8>, Vec<u64>) {
    let folder = Folder::new();
    let info = runs::info(0);
    let mut ends = Vec::new();
    let path = folder.join("run");
    let length = || fs::metadata(path.join("intervals.log")).unwrap().len();
    let mut recording = runs::start_recording(&path, &info);
    ends.push(length());
    let intervals: Vec<_> = (0..2).map(|n| runs::interval(&info, n)).collect();
    for interval in &intervals {
        recording.interval(interval).unwrap();
        ends.push(length());
    }
    let summary = runs::summary(&info, &intervals);
    recording.finish(&summary.ending(None)).unwrap();
    (fs::read(path.join("intervals.log")).unwrap(), ends)
}

#[test]
fn a_log_that_is_cut_anywhere_is_a_run_up_to_the_last_whole_interval() {
    let (log, ends) = log();
    let info = runs::info(0);
    let expected = |seconds| {
        let intervals: Vec<_> = (0..seconds).map(|n| runs::interval(&info, n)).collect();
        runs::summary(&info, &intervals)
    };
    let expected: Vec<_> = (0..=2).map(expected).collect();
    for end in 0..log.len() {
        let record = Record::from_log(&log[..end]).unwrap();
        let whole = ends.iter().filter(|at| **at <= end as u64).count();
        let Some(record) = record else {
            assert_eq!(whole, 0, "cut at {end}");
            continue;
        };
        // The facts in the log are complete, but the rest of the beginning is missing.
        if whole == 0 {
            assert_eq!(record.summary.total.counts.intended, 0, "cut at {end}");
            continue;
        }
        let expected = &expected[whole - 1];
        assert_eq!(record.whole, ends[whole - 1], "cut at {end}");
        assert_eq!(record.summary.conservation(), Ok(()), "cut at {end}");
        assert!(record.summary.total == expected.total, "cut at {end}");
        assert_eq!(record.summary.duration, expected.duration, "cut at {end}");
        assert!(!record.is_whole());
        assert!(record.summary.verdict.validity >= Validity::Suspect);
        let notes = record.summary.info.notes.join("\n");
        assert!(notes.contains("cut off"), "{notes}");
        // Two seconds may be missing here, whereas a killed program would have lost one: nothing in
        // the log distinguishes the two.
        assert!(!notes.contains("at most"), "{notes}");
        assert!(notes.contains("may have lost any number"), "{notes}");
    }
}

/// Requests in flight at the end of the log are counted, but no figure contains a time for them.
/// The record has their number, so that its counts balance.
#[test]
fn a_record_says_how_many_requests_have_no_time() {
    let (log, ends) = log();
    for (seconds, untimed, words) in [
        (0, 0, "the run was cut off: its record ends after 0"),
        (1, 2, "2 requests were open then"),
        (2, 2, "2 requests were open then"),
    ] {
        let cut = &log[..ends[seconds] as usize];
        let summary = Record::from_log(cut).unwrap().unwrap().summary;
        assert_eq!(summary.total.untimed(), untimed, "after {seconds} s");
        let counts = summary.total.counts;
        let times = summary.total.latency.response_time.count();
        let all = counts.ok + counts.timed_out + counts.in_flight + counts.pending;
        assert_eq!(times + untimed, all, "after {seconds} s");
        let reasons: Vec<&str> = summary
            .verdict
            .reasons
            .iter()
            .map(|of| of.text.as_str())
            .collect();
        assert!(
            reasons.iter().any(|text| text.contains(words)),
            "{reasons:?}"
        );
    }
}

#[test]
fn a_flipped_bit_ends_the_log_before_its_entry() {
    let (log, ends) = log();
    for place in (ends[0] as usize)..log.len() {
        let mut flipped = log.clone();
        flipped[place] ^= 1 << (place % 8);
        let record = Record::from_log(&flipped[..]).unwrap().unwrap();
        let before = ends.iter().rfind(|end| **end <= place as u64).unwrap();
        assert_eq!(record.whole, *before, "flipped at {place}");
        assert_eq!(record.summary.conservation(), Ok(()));
        assert!(!record.is_whole());
    }
}
