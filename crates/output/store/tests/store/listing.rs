//! A list of runs agrees with the directories.

use crate::folder::Folder;
use crate::runs;
use drumfire_measure::{Coverage, Digest, TargetState, Validity};
use drumfire_store::{
    Directory, Index, Labels, PageQuery, Record, Recording, RunRow, RunsPage, read_plan,
};
use drumfire_units::Nanos;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// The rows of the index, which must agree with the directories.
fn rows(folder: &Folder) -> Vec<RunRow> {
    let runs = folder.join("runs");
    let index = Index::open(&folder.join("index.sqlite"), &runs).unwrap();
    let rows = index.rows().unwrap();
    assert_eq!(rows, RunRow::all(&runs));
    rows
}

fn digest(row: &RunRow) -> &Digest {
    row.run.as_ref().unwrap()
}

#[test]
fn it_lists_what_is_there() {
    let folder = Folder::new();
    assert_eq!(rows(&folder), []);
    for id in ["a", "b"] {
        runs::whole(&folder.join("runs").join(id), 2);
    }
    let info = runs::info(500);
    let mut cut = runs::start_recording(&folder.join("runs/c"), &info);
    cut.interval(&runs::interval(&info, 0)).unwrap();
    let listed = rows(&folder);
    let ids: Vec<&str> = listed.iter().map(|row| row.id.as_str()).collect();
    assert_eq!(ids, ["c", "b", "a"]);
    assert_eq!(digest(&listed[0]).coverage, Coverage::Begun);
    assert_eq!(digest(&listed[1]).coverage, Coverage::Whole);
    assert_eq!(digest(&listed[0]).duration, Nanos::from_secs(1));
    let progress = listed[0].unfinished.unwrap();
    assert!(progress.is_active && progress.done == Nanos::from_secs(1));
    assert_eq!(digest(&listed[0]).validity, digest(&listed[1]).validity);
    assert!(listed[1].unfinished.is_none());
    assert_eq!(digest(&listed[2]).requests, 40);
    assert_eq!(digest(&listed[2]).failed, 4);
    assert_eq!(digest(&listed[2]).achieved_per_s, 19.0);
    assert_eq!(digest(&listed[2]).target, "http://127.0.0.1/");
    assert_eq!(digest(&listed[2]).target_state, TargetState::Degraded);
    assert_eq!(digest(&listed[2]).thresholds, 2);
    // The run grows, gets labels, and is deleted.
    cut.interval(&runs::interval(&info, 1)).unwrap();
    let labels = Labels {
        tags: vec!["nightly".to_owned(), "v2".to_owned()],
        note: "before the\nupgrade".to_owned(),
    };
    Labels::change(&folder.join("runs/b"), &mut |own| {
        own.add_tags(["nightly", "v2", "nightly"]);
        own.note.clone_from(&labels.note);
    })
    .unwrap();
    drop(cut);
    // The end of the program changes no file.
    let cut_off = rows(&folder).remove(0);
    assert!(!cut_off.unfinished.unwrap().is_active);
    assert_eq!(digest(&cut_off).validity, Validity::Suspect);
    Directory::open(&folder.join("runs/a"))
        .unwrap()
        .remove()
        .unwrap();
    let listed = rows(&folder);
    assert_eq!(listed.len(), 2);
    assert_eq!(digest(&listed[0]).duration, Nanos::from_secs(2));
    assert_eq!(listed[1].labels, Ok(labels));
}

/// A list of the newest runs follows additions, removals and changes among them, and counts the
/// others.
#[test]
fn the_newest_are_as_the_directories_have_them() {
    let folder = Folder::new();
    let (path, runs) = (folder.join("index.sqlite"), folder.join("runs"));
    let check = |limit: usize| {
        let (newest, error) = Index::newest_of(&path, &runs, limit);
        assert!(error.is_none(), "{error:?}");
        let all = RunRow::all(&runs);
        let shown = limit.min(all.len());
        assert_eq!(newest.rows, all[..shown], "{limit}");
        assert_eq!(newest.older, all.len() - shown, "{limit}");
    };
    check(2);
    for id in ["a", "b", "c", "d"] {
        runs::whole(&runs.join(id), 2);
    }
    for limit in [0, 2, 4, 9] {
        check(limit);
    }
    // One listed run changes, one run is added, and listed runs are removed.
    Labels::change(&runs.join("d"), &mut |own| own.add_tags(["kept"])).unwrap();
    check(2);
    let own = folder.join("own");
    runs::whole(&own, 1);
    symlink(&own, runs.join("test")).unwrap();
    check(2);
    fs::remove_dir_all(&own).unwrap();
    Directory::open(&runs.join("d")).unwrap().remove().unwrap();
    check(2);
    // Two of the listed runs have no record any more; then one can be read again.
    let log = fs::read(runs.join("c/intervals.log")).unwrap();
    fs::write(runs.join("c/intervals.log"), b"no log").unwrap();
    fs::remove_file(runs.join("b/intervals.log")).unwrap();
    check(2);
    fs::write(runs.join("c/intervals.log"), log).unwrap();
    check(1);
    check(2);
}

