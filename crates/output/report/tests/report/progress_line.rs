//! The line of each second.

use crate::fixture;
use drumfire_measure::{Interval, Model, Outcome, Reading};
use drumfire_report::progress_line::{self, Progress, Stage, Stops};
use drumfire_report::style::{Color, Style, Unicode};
use drumfire_units::Nanos;
use std::sync::Arc;
use unicode_width::UnicodeWidthStr;

fn second(at: u64, requests: u64, failed: u64) -> Interval {
    let mut interval = Interval::new(&[]);
    interval.reset(at, Nanos::from_secs(at));
    interval.end = Nanos::from_secs(at + 1);
    for n in 0..requests {
        let mut sample = fixture::sample(interval.start + Nanos::from_millis(n));
        sample.end += Nanos::from_micros(n);
        interval.total.record(&if n < failed {
            fixture::ended(sample, Outcome::HttpStatus, 503)
        } else {
            sample
        });
    }
    interval
}

const RATES: [f64; 9] = [5e3, 100.0, 300.0, 500.0, 700.0, 800.0, 900.0, 1e3, 1e3];

/// A run of which the intervals so far are known.
struct Shown {
    reading: Reading,
    stage: Stage,
    stops: Stops,
}

impl Shown {
    fn new() -> Self {
        Self {
            reading: Reading::of_sums(Arc::new(fixture::info(Model::Open))),
            stage: Stage::Load,
            stops: Stops {
                duration: Some(Nanos::from_secs(10)),
                requests: None,
            },
        }
    }

    fn line(&mut self, interval: &Interval, style: &Style) -> String {
        self.reading.absorb(interval);
        let progress = Progress {
            stage: self.stage,
            stops: self.stops,
            reading: &self.reading,
            rates: &RATES,
        };
        progress_line::line(interval, &progress, style)
    }
}

fn plain(width: u16) -> Style {
    Style::new(width, Color::Off, Unicode::On)
}

#[test]
fn a_line_says_what_matters() {
    assert_eq!(
        Shown::new().line(&second(2, 1_000, 3), &plain(200)),
        "   3 s  ██▍        30 %   7 s left   1,000/s  ▁▃▄▆▇███  1,000 sent  3 failed  \
         http_status  0 in flight      p50 1.52 ms      p99 2.01 ms      max 2.02 ms"
    );
    let ascii = Style::new(120, Color::Off, Unicode::Off);
    assert!(Shown::new().line(&second(2, 1_000, 3), &ascii).is_ascii());
}

/// A slow server: nothing ends, and the line shows what is sent, and what waits for it.
#[test]
fn what_is_under_way_and_what_waits_is_shown() {
    let mut interval = second(4, 0, 0);
    interval.total.record_intended(100);
    interval.total.record_dropped(7);
    interval.total.under_way = 64;
    let line = Shown::new().line(&interval, &plain(110));
    assert_eq!(
        line,
        "   5 s   50 %   5 s left       0/s     64 sent  0 failed  64 in flight  29 waiting  \
         7 dropped      p99       –"
    );
}

/// Ten users share two connections: each request waits for 80 ms and takes 20 ms.
#[test]
fn users_that_wait_for_a_connection_are_shown() {
    let mut shown = Shown::new();
    shown.reading = Reading::of_sums(Arc::new(fixture::info(Model::Closed)));
    let mut interval = second(4, 0, 0);
    for n in 0..100 {
        let mut sample = fixture::sample(interval.start + Nanos::from_millis(10 * n));
        sample.due = sample.intended + Nanos::from_millis(80);
        sample.sent = sample.due;
        sample.first_byte = sample.sent + Nanos::from_millis(20);
        sample.end = sample.first_byte;
        interval.total.record_intended(1);
        interval.total.record(&sample);
    }
    interval.total.under_way = 2;
    let line = shown.line(&interval, &plain(200));
    assert!(line.contains("  2 in flight  8 waiting  "), "{line}");
}

#[test]
fn eighty_columns_tell_how_much_is_left() {
    let line = Shown::new().line(&second(2, 1_000, 0), &plain(80));
    assert_eq!(
        line,
        "   3 s  30 %  7 s left  1,000/s 1,000 sent 0 failed 0 in flight     p99 2.01 ms"
    );
    let line = Shown::new().line(&second(2, 1_000, 0), &plain(50));
    assert_eq!(line, "   3 s   30 %   1,000/s  0 failed      p99 2.01 ms");
    // A failure leaves the p99 its place.
    for width in [40, 60, 80] {
        let line = Shown::new().line(&second(2, 5_000, 1_500), &plain(width));
        assert!(line.contains("1,500 failed"), "{line}");
        assert!(line.contains("p99 5.98 ms"), "{line}");
    }
}

/// Of several kinds of failures, the most frequent one has its name in the line.
#[test]
fn the_most_frequent_failure_is_named() {
    let mut shown = Shown::new();
    shown.line(&second(0, 10, 2), &plain(120));
    let mut interval = second(1, 100, 0);
    for n in 0..7 {
        let sample = fixture::sample(interval.start + Nanos::from_millis(n));
        let ended = fixture::ended(sample, Outcome::Reset, 0);
        interval.total.record(&ended);
    }
    let line = shown.line(&interval, &plain(200));
    assert!(line.contains("9 failed  most reset"), "{line}");
}

