//! Results for other programs: pictures, JUnit, logs of histograms, and what a step of GitHub Actions
//! shows.

use crate::support::program::{LIMIT, words};
use crate::support::{Folder, Process, Report, Run, Serve, drumfire, lab};
use std::fs;
use std::process::Command;

fn run(folder: &Folder, line: &str) -> Run {
    let mut command = drumfire(words(line));
    command.current_dir(folder.at("."));
    Process::start(&mut command).finish(LIMIT)
}

/// A run and its stored form have the same pictures, in a folder that holds nothing else.
#[test]
fn pictures_are_files_of_their_own() {
    let (server, folder) = (Serve::new(""), Folder::new());
    let line = format!("http -n 50 -c 2 -q -o run --svg pictures {}", server.url);
    let ran = run(&folder, &line);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let names = |path: &str| {
        let entries = fs::read_dir(folder.at(path)).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    let made = names("pictures");
    assert!(made.contains(&"rate.svg".to_owned()), "{made:?}");
    assert!(made.iter().all(|name| name.ends_with(".svg")), "{made:?}");
    let again = run(&folder, "report run --svg again");
    assert_eq!(again.code, Some(0), "{again:?}");
    assert_eq!(names("again"), made);
    for name in &made {
        let read = |of: &str| fs::read_to_string(folder.at(&format!("{of}/{name}"))).unwrap();
        assert_eq!(read("pictures"), read("again"), "{name}");
    }
    for (place, why) in [
        (".", "other files"),
        ("run/plan.yaml", "a file"),
        ("-", "a directory"),
        ("none/deeper", "No such file"),
    ] {
        let refused = run(&folder, &format!("report run --svg {place}"));
        assert_eq!(refused.code, Some(2), "{place}: {refused:?}");
        assert!(refused.stderr.contains(why), "{place}: {}", refused.stderr);
    }
}

/// The cases are the answers and the thresholds of the run, and their failures those of its code.
#[test]
fn answers_and_thresholds_are_cases() {
    let (server, folder) = (Serve::new("--status 503:1"), Folder::new());
    let line = format!(
        "http -n 50 -c 2 -q --threshold failed<1% --threshold failures>1 --junit junit.xml {}",
        server.url
    );
    let ran = run(&folder, &line);
    assert_eq!(ran.code, Some(99), "{ran:?}");
    let xml = fs::read_to_string(folder.at("junit.xml")).unwrap();
    assert_eq!(xml.matches("<testcase ").count(), 5, "{xml}");
    let failed = xml.lines().filter(|line| line.contains("<failure"));
    assert_eq!(failed.count(), 2, "{xml}");
    assert!(xml.contains("name=\"failed&lt;1%\" classname=\"drumfire.thresholds\""));
    assert!(
        xml.contains("<property name=\"sent\" value=\"50\"/>"),
        "{xml}"
    );
}

/// HdrHistogram's own reader finds what the summary has. It gives the upper bound of a bucket, which
/// is less than a thousandth above.
#[test]
fn a_log_of_histograms_is_read_by_others() {
    let Some(reader) = lab::suite("hlog-reader") else {
        return;
    };
    let (server, folder) = (Serve::new("--delay lognormal:2ms,0.8"), Folder::new());
    for (line, latency) in [
        ("-n 1000 -c 4 --interval 100ms", "service_time"),
        ("-r 1000 -z 1s --interval 100ms", "response_time"),
    ] {
        let line = format!(
            "http {line} -q --json out.json --hlog out.hlog {0} {0}a",
            server.url
        );
        let ran = run(&folder, &line);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let report = Report::read(&folder.at("out.json"));
        let read = Command::new(&reader).arg(folder.at("out.hlog")).output();
        let read = String::from_utf8(read.unwrap().stdout).unwrap();
        let rows: Vec<Vec<&str>> = read
            .lines()
            .map(|line| line.split('\t').collect())
            .collect();
        let tags: Vec<&str> = rows.iter().map(|row| row[0]).collect();
        assert_eq!(tags.len(), 3, "{read}");
        assert!(tags[0].is_empty() && tags[1].starts_with("step:"), "{read}");
        let number = |row: usize, at: usize| rows[row][at].parse::<u64>().unwrap();
        assert!(number(0, 1) >= 5, "{read}");
        let figure = |of: &str| report.n(&format!("latency.{latency}.{of}"));
        assert_eq!(number(0, 2), figure("count"), "{read}");
        assert_eq!(number(1, 2) + number(2, 2), figure("count"), "{read}");
        let quantile = |q: &str| report.at(&format!("latency.{latency}.quantiles"))[q].as_u64();
        for (at, ours) in [
            (3, quantile("0.5").unwrap()),
            (4, quantile("0.99").unwrap()),
            (5, figure("max")),
        ] {
            let theirs = number(0, at);
            assert!(
                theirs >= ours && theirs - ours <= ours / 1_000,
                "{at}: {ours} {read}"
            );
        }
    }
}

/// A step's page gets the summary, and its log the annotations, unless standard output is taken or
/// the user wants neither.
#[test]
fn github_shows_a_run() {
    let (server, folder) = (Serve::new("--status 503:1"), Folder::new());
    let page = folder.at("page.md");
    let run = |line: &str| {
        let mut command = drumfire(words(line));
        command.env("GITHUB_ACTIONS", "true");
        command.env("GITHUB_STEP_SUMMARY", &page);
        let run = Process::start(&mut command).finish(LIMIT);
        let page = fs::read_to_string(&page).unwrap_or_default();
        (run, page.matches("## http").count())
    };
    let line = format!("-n 20 -c 1 --threshold failed<1% {}", server.url);
    let (ran, pages) = run(&format!("http {line}"));
    assert_eq!((ran.code, pages), (Some(99), 1), "{ran:?}");
    let annotation = "\n::error title=drumfire%3A threshold failed<1%25::100 %25\n";
    assert!(ran.stdout.contains(annotation), "{}", ran.stdout);
    // The report stands between two lines that keep GitHub from obeying it.
    let (first, rest) = ran.stdout.split_once('\n').unwrap();
    let word = first.strip_prefix("::stop-commands::").unwrap();
    let (report, _) = rest.split_once(&format!("\n::{word}::\n")).unwrap();
    assert!(report.contains("Verdict"), "{report}");
    assert!(!report.contains(word), "{report}");
    let (ran, pages) = run(&format!("http --json - {line}"));
    assert_eq!(pages, 2, "{ran:?}");
    assert!(
        ran.stdout.starts_with('{') && !ran.stdout.contains("\n::"),
        "{ran:?}"
    );
    for quiet in [
        format!("http --no-github {line}"),
        format!("go-wrk -d 1 {}", server.url),
    ] {
        let (ran, pages) = run(&quiet);
        assert_eq!(pages, 2, "{ran:?}");
        assert!(!ran.stdout.contains("\n::"), "{}", ran.stdout);
    }
}
