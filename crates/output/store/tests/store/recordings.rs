//! Stored data is read back unchanged, and only one program stores a run.

use crate::folder::Folder;
use crate::runs;
use drumfire_measure::{Doubt, Reading, RunInfo};
use drumfire_plan::{Change, Command};
use drumfire_store::{Directory, Record, Recording, StoreError};
use drumfire_units::Nanos;
use std::fs;
use std::sync::Arc;

/// The bytes of version 1. Until the first release, a changed form replaces them
/// (`DRUMFIRE_BLESS=1`). Afterwards, a changed form needs a new version, and this file must stay
/// readable.
#[test]
fn a_log_has_the_bytes_of_version_1() {
    let folder = Folder::new();
    let path = folder.join("run");
    let summary = runs::whole(&path, 5);
    let log = fs::read(path.join("intervals.log")).unwrap();
    let kept = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/store/version-1.log");
    if std::env::var_os("DRUMFIRE_BLESS").is_some() {
        fs::write(kept, &log).unwrap();
    }
    let kept = fs::read(kept).unwrap();
    assert!(log == kept, "the form of a log has changed");
    let record = Record::from_log(&kept[..]).unwrap().unwrap();
    assert!(record.summary == summary);
}

#[test]
fn a_whole_run_comes_back_as_it_was() {
    let folder = Folder::new();
    let path = folder.join("deep/down/run");
    let summary = runs::whole(&path, 5);
    let record = Record::read(&path).unwrap();
    assert!(record.is_whole());
    assert!(record.summary == summary, "{:?}", record.summary.verdict);
    assert_eq!(summary.conservation(), Ok(()));
    let mut names: Vec<_> = fs::read_dir(&path)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let expected = [
        "events.jsonl",
        "info.json",
        "intervals.log",
        "lock",
        "plan.yaml",
        "summary.json",
    ];
    assert_eq!(names, expected);
}

#[test]
fn a_run_that_was_cut_off_goes_on_in_a_second_part() {
    let folder = Folder::new();
    let path = folder.join("run");
    let info = runs::info(100);
    let first = runs::intervals(&info, 2);
    let mut recording = runs::start_recording(&path, &info);
    recording.interval(&first[0]).unwrap();
    recording
        .changed(&Command {
            at: Nanos(500_000_000),
            pool: Some(1),
            change: Change::Rate {
                law: "const(7/s)".parse().unwrap(),
            },
        })
        .unwrap();
    drop(recording);
    let log = path.join("intervals.log");
    // A frame that was being written.
    let mut bytes = fs::read(&log).unwrap();
    bytes.extend([9, 9, 9]);
    fs::write(&log, &bytes).unwrap();
    let record = Record::read(&path).unwrap();
    let later = runs::info(163);
    let directory = Directory::open(&path).unwrap();
    let mut recording = Recording::resume(directory, &record, &later).unwrap();
    let second = runs::intervals(&info, 3);
    for interval in &second {
        recording.interval(interval).unwrap();
    }
    let ending = runs::summary(&later, &second).ending(None);
    recording.finish(&ending).unwrap();
    let record = Record::read(&path).unwrap();
    assert!(!record.is_whole());
    let parts: Vec<_> = record.parts.iter().map(|part| part.is_whole).collect();
    assert_eq!(parts, [false, true]);
    let summary = record.summary;
    assert_eq!(summary.conservation(), Ok(()));
    assert_eq!(summary.duration, Nanos::from_secs(4));
    let counts = summary.total.counts;
    // In the first part, one request of each pool was in flight.
    assert_eq!((counts.intended, counts.in_flight), (80, 4));
    assert_eq!(summary.total.untimed(), 2);
    let notes = summary.info.notes.join("\n");
    let untimed = "2 requests were open when a part of the run was cut off";
    assert!(notes.contains(untimed), "{notes}");
    let seam =
        "the run was cut off after 1.00 s and was resumed 62.0 s later, with the load of its plan";
    let changed = "at 0.5 s the rate of ";
    assert!(notes.contains(changed), "{notes}");
    assert!(notes.contains(seam), "{notes}");
    let rates = summary.info.pools.iter().map(|pool| pool.intended_rate);
    assert_eq!(rates.collect::<Vec<_>>(), [Some(100.0), None]);
    assert_eq!(Record::newest_id(&path).unwrap(), later.id);
    assert_eq!(summary.info.started_at_unix_ns, 100_000_000_000);
}

/// Requests without a time belong to the report that the run had: a run on several agents lists the
/// lost ones, and reading the run adds no note.
#[test]
fn a_whole_run_of_one_part_has_its_own_notes_alone() {
    let folder = Folder::new();
    let path = folder.join("run");
    let info = runs::info(100);
    let first = &runs::intervals(&info, 2)[..1];
    let mut recording = runs::start_recording(&path, &info);
    recording.interval(&first[0]).unwrap();
    let mut reading = Reading::new(Arc::new(info), &[]);
    reading.absorb(&first[0]);
    reading.doubt(Doubt {
        text: "an agent was lost".to_owned(),
        unknown: 0.1,
    });
    let summary = reading.close(first[0].end, 0.0);
    recording.finish(&summary.ending(None)).unwrap();
    let record = Record::read(&path).unwrap();
    assert!(record.is_whole());
    assert!(record.summary.total.untimed() > 0);
    assert_eq!(record.summary.info.notes, summary.info.notes);
}