#[test]
fn the_first_failure_has_its_reason() {
    let mut shown = Shown::new();
    shown.line(&second(0, 10, 2), &plain(120));
    let line = shown.line(&second(1, 1_000, 0), &plain(120));
    assert!(line.contains("2 failed  http_status"), "{line}");
}

/// The most frequent of several kinds is shown, even if another came first.
#[test]
fn a_mixture_has_its_most_frequent_kind() {
    let mut shown = Shown::new();
    shown.line(&second(0, 10, 2), &plain(120));
    let mut interval = second(1, 1_000, 0);
    for n in 0..5 {
        let sample = fixture::sample(interval.start + Nanos::from_millis(n));
        let ended = fixture::ended(sample, Outcome::ProtoHeader, 0);
        interval.total.record(&ended);
    }
    let line = shown.line(&interval, &plain(120));
    assert!(line.contains("7 failed most proto:header"), "{line}");
}

#[test]
fn stages_have_names() {
    let mut shown = Shown::new();
    shown.stage = Stage::WarmUp(Nanos::from_secs(5));
    let mut interval = second(2, 0, 0);
    for n in 0..30 {
        let sample = fixture::sample(interval.start + Nanos::from_millis(n));
        interval.total.record_warmup(&sample);
    }
    let line = shown.line(&interval, &plain(80));
    assert!(
        line.starts_with("   3 s  warm-up, 2 s left      30/s"),
        "{line}"
    );
    assert!(shown.line(&interval, &plain(100)).contains("60 sent"));
    shown.stage = Stage::Drain;
    let line = shown.line(&second(10, 3, 0), &plain(80));
    assert!(
        line.starts_with("  11 s            drain      3/s    63 sent"),
        "{line}"
    );
}

/// Few requests a second support no p99, and the run's figures are shown as such; until the run has
/// one, the highest quantile has its place.
#[test]
fn few_samples_give_the_figure_of_the_run() {
    let mut shown = Shown::new();
    let first = shown.line(&second(0, 200, 0), &plain(150));
    assert!(first.contains("    p95 1.21 ms"), "{first}");
    let second_line = shown.line(&second(1, 200, 0), &plain(150));
    let times = "run p50 1.12 ms  run p99 1.22 ms  run max 1.22 ms";
    assert!(second_line.contains(times), "{second_line}");
}

#[test]
fn a_timeout_is_a_lower_bound() {
    let mut interval = second(2, 900, 0);
    for n in 0..100 {
        let mut late = fixture::sample(interval.start + Nanos::from_millis(n));
        late.end = late.intended + Nanos::from_secs(1);
        interval
            .total
            .record(&fixture::ended(late, Outcome::TimeoutTotal, 0));
    }
    let line = Shown::new().line(&interval, &plain(200));
    assert!(
        line.contains("p50 1.52 ms      p99 ≥ 1.00 s      max ≥ 1.00 s"),
        "{line}"
    );
}

#[test]
fn lines_keep_their_columns_and_their_width() {
    for width in [40, 60, 80, 100, 120, 200] {
        let style = plain(width);
        let mut shown = Shown::new();
        let lines: Vec<_> = [(0, 7, 0), (1, 1_000, 0), (2, 999, 0), (7, 0, 0)]
            .into_iter()
            .map(|(at, n, failed)| shown.line(&second(at, n, failed), &style))
            .collect();
        let place = |line: &String| line.find("p99").map(|at| line[..at].width());
        assert!(lines.iter().all(|line| line.width() <= usize::from(width)));
        assert!(
            lines.iter().all(|line| place(line) == place(&lines[0])),
            "{lines:#?}"
        );
        assert!(lines.iter().all(|line| !line.contains(char::is_control)));
        assert!(lines.iter().all(|line| line.contains(" %")), "{lines:#?}");
    }
}

#[test]
fn what_is_left_follows_the_nearer_stop() {
    let style = plain(200);
    let mut shown = Shown::new();
    shown.stops.requests = Some(100);
    let line = shown.line(&second(2, 90, 0), &style);
    assert!(line.contains("90 %"), "{line}");
    shown.stops = Stops::default();
    let line = shown.line(&second(2, 30, 0), &style);
    assert!(!line.contains('%') && !line.contains("left"), "{line}");
    shown.stops.requests = Some(0);
    assert!(shown.line(&second(2, 30, 0), &style).contains("100 %"));
}

/// Two answers of a drain of 5 ms are no 400/s.
#[test]
fn an_interval_that_the_end_cut_short_is_no_rate() {
    let mut interval = second(9, 2, 0);
    interval.end = interval.start + Nanos::from_millis(5);
    let line = Shown::new().line(&interval, &plain(50));
    assert!(!line.contains("/s"), "{line}");
    assert!(line.contains('–'), "{line}");
}
