//! Results for other programs: pictures, JUnit, histogram logs, and the output of a step of GitHub
//! Actions.

use crate::support::program::{LIMIT, words};
use crate::support::{Folder, Process, Report, Serve, drumfire, lab, run_in};
use std::fs;
use std::process::Command;

/// HdrHistogram's own reader finds the values of the summary. It returns the upper bound of a
/// bucket, which is less than 0.1 % higher.
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
        let ran = run_in(&folder, &line);
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

/// A step's page gets the summary, and its log the annotations, unless standard output is used for
/// another result or the user disables both.
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
        (run, page.matches("## ❌").count())
    };
    let line = format!("-n 20 -c 1 --threshold failed<1% {}", server.url);
    let (ran, pages) = run(&format!("http {line}"));
    assert_eq!((ran.code, pages), (Some(99), 1), "{ran:?}");
    let annotation = "\n::error title=drumfire%3A threshold failed<1%25::100 %25\n";
    assert!(ran.stdout.contains(annotation), "{}", ran.stdout);
    // The report is between two lines that stop GitHub from executing commands in it.
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
