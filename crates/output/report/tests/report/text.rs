//! The text summary: golden pages, and what holds for every page.

use crate::fixture;
use drumfire_measure::{
    AskedBody, AskedLoad, AskedSequence, Closing, Outcome, Side, SlowRequest, Transcript,
};
use drumfire_plan::{Arrivals, Finding, Growth, LatePolicy, Pause, UserSteps};
use drumfire_report::style::{Color, Style, Unicode};
use drumfire_report::{Naming, show, text};
use drumfire_units::Nanos;
use proptest::prelude::*;
use std::sync::Arc;
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
        let info = Arc::make_mut(&mut run.info);
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

/// The lines of a page from a label to the next one, as one, without the dots between its items.
fn part(page: &str, label: &str) -> String {
    let from = page.lines().skip_while(|line| !line.starts_with(label));
    let mut lines = from.take(1).collect::<Vec<_>>();
    let rest = page
        .lines()
        .skip_while(|line| !line.starts_with(label))
        .skip(1);
    lines.extend(rest.take_while(|line| line.starts_with("   ")));
    let words = lines.join(" ");
    let words = words.split_whitespace().filter(|word| *word != "·");
    words.collect::<Vec<_>>().join(" ")
}

/// The facts of the plan are beside the target and in the load.
#[test]
fn the_load_says_what_was_asked() {
    let mut run = fixture::open();
    let info = Arc::make_mut(&mut run.info);
    info.pools[0].intended_rate = None;
    let asked = fixture::asked_mut(&mut run);
    asked.requests.first[0].method = "POST".to_owned();
    asked.requests.first[0].body = AskedBody::Bytes(1234);
    asked.load = AskedLoad::Open {
        law: AskedSequence::from_sequence(&"step(20,40,20,1s)".parse().unwrap()),
        arrivals: Arrivals::Poisson,
        late: LatePolicy::Skip,
    };
    asked.stop.duration = Some(Nanos::from_secs(8));
    asked.transport.timeouts.total = Nanos::from_secs(3);
    let shown = text::summary(&run, &Style::default());
    assert_eq!(
        part(&shown, "Target"),
        "Target POST http://127.0.0.1:8080/plaintext body of 1,234 bytes"
    );
    assert_eq!(
        part(&shown, "Load"),
        "Load open model step(20/s,40/s,20/s,1s) Poisson arrivals 8 s (10 s with drain) 64 \
         connections late: skip timeout 3 s 2 threads seed 42"
    );
    let mut run = fixture::closed();
    let asked = fixture::asked_mut(&mut run);
    asked.load = AskedLoad::Closed {
        users: 64,
        think: Pause::constant(Nanos::from_secs(1)),
        pace: Nanos::ZERO,
    };
    asked.users = UserSteps::changing(vec![(Nanos::ZERO, 1), (Nanos::from_secs(1), 64)]);
    asked.requests.first[0].body = AskedBody::Template;
    Arc::make_mut(&mut run.info).pools[0].users = Some(10);
    let shown = text::summary(&run, &Style::default());
    assert!(
        part(&shown, "Load").contains("closed model think time 1 s"),
        "{shown}"
    );
    assert!(part(&shown, "Load").contains("up to 10 users"), "{shown}");
    // Also where each has a connection of its own.
    let pool = &mut Arc::make_mut(&mut run.info).pools[0];
    let users = pool.connections;
    pool.users = Some(users);
    let shown = text::summary(&run, &Style::default());
    let expected = format!("up to {users} users");
    assert!(part(&shown, "Load").contains(&expected), "{shown}");
    assert!(part(&shown, "Target").ends_with("varying body"), "{shown}");
}

