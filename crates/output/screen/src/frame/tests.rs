//! Whole frames as golden files, and frames of any size. `DRUMFIRE_BLESS=1` rewrites the files.

use super::Frame;
use crate::chart::{self, Detail};
use crate::choice::{Positions, ViewState};
use crate::key::Key;
use crate::known::Known;
use crate::look::Look;
use crate::pictures;
use crate::view::View;
use drumfire_measure::{
    Excerpt, FailedBody, Interval, Leniencies, Model, Outcome, PoolInfo, RunEvent, RunInfo, Sample,
};
use drumfire_plan::{Change, Command, StopReason};
use drumfire_report::figure::{self, Figure, Plot};
use drumfire_report::style::{Color, Style, Unicode};
use drumfire_session::Redactor;
use drumfire_testkit::open;
use drumfire_units::Nanos;
use proptest::prelude::*;
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

const SECRET: &str = "CANARY-7f3a";

fn pool(name: &str, model: Model, steps: &[&str]) -> PoolInfo {
    PoolInfo {
        connections: 20,
        ..PoolInfo::new(name, model, steps.iter().copied())
    }
}

fn info() -> RunInfo {
    RunInfo {
        id: "20260131-235959-1".to_owned(),
        started_at_unix_ns: 1_769_903_999_123_456_789,
        seed: 42,
        version: "0.1.0".to_owned(),
        threads: 2,
        threads_planned: 2,
        target: format!("http://shop.example/?token={SECRET}"),
        ..RunInfo::new(vec![
            pool(
                "shop",
                Model::Open,
                &["/basket", "/order", "/\u{1b}[31mred"],
            ),
            pool("search", Model::Closed, &["/search?q=日本"]),
        ])
    }
}

/// An exchange of this step, due at a time and lasting this long.
fn sample(due: Nanos, step: u16, length: Nanos, outcome: Outcome) -> Sample {
    let sent = due + Nanos::from_micros(40);
    Sample {
        intended: due,
        due,
        sent,
        first_byte: sent + length,
        end: sent + length,
        bytes_sent: 140,
        outcome,
        leniencies: Leniencies::default(),
        bytes_received: 1_210,
        status: match outcome {
            Outcome::Ok => 200,
            _ => 503,
        },
        step,
    }
}

/// A second of a run: three steps in turn with two modes of latency, failures in the sixth second,
/// and a further pool.
fn second(at: u64, info: &RunInfo) -> Arc<Interval> {
    let mut interval = Interval::of_pools(&info.pools);
    interval.reset(at, Nanos::from_secs(at));
    interval.end = Nanos::from_secs(at + 1);
    for n in 0..200 {
        let due = interval.start + Nanos::from_millis(5 * n);
        let slow = if n % 10 == 0 { 40_000 } else { 2_000 };
        let length = Nanos::from_micros(slow + 37 * (n % 50));
        let outcome = match at == 5 && n < 60 {
            true => Outcome::HttpStatus,
            false => Outcome::Ok,
        };
        let shop = interval.pool_mut(0);
        shop.record_intended(1);
        shop.record(&sample(due, (n % 3) as u16, length, outcome));
        let search = interval.pool_mut(1);
        search.record_intended(1);
        search.record(&sample(due, 0, Nanos::from_micros(700 + n), Outcome::Ok));
    }
    for _ in 0..4 {
        let opened = Nanos::from_micros(310);
        interval.pool_mut(0).connections.record_opened(opened);
    }
    interval.sum_up();
    Arc::new(interval)
}