/// A page of the index is the page of the directories: with and without a filter, also after changes.
#[test]
fn a_page_is_as_the_directories_have_it() {
    let folder = Folder::new();
    let (path, runs) = (folder.join("index.sqlite"), folder.join("runs"));
    let none = folder.join("missing/index.sqlite");
    let is_tagged = |row: &RunRow| row.labels.as_ref().is_ok_and(|of| !of.tags.is_empty());
    let page = |skip: usize, filtered: bool| -> RunsPage {
        let query = PageQuery {
            admits: filtered.then_some(&is_tagged),
            skip,
            limit: 3,
            trail: 2,
        };
        let (page, error) = Index::page_of(&path, &runs, &query);
        assert!(error.is_none(), "{error:?}");
        let (read, error) = Index::page_of(&none, &runs, &query);
        assert_eq!(error.is_some(), runs.is_dir());
        assert_eq!(page, read, "{skip} {filtered}");
        page
    };
    assert_eq!(page(0, false).all, 0);
    for id in ["a", "b", "c", "d", "e"] {
        runs::whole(&runs.join(id), 2);
    }
    for skip in [0, 2, 4, 9] {
        assert_eq!(
            page(skip, false).rows.len(),
            5_usize.saturating_sub(skip).min(3)
        );
        assert_eq!(page(skip, true).rows.len(), 0);
    }
    for id in ["a", "c"] {
        Labels::change(&runs.join(id), &mut |own| own.add_tags(["kept"])).unwrap();
    }
    let tagged = page(0, true);
    assert_eq!((tagged.admitted, tagged.all, tagged.rows.len()), (2, 5, 2));
    Directory::open(&runs.join("c")).unwrap().remove().unwrap();
    assert_eq!(page(0, true).rows[0].id, "a");
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
        assert_eq!(digest(&rows(&folder)[0]).requests, 40);
        fs::write(&path, damaged).unwrap();
        let (newest, error) = Index::newest_of(&path, &folder.join("runs"), 1);
        assert!(error.is_none(), "{error:?}");
        assert_eq!(digest(&newest.rows[0]).requests, 40);
    }
}

/// A run that was killed and then resumed to its end has an end; killed again, it has no end.
#[test]
fn a_run_that_was_resumed_to_its_end_is_not_cut_off() {
    let folder = Folder::new();
    let path = folder.join("runs/a");
    let info = runs::info(100);
    let mut first = runs::start_recording(&path, &info);
    first.interval(&runs::interval(&info, 0)).unwrap();
    drop(first);
    assert_eq!(digest(&rows(&folder)[0]).coverage, Coverage::Begun);
    for (later, ends, coverage) in [
        (110, false, Coverage::Begun),
        (120, true, Coverage::Resumed),
        (130, false, Coverage::Begun),
    ] {
        let record = Record::read(&path).unwrap();
        let info = runs::info(later);
        let directory = Directory::open(&path).unwrap();
        let mut part = Recording::resume(directory, &record, &info).unwrap();
        let intervals = runs::intervals(&info, 1);
        part.interval(&intervals[0]).unwrap();
        if ends {
            part.finish(&runs::summary(&info, &intervals).ending(None))
                .unwrap();
        }
        assert_eq!(digest(&rows(&folder)[0]).coverage, coverage, "{later}");
    }
}

#[test]
fn a_row_is_read_again_only_when_its_run_changed() {
    let folder = Folder::new();
    let run = folder.join("runs/a");
    runs::whole(&run, 2);
    assert!(rows(&folder)[0].run.is_ok());
    // Other bytes with the same length and time, which the stamp cannot show.
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
    assert!(listed(changed).run.is_ok());
    assert!(listed(changed + Duration::from_secs(1)).run.is_err());
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
    // Files left by a crash during a replacement, in this and in earlier versions.
    fs::write(path.join("labels.txt.99-0.tmp"), "").unwrap();
    fs::write(path.join("summary.json.tmp"), "").unwrap();
    fs::remove_file(path.join("thesis.tex")).unwrap();
    let link = folder.join("link");
    symlink(&path, &link).unwrap();
    Directory::open(&link).unwrap().remove().unwrap();
    assert!(!path.exists());
}