/// Names keep the part in which they differ.
#[test]
fn steps_are_told_apart() {
    let mut run = fixture::steps();
    let names = ["1?x=1", "2?x=2", "3?x=3"];
    let names = names.map(|end| format!("http://127.0.0.1:18080/very/long/path/to/a/thing/{end}"));
    let info = Arc::make_mut(&mut run.info);
    info.pools[0].steps = names.iter().map(|name| name.as_str().into()).collect();
    for (step, name) in run.total.steps.iter_mut().zip(&names) {
        step.name = name.as_str().into();
    }
    for width in [40, 60, 80, 200] {
        let shown = text::summary(&run, &Style::new(width, Color::Off, Unicode::On));
        for end in ["/1?x=1 ", "/2?x=2 ", "/3?x=3 "] {
            assert!(shown.contains(end), "{width}: {shown}");
        }
    }
}

/// A measured value may be a sentence. A long one is below its rule, and the other rules stay in place.
#[test]
fn a_long_answer_to_a_threshold_is_broken() {
    let mut run = fixture::open();
    run.thresholds[1].actual_text = "p95 needs 72 samples, but there were only 9".to_owned();
    let shown = text::summary(&run, &Style::new(48, Color::Off, Unicode::On));
    let rules: Vec<&str> = shown
        .lines()
        .skip_while(|line| !line.starts_with("Thresholds"))
        .take_while(|line| !line.is_empty())
        .collect();
    assert_eq!(
        rules,
        [
            "Thresholds",
            "  ✗  p99<50ms     105 ms",
            "  ✗  rate>=999/s",
            "     p95 needs 72 samples, but there were only 9",
        ]
    );
}

/// A run with failures ends with 0 where no rule is about them, which the report says.
#[test]
fn failures_without_a_rule_are_named() {
    let note = "failures do not affect the exit code";
    let with = |rules: &[&str]| {
        let mut run = fixture::open();
        let rules = rules.iter().map(|rule| rule.parse().unwrap());
        Arc::make_mut(&mut run.info).thresholds = rules.collect();
        text::summary(&run, &Style::default())
    };
    for rules in [&[][..], &["p99<50ms"], &["rate>9/s", "dropped<1%"]] {
        assert!(with(rules).contains(note), "{rules:?}");
    }
    for rule in [
        "failed<1%",
        "step(/).failed<1%",
        "failures<9",
        "status(503)<9",
        "timed_out<1%",
    ] {
        assert!(!with(&["p99<50ms", rule]).contains(note), "{rule}");
    }
    let wide = Style::new(120, Color::Off, Unicode::On).naming(Naming::Keys);
    let of_plan = text::summary(&fixture::open(), &wide);
    assert!(
        of_plan.contains("`thresholds` 'failed<1%' makes them count"),
        "{of_plan}"
    );
    for run in [fixture::failed_only(), fixture::empty()] {
        assert!(!text::summary(&run, &Style::default()).contains(note));
    }
}

/// A terminal that is shorter than the page shows its end.
#[test]
fn the_answer_stands_in_the_last_lines() {
    let shown = text::last_lines(&fixture::open(), &Style::default());
    assert_eq!(
        shown,
        "✓ run valid · ✓ load kept · ✓ target ok · ✗ 2 of 2 thresholds failed · 996/s\n\
         p99 105 ms · 51 failed, most http_status 503\n"
    );
    let shown = text::last_lines(&fixture::failed_only(), &Style::default());
    assert!(shown.starts_with("✗ target failed · "), "{shown}");
    for (name, run) in fixture::all() {
        for width in [40, 80, 200] {
            let style = Style::new(width, Color::Off, Unicode::Off);
            check_page(name, &text::last_lines(&run, &style), &style);
        }
    }
}

/// Redirects that were not followed count as ok, with a remark.
#[test]
fn redirects_that_were_not_followed_are_named() {
    let mut run = fixture::closed();
    let sample = fixture::sample(Nanos::ZERO);
    for _ in 0..20 {
        let redirect = fixture::ended(sample, Outcome::Ok, 302);
        run.total.record(&redirect);
    }
    let said = "20 redirects were not followed; use -L N to follow up to N";
    assert!(text::summary(&run, &Style::default()).contains(said));
    fixture::asked_mut(&mut run).transport.redirects = Some(10);
    assert!(!text::summary(&run, &Style::default()).contains("followed"));
}