/// The body of a failure: JSON with terminal control characters.
fn failed_body() -> FailedBody {
    let text = format!(r#"{{"error": "no such basket\u001b[2J", "token": "{SECRET}"}}"#);
    FailedBody {
        outcome: Outcome::HttpStatus,
        status: 503,
        pool: 0,
        step: 1,
        end: Nanos::from_secs(5),
        body: Excerpt {
            length: text.len() as u64,
            bytes: text.into_bytes(),
            text: None,
        },
    }
}

/// A run of this number of seconds.
fn run(seconds: u64) -> Known {
    let plan = open("const(200,60s)").plan().unwrap();
    let redactor = Redactor::default();
    redactor.hide(&[SECRET.to_owned()]);
    let mut known = Known::new(&plan, redactor);
    let info = info();
    known.observe(&RunEvent::Started(Arc::new(info.clone())));
    for at in 0..seconds {
        if at == 5 {
            known.observe(&RunEvent::Failed(Arc::new(failed_body())));
        }
        known.observe(&RunEvent::IntervalClosed(second(at, &info)));
    }
    known
}

fn style(color: Color, unicode: Unicode) -> Style {
    Style::new(80, color, unicode)
}

fn drawn(known: &Known, choice: &ViewState, style: Style, size: (u16, u16)) -> Buffer {
    framed(known, choice, style, size).0
}

/// The time of a run at which frames are drawn.
const ELAPSED: Nanos = Nanos::from_secs(8);

/// The cells of a frame, and its positions.
fn framed(
    known: &Known,
    choice: &ViewState,
    style: Style,
    (width, height): (u16, u16),
) -> (Buffer, Positions) {
    let moment = known.moment(ELAPSED);
    let figures = pictures::figures(&moment, choice);
    let redactor = Redactor::default();
    redactor.hide(&[SECRET.to_owned()]);
    let look = Look::new(style, redactor);
    let area = Rect::new(0, 0, width, height);
    let mut buffer = Buffer::empty(area);
    let frame = Frame {
        moment: &moment,
        choice,
        figures: &figures,
        look: &look,
    };
    let positions = frame.draw(area, &mut buffer);
    (buffer, positions)
}

/// The letters of a buffer, row by row.
fn text(buffer: &Buffer) -> String {
    let mut text = String::new();
    for y in 0..buffer.area.height {
        let row: String = (0..buffer.area.width)
            .map(|x| buffer[(x, y)].symbol())
            .collect();
        text.push_str(row.trim_end());
        text.push('\n');
    }
    text
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "golden files are read where they can be written anew"
)]
fn frames_are_as_they_were() {
    let known = run(8);
    let mut changed = Vec::new();
    for size in [(40, 10), (80, 24), (120, 40), (200, 60)] {
        for view in View::ALL {
            let choice = ViewState {
                view,
                pools: 2,
                ..ViewState::default()
            };
            let frame = text(&drawn(&known, &choice, style(Color::On, Unicode::On), size));
            let (width, height) = size;
            let name = format!("{}-{width}x{height}.txt", view.name());
            let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
                .join("tests/frames")
                .join(&name);
            if std::env::var_os("DRUMFIRE_BLESS").is_some() {
                fs::write(&path, &frame).unwrap();
            }
            if fs::read_to_string(&path).unwrap_or_default() != frame {
                changed.push(format!("{name}:\n{frame}"));
            }
        }
    }
    assert!(changed.is_empty(), "{}", changed.join("\n"));
}

#[test]
fn without_colour_the_letters_are_the_same_and_no_cell_has_one() {
    let known = run(8);
    for view in View::ALL {
        let choice = ViewState {
            view,
            ..ViewState::default()
        };
        let size = (120, 40);
        let plain = drawn(&known, &choice, style(Color::Off, Unicode::On), size);
        let colored = drawn(&known, &choice, style(Color::On, Unicode::On), size);
        assert_eq!(text(&plain), text(&colored));
        let is_colored = |buffer: &Buffer| {
            let mut cells = buffer.content().iter();
            cells.any(|cell| cell.fg != ratatui_core::style::Color::Reset)
        };
        assert!(!is_colored(&plain), "{view:?}");
        assert!(is_colored(&colored), "{view:?}");
    }
}

#[test]
fn ascii_alone_where_the_terminal_shows_no_more() {
    let known = run(8);
    for view in View::ALL {
        let choice = ViewState {
            view,
            ..ViewState::default()
        };
        let frame = text(&drawn(
            &known,
            &choice,
            style(Color::Off, Unicode::Off),
            (100, 40),
        ));
        let strange: String = frame.chars().filter(|c| !c.is_ascii()).collect();
        // The unit in an axis' labels, and the letters of a foreign name.
        let left = strange.replace(['µ', '日', '本'], "");
        assert_eq!(left, "", "{frame}");
    }
}

