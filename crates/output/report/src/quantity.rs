//! Numbers for people: three significant digits, the unit that fits, SI's spaces. A number is
//! rounded once, here. No share is rounded to a false statement: something is never `0 %`, and less
//! than everything is never `100 %`.

use crate::style::Unicode;
use drumfire_measure::Histogram;
pub(crate) use drumfire_units::rounded::{count, rate};
use drumfire_units::{ByteSize, Nanos, rounded};

/// Things in a sentence: `a`, `a and b`, `a, b and c`.
pub(crate) fn enumerated(things: &[String]) -> String {
    match things {
        [] => String::new(),
        [only] => only.clone(),
        [others @ .., last] => format!("{} and {last}", others.join(", ")),
    }
}

/// A latency with three significant digits: `850 ns`, `12.3 µs`, `1.20 ms`, `2.05 s`, `20.5 min`.
pub(crate) fn latency(nanos: Nanos, unicode: Unicode) -> String {
    latency_f64(nanos.0 as f64, unicode)
}

/// A latency that is only a lower bound: `≥ 1.00 s`.
pub(crate) fn latency_at_least(nanos: Nanos, unicode: Unicode) -> String {
    let sign = match unicode {
        Unicode::On => "≥",
        Unicode::Off => ">=",
    };
    format!("{sign} {}", latency(nanos, unicode))
}

/// The quantile `q` of `histogram`, with a mark if it is a lower bound; `None` if the count does
/// not support it.
pub(crate) fn quantile(histogram: &Histogram, q: f64, unicode: Unicode) -> Option<String> {
    let value = histogram.quantile(q)?;
    Some(if histogram.is_at_least(q) {
        latency_at_least(value, unicode)
    } else {
        latency(value, unicode)
    })
}

/// A latency in nanoseconds with a fraction, such as a mean, in the form of [`latency`].
pub(crate) fn latency_f64(nanos: f64, unicode: Unicode) -> String {
    in_letters(&rounded::time(nanos), unicode)
}

/// A text of this program in the letters that the terminal shows. Foreign texts are escaped instead
/// ([`crate::untrusted`]).
pub(crate) fn in_letters(text: &str, unicode: Unicode) -> String {
    match unicode {
        Unicode::On => text.to_owned(),
        Unicode::Off => {
            let mut text = text.replace(" · ", ", ");
            for (letter, plain) in [
                ('µ', "u"),
                ('≥', ">="),
                ('≤', "<="),
                ('×', "x"),
                ('±', "+-"),
                ('−', "-"),
                ('–', "-"),
                ('…', "~"),
                ('→', "->"),
                ('✓', "+"),
                ('✗', "x"),
            ] {
                text = text.replace(letter, plain);
            }
            text
        }
    }
}

/// The length of a run: `250 ms`, `10 s`, `10.3 s`, `5m00s`, `2h05m`, `3d04h`.
pub(crate) fn span(nanos: Nanos, unicode: Unicode) -> String {
    // Rounded before the unit is chosen: 59.96 s is `1m00s`, and never `60.0 s`.
    let tenths = nanos.0.saturating_add(50_000_000) / 100_000_000;
    let seconds = nanos.0.saturating_add(500_000_000) / 1_000_000_000;
    match seconds {
        _ if tenths < 10 => latency(nanos, unicode),
        _ if tenths < 600 && tenths.is_multiple_of(10) => format!("{} s", tenths / 10),
        _ if tenths < 600 => format!("{}.{} s", tenths / 10, tenths % 10),
        0..3_600 => format!("{}m{:02}s", seconds / 60, seconds % 60),
        3_600..86_400 => format!("{}h{:02}m", seconds / 3_600, seconds / 60 % 60),
        _ => format!("{}d{:02}h", seconds / 86_400, seconds / 3_600 % 24),
    }
}

/// Tokens per second, such as `1,277 tokens/s`.
pub(crate) fn tokens_per_s(value: f64) -> String {
    format!("{} tokens/s", rate(value).trim_end_matches("/s"))
}

/// A count with its noun, which gets an `s` in the plural.
pub(crate) fn counted(n: u64, noun: &str) -> String {
    let plural = if n == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", count(n))
}

/// The word for the requests that were sent, or begun if some of them could not be made for lack of
/// data.
pub(crate) const fn sent_or_begun(without_data: u64) -> &'static str {
    match without_data {
        0 => "sent",
        _ => "begun",
    }
}

/// A share of a whole: `12.3 %`, `99.5 %`. Never `0 %` for something, never `100 %` for less than all.
pub(crate) fn share(part: u64, whole: u64) -> String {
    if whole == 0 {
        return "0 %".to_owned();
    }
    match part == whole {
        true => "100 %".to_owned(),
        false => share_of(part as f64 / whole as f64),
    }
}