/// Of connections that are opened as they are needed, the number that was.
#[test]
fn the_load_names_how_many_connections_were_needed() {
    let load = |users, streams| {
        let mut run = fixture::open();
        run.total.connections.opened = 1_234;
        let info = Arc::make_mut(&mut run.info);
        let pool = &mut info.pools[0];
        (pool.users, pool.connections, pool.streams) = (users, 2_000, streams);
        pool.growth = Growth::AsNeeded;
        let shown = text::summary(&run, &Style::new(120, Color::Off, Unicode::On));
        let line = shown.lines().find(|line| line.starts_with("Load"));
        line.unwrap().to_owned()
    };
    for ((users, streams), expected) in [
        ((None, 1), "· connections as needed, 1,234 opened ·"),
        (
            (Some(2_000), 1),
            "· 2,000 users · connections as needed, 1,234 opened ·",
        ),
        (
            (None, 100),
            "· connections × 100 streams as needed, 1,234 opened ·",
        ),
    ] {
        let line = load(users, streams);
        assert!(line.contains(expected), "{line}");
    }
}

/// Connections that ended before the load did are told by why, and the server's by what they had
/// carried.
#[test]
fn connections_that_ended_early_are_told() {
    let shown = |closed: &[(Closing, u64)]| {
        let mut run = fixture::open();
        for (why, carried) in closed {
            let connections = &mut run.total.connections;
            connections.record_closed(*why, Nanos::from_secs(1), *carried);
        }
        let shown = text::summary(&run, &Style::new(120, Color::Off, Unicode::On));
        let mut lines = shown
            .lines()
            .skip_while(|line| !line.starts_with("Connections"));
        lines.next().unwrap().to_owned()
    };
    use Closing::{Announced, Ended, Peer, Reset, Spent};
    for (closed, expected) in [
        (&[(Ended, 9), (Spent, 9)][..], "max 143 µs"),
        (
            &[(Announced, 100), (Peer, 100), (Ended, 100)],
            "· 2 closed by the server after 100 requests each",
        ),
        (
            &[
                (Announced, 100),
                (Announced, 100),
                (Announced, 100),
                (Ended, 7),
            ],
            "· 3 closed by the server after about 100 requests",
        ),
        (&[(Peer, 100), (Ended, 7)], "· 1 closed by the server"),
        (&[(Reset, 3), (Reset, 4)], "· 2 reset"),
    ] {
        let line = shown(closed);
        assert!(line.ends_with(expected), "{line}");
    }
}

