//! The text summary: golden pages, and what holds for every page.

use crate::fixture;
use drumfire_report::style::{Color, Style, Unicode};
use drumfire_report::text;
use proptest::prelude::*;
use unicode_width::UnicodeWidthStr;

/// Compares with a golden file; with `DRUMFIRE_BLESS=1` writes it instead.
#[expect(clippy::disallowed_methods, reason = "golden files are on disk")]
fn check(name: &str, shown: &str) {
    let path = format!("{}/tests/golden/{name}.txt", env!("CARGO_MANIFEST_DIR"));
    if std::env::var("DRUMFIRE_BLESS").is_ok() {
        std::fs::write(&path, shown).unwrap();
    }
    let golden = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        golden == shown,
        "{path} differs from what is printed (DRUMFIRE_BLESS=1 accepts it):\n{shown}"
    );
}

#[test]
fn golden_open() {
    let run = fixture::open();
    for width in [40, 80, 120] {
        let plain = Style::new(width, Color::Off, Unicode::On);
        check(&format!("open_{width}"), &text::summary(&run, &plain));
        let color = Style::new(width, Color::On, Unicode::On);
        check(&format!("open_{width}_color"), &text::summary(&run, &color));
    }
    let ascii = Style::new(80, Color::Off, Unicode::Off);
    check("open_80_ascii", &text::summary(&run, &ascii));
    check(
        "open_80_explained",
        &text::summary_explained(&run, &Style::default()),
    );
}

#[test]
fn golden_others() {
    for (name, run) in fixture::all() {
        if name != "open" {
            check(
                &format!("{name}_80"),
                &text::summary(&run, &Style::default()),
            );
        }
    }
    let ascii = Style::new(80, Color::Off, Unicode::Off);
    check(
        "dropping_80_ascii",
        &text::summary(&fixture::dropping(), &ascii),
    );
    let run = fixture::closed();
    check(
        "closed_80_explained",
        &text::summary_explained(&run, &Style::default()),
    );
}

/// The load is described by users where a connection does not carry exactly one.
#[test]
fn the_load_names_users_and_streams() {
    let load = |users, connections, streams, unicode| {
        let mut run = fixture::closed();
        let info = std::sync::Arc::make_mut(&mut run.info);
        let pool = &mut info.pools[0];
        (pool.users, pool.connections, pool.streams) = (users, connections, streams);
        let shown = text::summary(&run, &Style::new(120, Color::Off, unicode));
        let line = shown.lines().find(|line| line.starts_with("Load"));
        line.unwrap().to_owned()
    };
    for ((users, connections, streams), expected) in [
        ((Some(4), 4, 1), "· 4 connections ·"),
        (
            (Some(40), 4, 10),
            "· 40 users · 4 connections × 10 streams ·",
        ),
        ((Some(5), 10, 1), "· 5 users · 10 connections ·"),
        ((None, 8, 100), "· 8 connections × 100 streams ·"),
    ] {
        let line = load(users, connections, streams, Unicode::On);
        assert!(line.contains(expected), "{line}");
    }
    let line = load(Some(40), 4, 10, Unicode::Off);
    assert!(
        line.contains(", 40 users, 4 connections x 10 streams,"),
        "{line}"
    );
}

/// Takes SGR sequences of the known few out of a text.
fn without_sgr(text: &str) -> String {
    ["0", "1", "2", "31", "32", "33"]
        .iter()
        .fold(text.to_owned(), |text, code| {
            text.replace(&format!("\u{1b}[{code}m"), "")
        })
}

/// The rules for every page of every run.
fn check_page(name: &str, shown: &str, style: &Style) {
    let plain = match style.color {
        Color::On => without_sgr(shown),
        Color::Off => shown.to_owned(),
    };
    for c in plain.chars() {
        let bidirectional = matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}');
        assert!(
            c == '\n' || !(c.is_control() || bidirectional),
            "{name}: {c:?}"
        );
        assert!(
            style.unicode == Unicode::On || c.is_ascii(),
            "{name}: {c:?}"
        );
    }
    for line in plain.lines() {
        assert!(
            line.width() <= style.width(),
            "{name} at {}: {line}",
            style.width()
        );
        assert_eq!(line.trim_end(), line, "{name}: trailing blanks");
    }
    assert!(
        !plain.contains("\n\n\n") && plain.ends_with('\n'),
        "{name}: {plain}"
    );
    assert!(
        !plain.contains(fixture::CANARY),
        "{name} tells a secret:\n{plain}"
    );
}

#[test]
fn pages_hold_their_promises() {
    for (name, run) in fixture::all() {
        for width in [0, 40, 41, 50, 59, 60, 69, 72, 80, 99, 120, 200, 900] {
            for (color, unicode) in [
                (Color::Off, Unicode::On),
                (Color::On, Unicode::On),
                (Color::Off, Unicode::Off),
            ] {
                let style = Style::new(width, color, unicode);
                check_page(name, &text::summary(&run, &style), &style);
                check_page(name, &text::summary_explained(&run, &style), &style);
            }
        }
    }
}

#[test]
fn colour_adds_nothing_but_colour() {
    for (name, run) in fixture::all() {
        let color = text::summary(&run, &Style::new(100, Color::On, Unicode::On));
        let plain = text::summary(&run, &Style::new(100, Color::Off, Unicode::On));
        assert_eq!(without_sgr(&color), plain, "{name}");
    }
}

#[test]
fn every_bar_of_the_histogram_adds_up() {
    let run = fixture::open();
    let shown = text::summary(&run, &Style::new(120, Color::Off, Unicode::On));
    let rows = shown
        .lines()
        .skip_while(|line| !line.starts_with("Response time"));
    let rows = rows.skip(1).take_while(|line| !line.is_empty());
    let counts = rows.map(|row| {
        let after = row.split(" %").nth(1).unwrap();
        let count = after.split_whitespace().next().unwrap();
        count.replace(',', "").parse::<u64>().unwrap()
    });
    let shown = run.total.counts.ok + run.total.counts.in_flight;
    assert_eq!(counts.sum::<u64>(), shown);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_foreign_text_is_harmless(text in "\\PC*|.*|[\u{0}-\u{2070}]{0,40}", width in 0_u16..250) {
        let mut run = fixture::failed_only();
        let mut info = (*run.info).clone();
        info.target.clone_from(&text);
        info.notes = vec![text.clone()];
        run.info = info.into();
        run.verdict.reasons = vec![drumfire_measure::Reason {
            text: text.clone(),
            remedies: Vec::new(),
        }];
        run.total.record_error_detail(drumfire_measure::Outcome::ConnectRefused, &text);
        for unicode in [Unicode::On, Unicode::Off] {
            let style = Style::new(width, Color::On, unicode);
            check_page("foreign", &text::summary_explained(&run, &style), &style);
        }
    }
}