/// Rows of numbers stay complete at every size, and p99 stays longest.
#[test]
fn every_size_has_both_rows_of_numbers() {
    let known = run(8);
    let choice = ViewState::default();
    for width in (30..300).step_by(7).chain([40, 80, 100, 160]) {
        for height in [6, 10, 16, 24, 40, 80] {
            let frame = text(&drawn(&known, &choice, Style::default(), (width, height)));
            let heading = frame.lines().find(|line| line.contains("p99")).unwrap();
            for column in ["rate", "failed", "p99"] {
                assert!(
                    heading.contains(column),
                    "{width}x{height} {column}\n{frame}"
                );
            }
            for (row, p99) in [("now", "41.2 ms"), ("run", "41.2 ms")] {
                let line = frame.lines().find(|line| line.starts_with(row)).unwrap();
                assert!(line.contains(p99), "{width}x{height}\n{frame}");
                assert!(line.chars().count() <= usize::from(width), "{frame}");
            }
        }
    }
}

/// Nothing is an alarm before the first answer.
#[test]
fn before_the_first_answer_nothing_is_judged() {
    let plan = open("const(200,60s)").plan().unwrap();
    let mut known = Known::new(&plan, Redactor::default());
    let mut info = info();
    info.thresholds = vec!["p99<50ms".parse().unwrap()];
    known.observe(&RunEvent::Started(Arc::new(info.clone())));
    for at in 0..4 {
        let mut interval = Interval::of_pools(&info.pools);
        interval.reset(at, Nanos::from_secs(at));
        interval.end = Nanos::from_secs(at + 1);
        interval.pool_mut(0).record_intended(10);
        interval.pool_mut(0).under_way = 10;
        interval.sum_up();
        known.observe(&RunEvent::IntervalClosed(Arc::new(interval)));
    }
    let frame = text(&drawn(
        &known,
        &ViewState::default(),
        Style::default(),
        (80, 24),
    ));
    let line = "… no answer yet, 40 under way, the oldest for over 7 s";
    assert!(frame.contains(line), "{frame}");
    for alarm in ["✗", "invalid", "no request was answered", "at the end"] {
        assert!(!frame.contains(alarm), "{alarm}\n{frame}");
    }
    assert!(frame.contains("… p99<50ms"), "{frame}");
    known.observe(&RunEvent::IntervalClosed(second(4, &info)));
    let frame = text(&drawn(
        &known,
        &ViewState::default(),
        Style::default(),
        (80, 24),
    ));
    assert!(frame.contains("✓ run valid"), "{frame}");
}

/// Reasons and thresholds that do not fit are counted, and the view that has them is named.
#[test]
fn what_is_left_out_is_counted() {
    let mut info = info();
    let rules = [
        "shop: p99<5ms",
        "failed<1%",
        "shop: max<1ms",
        "rate>=1000/s",
        "shop: p50<1s",
    ];
    info.thresholds = rules.map(|rule| rule.parse().unwrap()).to_vec();
    let plan = open("const(200,60s)").plan().unwrap();
    let mut known = Known::new(&plan, Redactor::default());
    known.observe(&RunEvent::Started(Arc::new(info.clone())));
    for at in 0..8 {
        known.observe(&RunEvent::IntervalClosed(second(at, &info)));
    }
    let draw = |size| {
        text(&drawn(
            &known,
            &ViewState::default(),
            Style::default(),
            size,
        ))
    };
    let frame = draw((80, 24));
    assert!(
        frame.contains("✗ shop: p99<5ms 41.5 ms   ✗ failed<1%"),
        "{frame}"
    );
    assert!(frame.contains("more (view 6)"), "{frame}");
    let frame = draw((160, 50));
    for rule in rules {
        assert!(frame.contains(rule), "{rule}\n{frame}");
    }
    assert!(!frame.contains("more (view 6)"), "{frame}");
    assert!(frame.contains("4 errors ● 60"), "{frame}");
}