/// A share given as a ratio: 0.123 is `12.3 %`. Above 1 it has no decimals.
pub(crate) fn share_of(ratio: f64) -> String {
    match ratio * 100.0 {
        0.0 => "0 %".to_owned(),
        100.0 => "100 %".to_owned(),
        // The bounds are those of rounding: 9.995 would be printed as `10.00`.
        p if p < 0.01 => "<0.01 %".to_owned(),
        p if p < 9.995 => format!("{p:.2} %"),
        p if p < 99.95 => format!("{p:.1} %"),
        p if p > 100.0 => format!("{p:.0} %"),
        p if p < 99.995 => format!("{p:.2} %"),
        _ => ">99.99 %".to_owned(),
    }
}

/// A share to tenths of a percent, for columns that line up at the point.
pub(crate) fn share_tenths(part: u64, whole: u64) -> String {
    match part as f64 / whole.max(1) as f64 * 100.0 {
        p if part > 0 && p < 0.05 => "<0.1 %".to_owned(),
        p if part < whole && p >= 99.95 => ">99.9 %".to_owned(),
        _ if part == whole && whole > 0 => "100 %".to_owned(),
        p => format!("{p:.1} %"),
    }
}

/// A share from 0 to 1 that was measured, not counted: `31 %`, `<1 %`.
pub(crate) fn busy(share: f64) -> String {
    match share * 100.0 {
        p if p > 0.0 && p < 0.5 => "<1 %".to_owned(),
        p => format!("{p:.0} %"),
    }
}

/// Bytes per second of a span: `1.21 MB/s`; `0 B/s` over no time.
pub(crate) fn throughput(bytes: u64, duration: Nanos) -> String {
    let seconds = duration.as_secs_f64();
    if seconds <= 0.0 {
        return "0 B/s".to_owned();
    }
    format!("{}/s", ByteSize((bytes as f64 / seconds) as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_are_shown_in_what_letters_there_are() {
        assert_eq!(latency(Nanos(12_345), Unicode::On), "12.3 µs");
        assert_eq!(latency(Nanos(12_345), Unicode::Off), "12.3 us");
        let bound = Nanos::from_secs(1);
        assert_eq!(latency_at_least(bound, Unicode::On), "≥ 1.00 s");
        assert_eq!(latency_at_least(bound, Unicode::Off), ">= 1.00 s");
        assert_eq!(latency_f64(1_234.5, Unicode::On), "1.23 µs");
    }

    #[test]
    fn spans_read_like_a_clock() {
        for (nanos, text) in [
            (Nanos::ZERO, "0"),
            (Nanos::from_millis(250), "250 ms"),
            (Nanos::from_secs(10), "10 s"),
            (Nanos::from_millis(10_340), "10.3 s"),
            (Nanos::from_millis(59_960), "1m00s"),
            (Nanos::from_secs(300), "5m00s"),
            (Nanos::from_secs(7_500), "2h05m"),
            (Nanos::from_secs(273_600), "3d04h"),
        ] {
            assert_eq!(span(nanos, Unicode::On), text);
        }
    }

    #[test]
    fn counts_and_shares() {
        assert_eq!(counted(1, "thread"), "1 thread");
        assert_eq!(counted(2_000, "thread"), "2,000 threads");
        for (part, whole, text) in [
            (0, 0, "0 %"),
            (0, 5, "0 %"),
            (5, 5, "100 %"),
            (1, 1_000_000, "<0.01 %"),
            (1, 2_000, "0.05 %"),
            (1, 8, "12.5 %"),
            (9_999, 10_000, "99.99 %"),
            (999_999, 1_000_000, ">99.99 %"),
            (1, 20, "5.00 %"),
            (3, 2, "150 %"),
        ] {
            assert_eq!(share(part, whole), text);
        }
        for (part, whole, text) in [
            (0, 0, "0.0 %"),
            (1, 1_000_000, "<0.1 %"),
            (1, 8, "12.5 %"),
            (99_999, 100_000, ">99.9 %"),
            (5, 5, "100 %"),
        ] {
            assert_eq!(share_tenths(part, whole), text);
        }
        assert_eq!(throughput(5_000_000, Nanos::from_secs(2)), "2.50 MB/s");
        assert_eq!(throughput(5, Nanos::ZERO), "0 B/s");
        assert_eq!(
            (busy(0.314), busy(0.001), busy(0.0)),
            ("31 %".into(), "<1 %".into(), "0 %".into())
        );
    }
}
