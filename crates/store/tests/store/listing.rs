//! A list of runs has what the directories have.

use crate::folder::Folder;
use crate::runs;
use drumfire_store::{Directory, Index, Labels, RunRow};
use drumfire_units::Nanos;
use std::fs;
use std::os::unix::fs::symlink;
use std::time::Duration;

/// What the index says, which is what the directories say.
fn rows(folder: &Folder) -> Vec<RunRow> {
    let runs = folder.join("runs");
    let index = Index::open(&folder.join("index.sqlite"), &runs).unwrap();
    let rows = index.rows().unwrap();
    assert_eq!(rows, RunRow::all(&runs));
    rows
}

#[test]
fn it_lists_what_is_there() {
    let folder = Folder::new();
    assert_eq!(rows(&folder), []);
    for id in ["a", "b"] {
        runs::whole(&folder.join("runs").join(id), 2);
    }
    let info = runs::info(500);
    let mut cut = runs::begin(&folder.join("runs/c"), &info);
    cut.interval(&runs::interval(&info, 0)).unwrap();
    let listed = rows(&folder);
    let ids: Vec<&str> = listed.iter().map(|row| row.id.as_str()).collect();
    assert_eq!(ids, ["c", "b", "a"]);
    assert!(!listed[0].is_whole && listed[1].is_whole);
    assert_eq!(listed[0].duration, Nanos::from_secs(1));
    assert_eq!(listed[2].requests, 40);
    assert_eq!(listed[2].target, "http://127.0.0.1/");
    // It grows, gets labels, and is deleted.
    cut.interval(&runs::interval(&info, 1)).unwrap();
    let mut labels = Labels::default();
    labels.add_tags(["nightly", "v2", "nightly"]);
    labels.note = "before the\nupgrade".to_owned();
    labels.write(&folder.join("runs/b")).unwrap();
    drop(cut);
    Directory::open(&folder.join("runs/a"))
        .unwrap()
        .remove()
        .unwrap();
    let listed = rows(&folder);
    assert_eq!(listed.len(), 2);
    assert_eq!(listed[0].duration, Nanos::from_secs(2));
    assert_eq!(listed[1].labels, labels);
    assert_eq!(listed[1].labels.tags, ["nightly", "v2"]);
}

#[test]
fn an_index_that_is_damaged_is_made_again() {
    let folder = Folder::new();
    runs::whole(&folder.join("runs/a"), 2);
    let path = folder.join("index.sqlite");
    let good = {
        rows(&folder);
        fs::read(&path).unwrap()
    };
    let mut page = good.clone();
    page[4096..].fill(0xff);
    let mut newer = good.clone();
    // The version of the tables (`user_version`: SQLite's file format, offset 60).
    newer[63] = 99;
    for damaged in [&b"no database"[..], &good[..good.len() / 2], &page, &newer] {
        fs::write(&path, damaged).unwrap();
        assert_eq!(rows(&folder).len(), 1);
        assert_eq!(rows(&folder)[0].requests, 40);
    }
}

#[test]
fn a_row_is_read_again_only_when_its_run_changed() {
    let folder = Folder::new();
    let run = folder.join("runs/a");
    runs::whole(&run, 2);
    assert!(rows(&folder)[0].error.is_none());
    // Bytes of the same length at the same time: nothing that a stamp shows.
    let log = run.join("intervals.log");
    let changed = fs::metadata(&log).unwrap().modified().unwrap();
    let length = fs::read(&log).unwrap().len();
    fs::write(&log, vec![0; length]).unwrap();
    let file = fs::File::options().write(true).open(&log).unwrap();
    let runs = folder.join("runs");
    let listed = |at| {
        file.set_modified(at).unwrap();
        let index = Index::open(&folder.join("index.sqlite"), &runs).unwrap();
        index.rows().unwrap().remove(0)
    };
    assert!(listed(changed).error.is_none());
    assert!(listed(changed + Duration::from_secs(1)).error.is_some());
}

#[test]
fn only_what_is_a_run_s_is_removed() {
    let folder = Folder::new();
    let path = folder.join("run");
    runs::whole(&path, 1);
    fs::write(path.join("thesis.tex"), "work").unwrap();
    let error = Directory::open(&path).unwrap().remove().unwrap_err();
    assert!(error.to_string().contains("thesis.tex"), "{error}");
    assert!(path.join("intervals.log").exists());
    // Left by a crash in the middle of a replacement, now and by earlier versions.
    fs::write(path.join("labels.txt.99-0.tmp"), "").unwrap();
    fs::write(path.join("summary.json.tmp"), "").unwrap();
    fs::remove_file(path.join("thesis.tex")).unwrap();
    let link = folder.join("link");
    symlink(&path, &link).unwrap();
    Directory::open(&link).unwrap().remove().unwrap();
    assert!(!path.exists());
}
