//! The line of each second.

use crate::fixture;
use drumfire_measure::{Interval, Model, Outcome};
use drumfire_report::live::{self, Progress};
use drumfire_report::style::{Color, Style, Unicode};
use drumfire_units::Nanos;
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

fn progress(sent: u64) -> Progress<'static> {
    Progress {
        model: Model::Open,
        duration: Some(Nanos::from_secs(10)),
        requests: None,
        sent,
        rates: &RATES,
    }
}

#[test]
fn a_line_says_what_matters() {
    let style = Style::new(120, Color::Off, Unicode::On);
    assert_eq!(
        live::line(&second(2, 1_000, 3), &progress(3_000), &style),
        "   3 s    1,000/s  ▁▃▄▆▇███     997 ok  3 failed  p50 1.52 ms  p99 2.01 ms  \
         max 2.02 ms  ██▍       30 %  7 s left"
    );
    let ascii = Style::new(120, Color::Off, Unicode::Off);
    assert!(live::line(&second(2, 1_000, 3), &progress(3_000), &ascii).is_ascii());
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
    let style = Style::new(120, Color::Off, Unicode::On);
    let line = live::line(&interval, &progress(3_000), &style);
    assert!(
        line.contains("p50 1.52 ms  p99 ≥ 1.00 s  max ≥ 1.00 s"),
        "{line}"
    );
}

#[test]
fn narrow_lines_keep_the_essence() {
    let narrow = Style::new(50, Color::Off, Unicode::On);
    assert_eq!(
        live::line(&second(2, 1_000, 0), &progress(3_000), &narrow),
        "   3 s    1,000/s  0 failed  p99 2.01 ms"
    );
}

#[test]
fn lines_keep_their_columns_and_their_width() {
    for width in [40, 60, 80, 100, 120, 200] {
        let style = Style::new(width, Color::Off, Unicode::On);
        let lines: Vec<_> = [(0, 7, 0), (1, 1_000, 0), (2, 999, 5), (7, 0, 0)]
            .into_iter()
            .map(|(at, n, failed)| live::line(&second(at, n, failed), &progress(n), &style))
            .collect();
        let place = |line: &String| line.find("p99").map(|at| line[..at].width());
        assert!(lines.iter().all(|line| line.width() <= usize::from(width)));
        assert!(
            lines.iter().all(|line| place(line) == place(&lines[0])),
            "{lines:#?}"
        );
        assert!(lines.iter().all(|line| !line.contains(char::is_control)));
    }
}

#[test]
fn what_is_left_follows_the_nearer_stop() {
    let style = Style::new(200, Color::Off, Unicode::On);
    let mut progress = progress(90);
    progress.requests = Some(100);
    let line = live::line(&second(2, 30, 0), &progress, &style);
    assert!(line.ends_with("90 %"), "{line}");
    progress.duration = None;
    progress.requests = None;
    let line = live::line(&second(2, 30, 0), &progress, &style);
    assert!(!line.contains('%') && !line.contains("left"), "{line}");
    progress.requests = Some(0);
    assert!(live::line(&second(2, 30, 0), &progress, &style).ends_with("100 %"));
}
