//! The list of runs on terminals of several widths, and in a browser.

use crate::history::{Stored, listed, stored};
use crate::pages::assert_well_formed;
use drumfire_measure::{TargetState, Unfinished, Validity};
use drumfire_report::html::{self, ListView, StoredRun};
use drumfire_report::run_list::{self, Labelled, Listed, Surroundings};
use drumfire_report::style::{Color, Style, Unicode};
use drumfire_units::Nanos;

/// Four days after the first of the runs.
const NOW: u64 = 1_772_323_200_000_000_000 + 5 * 86_400_000_000_000;

/// A run with long labels, a slow one, a short one and a sound one.
fn runs() -> Vec<Stored> {
    let mut runs: Vec<Stored> = (1..=4).map(|day| stored(day, 1.0)).collect();
    for (number, run) in runs.iter_mut().enumerate() {
        run.id = format!("661629a{number}52c72-6884");
        run.digest.target =
            "http://shop.example.net:8080/api/v2/orders?delay=lognormal:4ms,0.5&page=12".to_owned();
    }
    runs[0].tags = vec!["nightly".to_owned(), "<b>v2</b>".to_owned()];
    runs[1].digest.validity = Validity::Suspect;
    runs[1].digest.target_state = TargetState::Degraded;
    runs[1].digest.failed = 27;
    runs[1].digest.thresholds = 2;
    runs[1].digest.thresholds_failed = 1;
    runs[2].digest.latency.p99 = None;
    runs
}

fn page(runs: &[Listed<'_>], width: u16) -> String {
    let ids: Vec<String> = runs.iter().map(|run| run.id.to_owned()).collect();
    let around = Surroundings {
        now_unix_ns: NOW,
        ids: &ids,
    };
    run_list::page(runs, &around, &Style::new(width, Color::Off, Unicode::On))
}

/// The second run is active, and the fourth was cut off.
fn with_progress(stored: &[Stored]) -> Vec<Listed<'_>> {
    let mut runs: Vec<Listed<'_>> = stored.iter().map(listed).collect();
    let progress = |is_active, planned| Unfinished {
        is_active,
        done: Nanos::from_secs(14),
        planned,
    };
    runs[1].unfinished = Some(progress(true, Some(Nanos::from_secs(45))));
    runs[3].unfinished = Some(progress(false, None));
    runs
}

#[test]
fn a_narrow_list_keeps_the_rate_and_a_latency() {
    let stored = runs();
    let runs = with_progress(&stored);
    assert_eq!(
        page(&runs, 80),
        "\
id       began   target             result                rate failed        p99
661629a0 4 d ago s…8080/ap…/orders… ok                   100/s    0 %    4.00 ms
661629a1 3 d ago s…8080/ap…/orders… running 14 s of 45 s 100/s 2.70 %    4.08 ms
661629a2 2 d ago s…8080/ap…/orders… ok                   100/s    0 % p50 990 µs
661629a3 1 d ago s…8080/ap…/orders… cut off              100/s    0 %    4.04 ms
"
    );
}

#[test]
fn no_row_is_wider_than_the_terminal() {
    let stored = runs();
    let runs = with_progress(&stored);
    for width in 72..=200 {
        for row in page(&runs, width).lines() {
            let columns = row.chars().count();
            assert!(columns <= usize::from(width), "{columns} of {width}: {row}");
            let words = match row.starts_with("id ") {
                true => "p99",
                false => "/s",
            };
            assert!(row.contains(words), "{width}: {row}");
        }
    }
}

/// A pipe and a wide terminal have whole ids and times.
#[test]
fn a_wide_list_has_everything() {
    let stored = runs();
    let runs = with_progress(&stored);
    let page = page(&runs, 200);
    for words in [
        "661629a052c72-6884",
        "2026-03-01 14:20:00 UTC",
        "running 14 s of 45 s",
        "cut off",
        "nightly <b>v2</b>",
        "✗ 1 of 2",
    ] {
        assert!(page.contains(words), "{words} in {page}");
    }
}

/// The page has two lines a run, and texts of users are texts.
#[test]
fn a_page_of_the_list_links_to_its_neighbours() {
    let stored = runs();
    let listed = with_progress(&stored);
    let hostile = Listed {
        id: "a&b c",
        labels: Ok(Labelled {
            tags: &[],
            note: "</script><script>alert(1)</script>",
        }),
        ..listed[0]
    };
    let unreadable = Listed {
        run: Err("<i>no record</i>"),
        labels: Err("no labels"),
        exit: None,
        ..listed[0]
    };
    let runs = listed.iter().chain([&hostile, &unreadable]);
    let runs = runs.map(|listed| StoredRun {
        listed: *listed,
        spark: None,
    });
    let view = ListView {
        search: "a \"b\"&",
        only_failed: true,
        plan: Some("661629a052c72-6884"),
        page: 2,
        skipped: 50,
        admitted: 120,
        all: 577,
        now_unix_ns: NOW,
    };
    let parts = html::runs(&runs.collect::<Vec<_>>(), &view);
    let page: String = parts.into_iter().map(|part| part.html).collect();
    assert_well_formed(&format!("<div>{page}</div>"));
    assert_eq!(page.matches("<tr>").count(), 7, "{page}");
    for words in [
        "577 stored runs",
        "51 to 56 of 120",
        "./?page=1&amp;q=a%20%22b%22%26&amp;failed=1&amp;plan=661629a052c72-6884",
        "./?page=3&amp;q=",
        "href=\"run/a%26b%20c/\"",
        "● running 14 s of 45 s",
        "! cut off",
        "✗ 1 of 2 rules",
        "class=\"chip\">nightly<",
        "&lt;i&gt;no record",
        "4 d ago",
    ] {
        assert!(page.contains(words), "{words} in {page}");
    }
    assert!(
        !page.contains("<script>") && !page.contains("<b>v2"),
        "{page}"
    );
}
