//! The time of a run and its progress, at the right of the first row.

use crate::line::{Ink, Line};
use crate::quantity::span;
use crate::style::Style;
use drumfire_units::Nanos;

/// The number of columns of the bar of progress.
const BAR: usize = 10;
/// The minimum width of a screen with the bar.
const BAR_FROM: usize = 60;

/// The bar of progress, the time of a run, and the time at which its load ends. Without such a time,
/// a load that ends after a number of requests has the share that is done, from 0 to 1.
///
/// The elapsed time is rounded down to seconds and the end up, so that the load never seems to be
/// over before its end.
#[must_use]
pub fn clock(
    elapsed: Nanos,
    load_end: Option<Nanos>,
    done: Option<f64>,
    width: usize,
    style: &Style,
) -> Line {
    let words = |seconds: u64| span(Nanos::from_secs(seconds), style.unicode);
    let mut line = Line::new();
    if let Some(done) = done.filter(|_| width >= BAR_FROM) {
        let full = ((done.clamp(0.0, 1.0) * BAR as f64) as usize).min(BAR);
        line.push(style.glyph("▓", "#").repeat(full), Ink::Plain);
        line.push(style.glyph("░", ".").repeat(BAR - full), Ink::Dim);
        line.push(" ", Ink::Plain);
    }
    line.push(words(elapsed.0 / 1_000_000_000), Ink::Bold);
    match (load_end, done) {
        (Some(end), _) => {
            let end = end.0.div_ceil(1_000_000_000);
            line.push(format!(" of {}", words(end)), Ink::Plain);
        }
        (None, Some(done)) => line.push(format!(", {:.0} %", (done * 100.0).floor()), Ink::Plain),
        (None, None) => {}
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_has_the_end_that_the_load_has() {
        let style = Style::default();
        let at = Nanos::from_millis(14_900);
        let end = Nanos::from_millis(44_100);
        for (end, done, width, expected) in [
            (Some(end), Some(0.33), 80, "▓▓▓░░░░░░░ 14 s of 45 s"),
            (Some(end), Some(0.33), 40, "14 s of 45 s"),
            (None, Some(0.999), 80, "▓▓▓▓▓▓▓▓▓░ 14 s, 99 %"),
            (None, None, 80, "14 s"),
        ] {
            assert_eq!(clock(at, end, done, width, &style).text(), expected);
        }
    }
}