#[test]
fn only_a_run_of_known_age_without_a_tag_may_be_pruned() {
    let folder = Folder::new();
    let names = [
        "damaged",
        "elsewhere",
        "newer",
        "overlong",
        "plain",
        "tagged",
    ];
    for name in names {
        let path = match name {
            "elsewhere" => folder.join("own"),
            name => folder.join("runs").join(name),
        };
        runs::whole(&path, 1);
        let log = path.join("intervals.log");
        match name {
            "damaged" => fs::write(&log, b"no log").unwrap(),
            "elsewhere" => symlink(&path, folder.join("runs/test")).unwrap(),
            "newer" => {
                let mut bytes = fs::read(&log).unwrap();
                bytes[7] = 200;
                fs::write(&log, bytes).unwrap();
            }
            "overlong" => fs::write(path.join("labels.txt"), vec![b'x'; 70_000]).unwrap(),
            "tagged" => Labels::change(&path, &mut |labels| labels.add_tags(["keep"])).unwrap(),
            _ => {}
        }
    }
    let rows = rows(&folder);
    assert_eq!(rows.len(), names.len());
    let prunable = rows.iter().filter(|row| row.may_be_pruned());
    let prunable: Vec<&str> = prunable.map(|row| row.id.as_str()).collect();
    assert_eq!(prunable, ["plain"]);
    let known = rows.iter().filter(|row| row.started_at_unix_ns().is_some());
    assert_eq!(known.count(), 4);
}

#[test]
fn labels_that_would_be_too_long_to_read_are_not_written() {
    let folder = Folder::new();
    let path = folder.join("run");
    runs::whole(&path, 1);
    let tag = |tag: &str| Labels::change(&path, &mut |labels| labels.add_tags([tag]));
    tag("keep").unwrap();
    let error = tag(&"n".repeat(66_000)).unwrap_err();
    assert!(error.to_string().contains("too large"), "{error}");
    assert_eq!(Labels::read(&path).unwrap().tags, ["keep"]);
    // A file that cannot be read is not replaced.
    fs::write(path.join("labels.txt"), vec![b'x'; 70_000]).unwrap();
    assert!(tag("v2").is_err());
    assert_eq!(fs::metadata(path.join("labels.txt")).unwrap().len(), 70_000);
}

#[test]
fn all_changes_of_labels_at_the_same_time_count() {
    let folder = Folder::new();
    let path = folder.join("run");
    runs::whole(&path, 1);
    std::thread::scope(|scope| {
        for n in 0..30 {
            let path = &path;
            scope.spawn(move || {
                let tag = format!("t{n}");
                Labels::change(path, &mut |labels| labels.add_tags([tag.as_str()])).unwrap();
            });
        }
    });
    assert_eq!(Labels::read(&path).unwrap().tags.len(), 30);
}

#[test]
fn no_file_is_opened_through_a_link_and_no_pipe_is_waited_for() {
    let folder = Folder::new();
    let path = folder.join("run");
    runs::whole(&path, 1);
    let victim = folder.join("victim");
    fs::write(&victim, "precious").unwrap();
    for name in ["labels.txt", "labels.txt.tmp", "summary.json"] {
        let _absent = fs::remove_file(path.join(name));
        symlink(&victim, path.join(name)).unwrap();
    }
    let tag = |tag: &str| Labels::change(&path, &mut |labels| labels.add_tags([tag]));
    assert!(tag("nightly").is_err());
    Directory::open(&path)
        .unwrap()
        .write_summary(b"{}")
        .unwrap();
    assert_eq!(fs::read(&victim).unwrap(), b"precious");
    // A link that replaces the lock is not followed to a missing target.
    fs::remove_file(path.join("lock")).unwrap();
    symlink(folder.join("made"), path.join("lock")).unwrap();
    assert!(Directory::open(&path).is_err());
    assert!(!folder.join("made").exists());
    fs::write(path.join("plan.yaml"), "drumfire: 1\n").unwrap();
    assert_eq!(read_plan(&path).unwrap(), b"drumfire: 1\n");
    for name in ["labels.txt", "lock", "plan.yaml"] {
        fs::remove_file(path.join(name)).unwrap();
        let made = Command::new("mkfifo").arg(path.join(name)).status();
        assert!(made.unwrap().success());
    }
    assert!(Labels::read(&path).is_err());
    assert!(Directory::open(&path).is_err());
    assert!(read_plan(&path).is_err());
    assert!(RunRow::read("run", &path).run.is_ok());
    fs::remove_file(path.join("labels.txt")).unwrap();
    symlink("/dev/zero", path.join("labels.txt")).unwrap();
    assert!(Labels::read(&path).is_err());
}

/// A run's directory contains bodies and messages of a server, so other users cannot read it.
#[test]
fn what_is_stored_is_its_users_alone() {
    let folder = Folder::new();
    let path = folder.join("runs/run");
    runs::whole(&path, 1);
    Labels::change(&path, &mut |labels| labels.add_tags(["kept"])).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&path), 0o700);
    for entry in fs::read_dir(&path).unwrap() {
        let file = entry.unwrap().path();
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
}
