//! Histories of runs whose figures are what a test says.

use crate::comparison::closed;
use drumfire_compare::HISTORY_MIN;
use drumfire_measure::{
    Coverage, Digest, DigestLatency, DigestTime, PlanKey, TargetState, Validity,
};
use drumfire_report::run_list::{self, Labelled, Listed, Surroundings};
use drumfire_report::style::{Color, Style, Unicode};
use drumfire_report::{history, html, json};
use drumfire_units::Nanos;

const STYLE: Style = Style::new(100, Color::Off, Unicode::On);

/// A run with its name, the words for its time, and its tags.
pub(crate) struct Stored {
    pub(crate) id: String,
    pub(crate) began: String,
    pub(crate) tags: Vec<String>,
    pub(crate) digest: Digest,
}

/// The run of a day of March, whose times are `factor` times as long as usual, but for some percent
/// that are its own.
pub(crate) fn stored(day: u64, factor: f64) -> Stored {
    let own = 1.0 + 0.01 * ((day * 7 % 5) as f64 - 2.0);
    let time = |millis: f64| {
        Some(DigestTime {
            time: Nanos((millis * 1e6 * factor * own) as u64),
            is_at_least: false,
        })
    };
    Stored {
        id: format!("r{day}"),
        began: format!("2026-03-{day:02} 14:20:00 UTC"),
        tags: Vec::new(),
        digest: Digest {
            started_at_unix_ns: 1_772_323_200_000_000_000 + day * 86_400_000_000_000,
            duration: Nanos::from_secs(10),
            target: "http://127.0.0.1:8080/".to_owned(),
            name: None,
            validity: Validity::Valid,
            load_kept: Some(true),
            sent_share: 1.0,
            target_state: TargetState::Ok,
            thresholds: 0,
            thresholds_failed: 0,
            achieved_per_s: 100.0,
            latency: DigestLatency {
                p50: time(1.0),
                p95: time(2.0),
                p99: time(4.0),
            },
            requests: 1_000,
            ok: 1_000,
            failed: 0,
            is_cut_short: false,
            is_lost: false,
            is_altered: false,
            coverage: Coverage::Whole,
            plan: Some(PlanKey(1)),
        },
    }
}

/// A list has a word for a load that was not judged, and no key in its JSON.
#[test]
fn a_list_shows_a_load_that_was_not_judged() {
    let mut run = stored(1, 1.0);
    for (kept, word) in [(Some(true), " kept "), (None, " not judged ")] {
        run.digest.load_kept = kept;
        let style = Style::new(200, Color::Off, Unicode::On);
        let around = Surroundings {
            now_unix_ns: 0,
            ids: &[],
        };
        let page = run_list::page(&[listed(&run)], &around, &style);
        assert!(page.contains(word), "{page}");
        let document: serde_json::Value =
            serde_json::from_slice(&json::runs(&[listed(&run)])).unwrap();
        let key = document["runs"][0].get("load_kept");
        assert_eq!(key.and_then(serde_json::Value::as_bool), kept);
    }
}

pub(crate) fn listed(stored: &Stored) -> Listed<'_> {
    Listed {
        id: &stored.id,
        began: &stored.began,
        labels: Ok(Labelled {
            tags: &stored.tags,
            note: "",
        }),
        run: Ok(&stored.digest),
        unfinished: None,
        exit: Some(0),
        is_elsewhere: false,
    }
}

/// Twenty runs, slower by `shift` from the thirteenth on, which has a tag.
fn runs(shift: f64) -> Vec<Stored> {
    let factor = |day| if day >= 13 { 1.0 + shift } else { 1.0 };
    let mut runs: Vec<Stored> = (1..=20).map(|day| stored(day, factor(day))).collect();
    runs[12].tags.push("v1.4".to_owned());
    runs
}

#[test]
fn a_step_is_named_with_its_run() {
    let runs = runs(0.1);
    let history = history::search(runs.iter().map(listed));
    assert!(history.has_changes());
    let text = history::text(&history, usize::MAX, &STYLE);
    let first = text.lines().next().unwrap();
    assert!(
        first.starts_with("Changes      ✗ p50 grew by 1")
            || first.starts_with("Changes      ✗ p50 grew by 9"),
        "{text}"
    );
    assert!(
        first.ends_with("at the run from 2026-03-13 14:20:00 UTC (tag v1.4, id r13)"),
        "{text}"
    );
    assert!(
        text.contains("20 runs of one plan, from 2026-03-01"),
        "{text}"
    );
    let marks = text.lines().filter(|line| line.trim() == "▲");
    assert_eq!(marks.count(), 3, "{text}");
    let json: serde_json::Value = serde_json::from_slice(&history::json(&history)).unwrap();
    assert_eq!(json["schema"], "drumfire.history.v1");
    let schema = include_str!("../../../../../docs/schema/drumfire.history.v1.json");
    let validator = jsonschema::validator_for(&closed(schema)).unwrap();
    let faults: Vec<_> = validator
        .iter_errors(&json)
        .map(|of| of.to_string())
        .collect();
    assert!(faults.is_empty(), "{faults:#?}");
    let p50 = &json["figures"][0];
    assert_eq!((&p50["name"], &p50["unit"]), (&"p50".into(), &"ns".into()));
    assert_eq!(p50["values"].as_array().unwrap().len(), 20);
    let [change] = &p50["changes"].as_array().unwrap()[..] else {
        panic!("{p50}");
    };
    assert_eq!(
        (&change["run"], &change["is_worse"]),
        (&"r13".into(), &true.into())
    );
    let shift = change["shift"].as_f64().unwrap();
    assert!((0.08..0.12).contains(&shift), "{change}");
    let page = html::history(&history);
    let ids: Vec<&str> = page.iter().map(|part| part.id).collect();
    assert_eq!(
        ids,
        [
            "about", "changes", "p50", "p95", "p99", "failed", "rate", "listed", "data"
        ]
    );
    assert!(page[1].html.contains("p50 grew by"), "{}", page[1].html);
    // Rows link to their runs.
    let table = &page[7].html;
    assert!(table.contains("<a href=\"run/r13/\">r13</a>"), "{table}");
}