/// Connections are opened before a run's load begins, and its facts are stored before that.
#[test]
fn the_start_of_the_load_is_that_of_the_stored_run() {
    let folder = Folder::new();
    let path = folder.join("run");
    let facts = runs::info(100);
    let began = RunInfo {
        started_at_unix_ns: facts.started_at_unix_ns + 1_653_000_000,
        ..facts.clone()
    };
    let mut recording = runs::start_recording(&path, &facts);
    recording.start(&began, b"{}").unwrap();
    let intervals = runs::intervals(&began, 2);
    recording.interval(&intervals[0]).unwrap();
    drop(recording);
    let record = Record::read(&path).unwrap();
    assert_eq!(record.summary.info.started_at_unix_ns, 101_653_000_000);
    assert_eq!(record.intervals, 1);
    assert_eq!(fs::read(path.join("info.json")).unwrap(), b"{}");
    // The start of a further part is updated as well.
    let later = runs::info(163);
    let began = RunInfo {
        started_at_unix_ns: later.started_at_unix_ns + 2_000_000_000,
        ..later.clone()
    };
    let directory = Directory::open(&path).unwrap();
    let mut recording = Recording::resume(directory, &record, &later).unwrap();
    recording.start(&began, b"[]").unwrap();
    recording.interval(&intervals[1]).unwrap();
    drop(recording);
    let record = Record::read(&path).unwrap();
    let starts = record.parts.iter().map(|part| part.started_at_unix_ns);
    assert_eq!(
        starts.collect::<Vec<_>>(),
        [101_653_000_000, 165_000_000_000]
    );
    assert_eq!(fs::read(path.join("info.json")).unwrap(), b"{}");
}

#[test]
fn old_intervals_become_coarser_and_nothing_is_lost() {
    let folder = Folder::new();
    let path = folder.join("run");
    let info = runs::info(0);
    let mut recording = runs::start_recording(&path, &info);
    // A run of a little more than two hours: some of the first seconds, some around each hour.
    let seconds = (0..25).chain(3_595..3_605).chain(7_195..7_205);
    let intervals: Vec<_> = seconds.map(|n| runs::interval(&info, n)).collect();
    // A file left by a crash in an earlier compaction.
    fs::write(path.join("intervals.log.tmp"), "a part of a log").unwrap();
    for interval in &intervals {
        recording.interval(interval).unwrap();
    }
    drop(recording);
    let record = Record::read(&path).unwrap();
    let expected = runs::summary(&info, &intervals);
    assert!(record.summary.total == expected.total);
    assert_eq!(record.summary.duration, expected.duration);
    // The first 25 s and the 5 s before the hour are in cells of 10 s; later intervals are not.
    assert_eq!(record.intervals, 3 + 1 + 5 + 10);
}

#[test]
fn a_directory_has_one_writer_and_one_run() {
    let folder = Folder::new();
    let path = folder.join("run");
    let recording = runs::start_recording(&path, &runs::info(0));
    let error = Directory::create(&path).unwrap_err();
    assert!(matches!(error, StoreError::Busy(_)), "{error}");
    let error = Directory::open(&path).unwrap_err();
    assert!(matches!(error, StoreError::Busy(_)), "{error}");
    // A reader needs no lock.
    assert!(!Record::read(&path).unwrap().is_whole());
    drop(recording);
    let error = Directory::create(&path).unwrap_err();
    assert!(matches!(error, StoreError::Taken(_)), "{error}");
    assert!(Directory::open(&path).is_ok());
}

#[test]
fn other_directories_are_left_alone() {
    let folder = Folder::new();
    fs::write(folder.join("thesis.tex"), "work").unwrap();
    let error = Directory::create(folder.path()).unwrap_err();
    assert!(matches!(error, StoreError::NotEmpty(_)), "{error}");
    assert!(!folder.join("lock").exists());
    let error = Record::read(folder.path()).unwrap_err();
    assert!(matches!(error, StoreError::NoRun(_)), "{error}");
    fs::write(folder.join("intervals.log"), "work").unwrap();
    let error = Record::read(folder.path()).unwrap_err();
    assert!(matches!(error, StoreError::NoRun(_)), "{error}");
    fs::write(folder.join("intervals.log"), "").unwrap();
    let error = Record::read(folder.path()).unwrap_err();
    assert!(matches!(error, StoreError::Empty(_)), "{error}");
}

#[test]
fn a_directory_that_is_removed_is_an_error() {
    let folder = Folder::new();
    let path = folder.join("run");
    let recording = runs::start_recording(&path, &runs::info(0));
    fs::remove_dir_all(&path).unwrap();
    let summary = runs::summary(&runs::info(0), &[]);
    let error = recording
        .finish(&summary.ending(None))
        .unwrap()
        .write_summary(b"{}")
        .unwrap_err();
    assert!(matches!(error, StoreError::Write { .. }), "{error}");
}