/// An error has what its messages show: what an unexpected response lacked, and the remedy for a
/// server that closes each connection after its request.
#[test]
fn errors_have_what_their_messages_show() {
    let shown = |outcome, status, message: &str, closing| {
        let mut run = fixture::closed();
        let failed = fixture::ended(fixture::sample(Nanos::ZERO), outcome, status);
        run.total.record(&failed);
        run.total.record_error_detail(outcome, None, message);
        for _ in 0..10 {
            let connections = &mut run.total.connections;
            connections.record_closed(closing, Nanos::from_secs(1), 1);
        }
        run.total.connections.pauses = 3;
        text::summary(&run, &Style::new(120, Color::Off, Unicode::On))
    };
    let page = shown(
        Outcome::HttpStatus,
        431,
        "truncated: it was reset",
        Closing::Ended,
    );
    assert!(page.contains("1 × truncated: it was reset"), "{page}");
    assert!(page.contains("3 pauses before redialing"), "{page}");
    let reused = Outcome::ClosedReused;
    let page = shown(reused, 0, reused.words(), Closing::Peer);
    assert!(page.contains("use --no-keepalive"), "{page}");
    let page = shown(reused, 0, reused.words(), Closing::Ended);
    assert!(page.contains("keep-alive timeout"), "{page}");
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
fn bars_end_where_their_times_do() {
    for (name, run) in fixture::all() {
        let shown = text::summary(&run, &Style::new(120, Color::Off, Unicode::On));
        let heading =
            |line: &&str| line.starts_with("Response time") || line.starts_with("Service time");
        let rows = shown.lines().skip_while(|line| !heading(line)).skip(1);
        let rows: Vec<&str> = rows.take_while(|line| line.contains(" %")).collect();
        for row in [rows.first(), rows.last()].into_iter().flatten() {
            assert!(!row.contains(" 0.0 %"), "{name}: {shown}");
        }
        assert!(rows.len() <= 15, "{name}: {shown}");
    }
}

#[test]
fn every_bar_of_the_histogram_adds_up() {
    let run = fixture::open();
    let shown = text::summary(&run, &Style::new(120, Color::Off, Unicode::On));
    let rows = shown
        .lines()
        .skip_while(|line| !line.starts_with("Response time"));
    let rows = rows.skip(1).take_while(|line| line.contains(" %"));
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
        info.name = Some(text.clone());
        info.notes = vec![text.clone()];
        run.info = info.into();
        run.verdict.reasons = vec![drumfire_measure::Reason {
            text: text.clone(),
            remedies: Vec::new(),
        }];
        run.total.record_error_detail(Outcome::ConnectRefused, None, &text);
        for unicode in [Unicode::On, Unicode::Off] {
            let style = Style::new(width, Color::On, unicode);
            check_page("foreign", &text::summary_explained(&run, &style), &style);
        }
    }
}

/// Names are a plan's, traces may be a server's.
#[test]
fn names_and_traces_can_not_act_on_a_terminal() {
    let escapes = "\u{1b}]0;owned\u{7}\u{202e}";
    let mut run = fixture::pools();
    run.slowest.add(&SlowRequest {
        trace: escapes.to_owned(),
        pool: 0,
        step: 0,
        outcome: Outcome::Ok,
        status: 200,
        intended: Nanos::ZERO,
        response_time: Nanos::from_secs(9),
        service_time: None,
    });
    let style = Style::new(80, Color::Off, Unicode::On);
    check_page("traces", &text::summary(&run, &style), &style);
    Arc::make_mut(&mut run.info).pools[0].name = escapes.to_owned();
    let transcript = Transcript {
        pool: 0,
        sample: fixture::sample(Nanos(1)),
        request: Side::default(),
        response: None,
        detail: None,
        findings: vec![Finding {
            rule: "json $.a".to_owned(),
            variable: Some(escapes.to_owned()),
            result: Ok(Some("1".to_owned())),
        }],
    };
    let shown = show::exchanges(&[transcript], &run, &style);
    assert!(
        !shown.contains(['\u{1b}', '\u{7}', '\u{202e}']),
        "{shown:?}"
    );
    assert!(shown.contains("owned"), "{shown:?}");
}

/// A request that could not be made counts as one that failed, and was not sent.
#[test]
fn requests_without_data_were_not_sent() {
    let run = fixture::with_errors(Outcome::BadData, &["no row is left", "no row is left"]);
    let text = text::summary(&run, &Style::default());
    assert!(
        text.contains("2 of them not sent for lack of data"),
        "{text}"
    );
    // Begun requests are never called sent.
    let begun = format!("{} begun", run.total.counts.sent);
    assert!(text.contains(&begun), "{text}");
    assert!(!text.contains("100 % of"), "{text}");
    let line = text::one_line(&run, &Style::default());
    assert!(line.contains(&begun), "{line}");
    let cause = format!(" failed: {} · ", Outcome::BadData.name());
    assert!(line.contains(&cause), "{line}");
}

/// A timeout of 0 means no timeout.
#[test]
fn no_timeout_is_no_length() {
    let mut run = fixture::closed();
    fixture::asked_mut(&mut run).transport.timeouts.total = Nanos::MAX;
    let text = text::summary(&run, &Style::default());
    assert!(text.contains("no timeout"), "{text}");
}