#[test]
fn a_step_to_faster_runs_is_good_news() {
    let runs = runs(-0.1);
    let text = history::text(&history::search(runs.iter().map(listed)), 3, &STYLE);
    assert!(text.starts_with("Changes      ✓ p50 fell by"), "{text}");
    let rows = text.lines().filter(|line| line.starts_with('r'));
    assert_eq!(rows.count(), 3, "{text}");
}

#[test]
fn steady_runs_show_no_change_and_few_can_not() {
    let runs = runs(0.0);
    let text = history::text(
        &history::search(runs.iter().map(listed)),
        usize::MAX,
        &STYLE,
    );
    assert!(text.starts_with("Changes      none found\n"), "{text}");
    let few = history::search(runs[..HISTORY_MIN - 1].iter().map(listed));
    let text = history::text(&few, usize::MAX, &STYLE);
    assert!(
        text.starts_with("Changes      too few runs to show any; at least 12 are needed\n"),
        "{text}"
    );
    let none = history::text(&history::search([]), usize::MAX, &STYLE);
    assert_eq!(none.lines().count(), 2, "{none}");
    assert!(!html::history(&history::search([])).is_empty());
}

#[test]
fn failures_that_begin_are_a_change() {
    let mut runs = runs(0.0);
    for run in &mut runs[13..] {
        run.digest.ok = 990;
        run.digest.failed = 10;
    }
    let text = history::text(
        &history::search(runs.iter().map(listed)),
        usize::MAX,
        &STYLE,
    );
    assert!(
        text.starts_with(
            "Changes      ✗ the share of failures grew by 1 % of all requests at the run from 2026-03-14"
        ),
        "{text}"
    );
}

#[test]
fn runs_that_measured_nothing_are_left_out_and_said() {
    let mut runs = runs(0.1);
    runs[2].digest.validity = Validity::Invalid;
    runs[3].digest.coverage = Coverage::Begun;
    runs[4].digest.ok = 0;
    runs[5].digest.latency.p99 = None;
    runs[7].digest.is_altered = true;
    let mut listed: Vec<Listed<'_>> = runs.iter().map(listed).collect();
    listed[6].run = Err("damaged");
    let history = history::search(listed);
    let text = history::text(&history, usize::MAX, &STYLE);
    let words: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for reason in [
        "15 runs of one plan",
        "1 run left out: it is invalid",
        "1 run left out: it has no end yet or was cut off",
        "1 run left out: none of its requests was ok",
        "1 run left out: its load is not the planned one",
        "1 run left out: its record can't be read",
    ] {
        assert!(words.contains(reason), "{reason}: {text}");
    }
    let json: serde_json::Value = serde_json::from_slice(&history::json(&history)).unwrap();
    assert_eq!(json["left_out"].as_array().unwrap().len(), 5);
    assert_eq!(json["figures"][2]["values"][2], serde_json::Value::Null);
    // A value that is lacking moves no other to another run.
    assert_eq!(json["figures"][2]["changes"][0]["run"], "r13");
}

#[test]
fn words_of_others_are_escaped_and_masked() {
    let mut runs = runs(0.1);
    runs[12].tags = vec!["\u{1b}[31m<script>".to_owned()];
    runs[19].digest.target = "http://u:secret@h/".to_owned();
    let history = history::search(runs.iter().map(listed));
    let text = history::text(&history, usize::MAX, &STYLE);
    assert!(
        !text.contains('\u{1b}') && !text.contains("secret"),
        "{text}"
    );
    for part in html::history(&history) {
        assert!(
            !part.html.contains("<script>") && !part.html.contains("secret"),
            "{}",
            part.html
        );
    }
    let json = String::from_utf8(history::json(&history)).unwrap();
    assert!(
        !json.contains('\u{1b}') && !json.contains("secret"),
        "{json}"
    );
}
