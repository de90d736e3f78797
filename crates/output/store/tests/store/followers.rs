//! A follower returns the same record as a fresh read.

use crate::folder::Folder;
use crate::runs;
use drumfire_measure::RunInfo;
use drumfire_plan::{Change, Command};
use drumfire_store::{
    Directory, Follower, Record, Recording, StoreError, TeardownFailure, add_teardown_failure,
};
use drumfire_units::Nanos;
use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt as _;
use std::path::Path;

/// Reads a run twice with the follower, and once afresh.
#[track_caller]
fn check(follower: &mut Follower, path: &Path) {
    let read = Record::read(path).unwrap();
    for _ in 0..2 {
        let seen = follower.record().unwrap();
        assert!(seen.summary == read.summary);
        assert_eq!(seen.parts, read.parts);
        assert_eq!(seen.teardown, read.teardown);
        assert_eq!(
            (seen.whole, seen.intervals, seen.caller, seen.newest_id),
            (
                read.whole,
                read.intervals,
                read.caller.clone(),
                read.newest_id.clone()
            )
        );
    }
}

#[test]
fn a_follower_sees_what_a_reader_sees() {
    let folder = Folder::new();
    let path = folder.join("run");
    let mut follower = Follower::new(path.clone());
    assert!(matches!(follower.record(), Err(StoreError::NoRun(_))));
    let info = runs::info(100);
    let mut recording = runs::start_recording(&path, &info);
    check(&mut follower, &path);
    // The load began after the facts were written.
    recording.start(&runs::info(107), b"{}\n").unwrap();
    check(&mut follower, &path);
    for interval in &runs::intervals(&info, 2) {
        recording.interval(interval).unwrap();
        check(&mut follower, &path);
    }
    let change = Change::Rate {
        law: "const(7/s)".parse().unwrap(),
    };
    let command = Command {
        at: Nanos(500_000_000),
        pool: Some(1),
        change,
    };
    recording.changed(&command).unwrap();
    check(&mut follower, &path);
    // A frame that is being written.
    let log = path.join("intervals.log");
    let whole = fs::metadata(&log).unwrap().len();
    let file = OpenOptions::new().write(true).open(&log).unwrap();
    file.write_all_at(&[9, 9, 9], whole).unwrap();
    check(&mut follower, &path);
    file.set_len(whole).unwrap();
    // After two hours, old intervals are merged into a new log.
    recording.interval(&runs::interval(&info, 7_300)).unwrap();
    check(&mut follower, &path);
    recording.interval(&runs::interval(&info, 7_301)).unwrap();
    check(&mut follower, &path);
    drop(recording);
    let later = RunInfo {
        id: "later".to_owned(),
        ..runs::info(9_000)
    };
    let directory = Directory::open(&path).unwrap();
    let record = Record::read(&path).unwrap();
    let mut recording = Recording::resume(directory, &record, &later).unwrap();
    check(&mut follower, &path);
    assert_eq!(follower.record().unwrap().newest_id, "later");
    let second = runs::intervals(&info, 1);
    recording.interval(&second[0]).unwrap();
    check(&mut follower, &path);
    let ending = runs::summary(&later, &second).ending(None);
    drop(recording.finish(&ending).unwrap());
    check(&mut follower, &path);
    let failure = TeardownFailure {
        message: "it failed".to_owned(),
        is_cut_short: false,
    };
    add_teardown_failure(&path, &failure).unwrap();
    check(&mut follower, &path);
}

/// Frames that an earlier call has read are not read again: damage in them is not noticed.
#[test]
fn a_look_reads_what_has_been_added() {
    let folder = Folder::new();
    let path = folder.join("run");
    let mut follower = Follower::new(path.clone());
    let info = runs::info(100);
    let mut recording = runs::start_recording(&path, &info);
    let intervals = runs::intervals(&info, 3);
    recording.interval(&intervals[0]).unwrap();
    let first = follower.record().unwrap();
    let log = OpenOptions::new()
        .write(true)
        .open(path.join("intervals.log"))
        .unwrap();
    log.write_all_at(&[255; 4], first.whole - 4).unwrap();
    for interval in &intervals[1..] {
        recording.interval(interval).unwrap();
    }
    let seen = follower.record().unwrap();
    assert_eq!(seen.intervals, 3);
    assert_eq!(seen.summary.conservation(), Ok(()));
    assert_eq!(Record::read(&path).unwrap().intervals, 0);
}