/// A full picture has a cursor with the values at a moment, and keeps its place while the run goes
/// on.
#[test]
fn a_full_picture_has_the_values_at_its_cursor() {
    let mut known = run(8);
    let size = (100, 30);
    let mut choice = ViewState::default();
    let press = |choice: &mut ViewState, known: &Known, key| {
        choice.press(key);
        let (buffer, positions) = framed(known, choice, Style::default(), size);
        choice.settle(positions);
        text(&buffer)
    };
    let frame = press(&mut choice, &known, Key::Enter);
    assert!(frame.contains("7.5 s  good 400/s  bad 0"), "{frame}");
    press(&mut choice, &known, Key::Left);
    let frame = press(&mut choice, &known, Key::Left);
    assert!(frame.contains("5.5 s  good 340/s  bad 60/s"), "{frame}");
    known.observe(&RunEvent::IntervalClosed(second(8, &info())));
    let frame = press(&mut choice, &known, Key::Char('x'));
    assert!(frame.contains("5.5 s  good 340/s  bad 60/s"), "{frame}");
    press(&mut choice, &known, Key::Down);
    let frame = press(&mut choice, &known, Key::Down);
    assert!(frame.contains("8 s to 9 s  400 requests"), "{frame}");
    let frame = press(&mut choice, &known, Key::Down);
    assert!(frame.contains("ok  3,540  98.33 % of all"), "{frame}");
    let frame = press(&mut choice, &known, Key::Right);
    assert!(frame.contains("http_status  60  1.67 % of all"), "{frame}");
    let frame = press(&mut choice, &known, Key::Enter);
    assert!(frame.contains("Latency heat map"), "{frame}");
}

/// The pictures of a chosen step show its requests alone.
#[test]
fn pictures_follow_the_chosen_step() {
    let known = run(8);
    let size = (120, 40);
    let mut choice = ViewState {
        view: View::Steps,
        ..ViewState::default()
    };
    let settle = |choice: &mut ViewState| {
        let (buffer, positions) = framed(&known, choice, Style::default(), size);
        choice.settle(positions);
        text(&buffer)
    };
    settle(&mut choice);
    choice.press(Key::Down);
    settle(&mut choice);
    choice.press(Key::Enter);
    let frame = settle(&mut choice);
    assert!(
        frame.contains("Latency, response time  shop · /order"),
        "{frame}"
    );
    choice.press(Key::Char('1'));
    let frame = settle(&mut choice);
    assert!(frame.contains("Rate  shop · /order"), "{frame}");
    assert!(
        frame.contains("516"),
        "the ok requests of the step\n{frame}"
    );
    choice.press(Key::Escape);
    let frame = settle(&mut choice);
    assert!(!frame.contains("shop · /order"), "{frame}");
}

/// The address of the page is whole at every width, in the help too.
#[test]
fn the_address_of_the_page_is_never_cut() {
    let mut known = run(3);
    let page = format!(
        "http://127.0.0.1:17171/{}/run/66189d76732d8-6638/",
        "7c".repeat(16)
    );
    known.set_page(page.clone());
    known.add_note(&format!("the run's page is {page}"));
    for width in [40, 80, 120] {
        for keys in ["", "?"] {
            let mut choice = ViewState::default();
            keys.chars()
                .for_each(|key| drop(choice.press(Key::Char(key))));
            let frame = text(&drawn(&known, &choice, Style::default(), (width, 24)));
            let shown: String = frame.lines().collect();
            assert_eq!(shown.matches(&page).count(), 1, "{width}\n{frame}");
        }
    }
}

#[test]
fn before_the_first_interval_a_clock_runs() {
    let frame = text(&drawn(
        &run(0),
        &ViewState::default(),
        Style::default(),
        (80, 24),
    ));
    assert!(frame.contains("8 s"), "{frame}");
    assert!(
        frame.contains("waiting for the end of the first interval"),
        "{frame}"
    );
    assert!(frame.contains("q end"), "{frame}");
}

#[test]
fn neither_secrets_nor_escapes_are_drawn() {
    let known = run(3);
    for view in View::ALL {
        let choice = ViewState {
            view,
            ..ViewState::default()
        };
        let frame = text(&drawn(&known, &choice, Style::default(), (160, 50)));
        assert!(!frame.contains(SECRET), "{frame}");
        assert!(!frame.contains('\u{1b}'), "{frame}");
    }
}

/// A failed body has a row, escaped and cut.
#[test]
fn errors_have_an_example_of_their_bodies() {
    let known = run(8);
    let choice = ViewState {
        view: View::Errors,
        ..ViewState::default()
    };
    for (width, part) in [(120, "no such basket"), (40, "503 of /order")] {
        let frame = text(&drawn(&known, &choice, Style::default(), (width, 40)));
        assert!(frame.contains("Examples"), "{frame}");
        assert!(frame.contains(part), "{frame}");
        assert!(
            !frame.contains(SECRET) && !frame.contains('\u{1b}'),
            "{frame}"
        );
    }
}

#[test]
fn a_tail_over_a_baseline_has_both_names() {
    let [this, baseline] = [8, 3].map(|seconds| run(seconds).summary.unwrap());
    let tail = figure::tail(&this, Some(&baseline));
    for (unicode, size) in [(Unicode::On, (80, 20)), (Unicode::Off, (40, 10))] {
        let area = Rect::new(0, 0, size.0, size.1);
        let mut buffer = Buffer::empty(area);
        let look = Look::new(style(Color::On, unicode), Redactor::default());
        chart::draw(&tail, Detail::default(), area, &mut buffer, &look);
        let drawn = text(&buffer);
        for name in ["baseline", "this run"] {
            assert!(drawn.contains(name), "{name}\n{drawn}");
        }
    }
}

/// The steps and the intervals of a long run: a day, with more intervals than a timeline has cells.
const STEPS: usize = 320;
const INTERVALS: u64 = 400;
const INTERVAL_S: u64 = 216;

/// A run of a day with hundreds of steps; `at` is called after each interval.
fn day(mut at: impl FnMut(u64, &Known)) -> Known {
    let names: Vec<String> = (0..STEPS).map(|n| format!("step {n:03}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut info = info();
    info.pools = vec![pool("shop", Model::Open, &names)];
    info.interval = Nanos::from_secs(INTERVAL_S);
    let plan = open("const(200,60s)").plan().unwrap();
    let mut known = Known::new(&plan, Redactor::default());
    known.observe(&RunEvent::Started(Arc::new(info.clone())));
    for index in 0..INTERVALS {
        let mut interval = Interval::of_pools(&info.pools);
        interval.reset(index, Nanos::from_secs(INTERVAL_S * index));
        interval.end = Nanos::from_secs(INTERVAL_S * (index + 1));
        for n in 0..STEPS as u64 {
            let due = interval.start + Nanos::from_millis(150 * n);
            let length = Nanos::from_micros(500 + 10 * ((7 * n + index) % 977));
            let figures = interval.pool_mut(0);
            figures.record_intended(1);
            figures.record(&sample(due, n as u16, length, Outcome::Ok));
        }
        interval.sum_up();
        known.observe(&RunEvent::IntervalClosed(Arc::new(interval)));
        at(index, &known);
    }
    known
}

/// The memory of a run's screen does not grow with the run's length.
#[test]
fn a_day_with_hundreds_of_steps_takes_bounded_memory() {
    let mut sizes = Vec::new();
    day(|index, known| {
        assert!(known.rows.len() <= 60, "{}", known.rows.len());
        if index != 250 && index + 1 != INTERVALS {
            return;
        }
        let summary = known.summary.as_ref().unwrap();
        let points = |figure: &Figure| match &figure.plot {
            Plot::Lines(all) | Plot::Bands(all) | Plot::Points(all) => {
                all.iter().map(|series| series.points.len()).sum()
            }
            Plot::Heat(heat) => heat.columns.len(),
            Plot::Bars(bars) => bars.len(),
            Plot::Nothing(_) => 0,
        };
        let points: usize = figure::figures(summary).iter().map(points).sum();
        sizes.push((summary.intervals().len(), points));
    });
    let is_bounded = |(rows, points): &(usize, usize)| *rows <= 300 && *points < 12_000;
    assert!(sizes.iter().all(is_bounded), "{sizes:?}");
}

/// Every view is drawn within its area, and hundreds of steps can be scrolled, sorted and filtered.
#[test]
fn a_day_with_hundreds_of_steps_is_drawn() {
    let known = day(|_, _| {});
    let draw = |choice: &ViewState, size| text(&drawn(&known, choice, Style::default(), size));
    for (width, height) in [(40, 10), (80, 24), (300, 80)] {
        for view in View::ALL {
            let choice = ViewState {
                view,
                ..ViewState::default()
            };
            let frame = draw(&choice, (width, height));
            assert_eq!(frame.lines().count(), usize::from(height));
            let widest = frame.lines().map(|line| line.chars().count()).max();
            assert!(widest <= Some(usize::from(width)), "{view:?}\n{frame}");
        }
    }
    let size = (120, 40);
    let mut choice = ViewState {
        view: View::Steps,
        ..ViewState::default()
    };
    let top = draw(&choice, size);
    assert!(top.contains("more rows"), "{top}");
    let settle = |choice: &mut ViewState| {
        choice.settle(framed(&known, choice, Style::default(), size).1);
    };
    settle(&mut choice);
    (0..20).for_each(|_| drop(choice.press(Key::Down)));
    settle(&mut choice);
    let place = choice.selected.at.map(|place| place.step);
    assert_eq!(place, Some(20), "the selection moves, and the rows follow");
    assert_ne!(draw(&choice, size), top);
    choice.press(Key::Char('o'));
    choice.scroll = 0;
    assert_ne!(draw(&choice, size), top, "another order");
    settle(&mut choice);
    (0..40).for_each(|_| drop(choice.press(Key::PageDown)));
    settle(&mut choice);
    let end = draw(&choice, size);
    assert!(!end.contains("more rows"), "{end}");
    settle(&mut choice);
    assert_eq!(draw(&choice, size), end);
    (0..40).for_each(|_| drop(choice.press(Key::PageUp)));
    settle(&mut choice);
    assert_ne!(draw(&choice, size), end);
    for key in "/step 31".chars() {
        choice.press(Key::Char(key));
    }
    choice.press(Key::Enter);
    let found = draw(&choice, size);
    assert!(found.contains("step 310") && found.contains("step 319"));
    assert!(!found.contains("step 309"), "{found}");
}

#[test]
fn the_state_of_the_load_stands_above_the_keys() {
    let mut known = run(3);
    let shown =
        |known: &Known, choice: &ViewState| text(&drawn(known, choice, Style::default(), (80, 24)));
    let mut choice = ViewState::default();
    known.observe(&RunEvent::Changed(Arc::new(Command::soon(Change::Pause))));
    assert!(shown(&known, &choice).contains("paused: p resumes the load"));
    known.observe(&RunEvent::Changed(Arc::new(Command::soon(Change::Resume))));
    assert!(!shown(&known, &choice).contains("paused"));
    known.notes.add("the disk is full\u{1b}[2J");
    assert!(shown(&known, &choice).contains("the disk is full"));
    let reason = StopReason::Signal;
    known.observe(&RunEvent::Stopping { reason });
    assert!(shown(&known, &choice).contains("stopping: waiting for 0 in flight"));
    for key in "mdeploy".chars() {
        choice.press(Key::Char(key));
    }
    assert!(shown(&known, &choice).contains("mark this moment as: deploy"));
}

#[test]
fn steps_are_chosen_and_ordered() {
    let known = run(8);
    let shown = |choice: &ViewState| text(&drawn(&known, choice, Style::default(), (120, 40)));
    let mut choice = ViewState::default();
    choice.press(Key::Char('o'));
    choice.press(Key::Char('o'));
    assert!(
        choice
            .message
            .as_deref()
            .unwrap()
            .contains("most failures first")
    );
    choice.press(Key::Char('/'));
    for key in "ORDER".chars() {
        choice.press(Key::Char(key));
    }
    choice.press(Key::Enter);
    let frame = shown(&choice);
    assert!(frame.contains("shop · /order"), "{frame}");
    assert!(!frame.contains("shop · /basket"), "{frame}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_size_and_choice_gives_a_frame(
        width in 1..300_u16,
        height in 1..90_u16,
        keys in "[1-6tohjkf?/ap+\r\u{1b} -]{0,12}",
        seconds in 0..4_u64,
    ) {
        let known = run(seconds);
        let mut choice = ViewState { pools: 2, ..ViewState::default() };
        for key in keys.chars() {
            choice.press(match key {
                '\r' => Key::Enter,
                '\u{1b}' => Key::Left,
                key => Key::Char(key),
            });
            let size = (width, height);
            choice.settle(framed(&known, &choice, Style::default(), size).1);
        }
        for unicode in [Unicode::On, Unicode::Off] {
            let size = (width, height);
            let buffer = drawn(&known, &choice, style(Color::On, unicode), size);
            prop_assert_eq!(buffer.area, Rect::new(0, 0, width, height));
        }
    }
}
