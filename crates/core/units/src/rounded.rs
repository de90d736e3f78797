//! Quantities for readers: three significant digits, a suitable unit, and thousands separators.

/// Units of time with their lengths in nanoseconds.
const UNITS: [(&str, f64); 6] = [
    ("ns", 1.0),
    ("µs", 1e3),
    ("ms", 1e6),
    ("s", 1e9),
    ("min", 60e9),
    ("h", 3600e9),
];

/// A number of nanoseconds: `850 ns`, `12.3 µs`, `1.20 ms`, `2.05 s`, `20.5 min`.
#[must_use]
pub fn time(nanos: f64) -> String {
    time_to(nanos, 0)
}

/// Like [`time`], with `more` additional decimals, to distinguish two close values: `999.8 ms` and
/// `1.0000 s`.
#[must_use]
pub fn time_to(nanos: f64, more: usize) -> String {
    if nanos < 0.5 {
        return "0".to_owned();
    }
    // A value gets the next unit as soon as rounding would give it four digits before the point.
    let limit = 1000.0 - 0.5 * 0.1_f64.powi(more as i32);
    let fitting = UNITS.iter().find(|(_, length)| nanos / length < limit);
    let (name, length) = *fitting.unwrap_or(&UNITS[5]);
    let value = nanos / length;
    match name {
        "ns" => format!("{value:.0} ns"),
        _ => format!("{} {name}", digits_to(value, more)),
    }
}

/// A value of at least 1 with three significant digits, whole above 100.
#[must_use]
pub fn three_digits(value: f64) -> String {
    digits_to(value, 0)
}

/// Like [`three_digits`], with `more` additional decimals.
#[must_use]
pub fn digits_to(value: f64, more: usize) -> String {
    let decimals = match value {
        v if v < 9.995 => 2,
        v if v < 99.95 => 1,
        v if v < 999.5 || more > 0 => 0,
        v => return count(v.round() as u64),
    };
    with_separators(&format!("{value:.*}", decimals + more))
}

/// A decimal number with thousands separators.
fn with_separators(number: &str) -> String {
    let (whole, decimals) = number.split_at(number.find('.').unwrap_or(number.len()));
    match whole.parse() {
        Ok(whole) => format!("{}{decimals}", count(whole)),
        Err(_) => number.to_owned(),
    }
}

/// A count with separators: `1,234,567`.
#[must_use]
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A rate per second, with three digits below a thousand and at most five decimals: `12,345/s`,
/// `995/s`, `0.2/s`, `0.00083/s`.
#[must_use]
pub fn rate(per_second: f64) -> String {
    rate_to(per_second, 0)
}

/// Like [`rate`], with up to `more` additional decimals.
#[must_use]
pub fn rate_to(per_second: f64, more: usize) -> String {
    let decimals = match per_second {
        v if !v.is_finite() || v >= 999.5 && more == 0 => {
            return format!("{}/s", count(v.round() as u64));
        }
        v if v < 0.009_95 => 5,
        v if v < 0.0995 => 4,
        v if v < 0.995 => 3,
        v if v < 9.995 => 2,
        v if v < 99.95 => 1,
        _ => 0,
    };
    let text = with_separators(&format!("{per_second:.*}", decimals + more));
    let text = match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.'),
        false => &text,
    };
    match text {
        "0" if per_second > 0.0 => "<0.00001/s".to_owned(),
        text => format!("{text}/s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_fit_their_unit() {
        for (nanos, text) in [
            (0, "0"),
            (1, "1 ns"),
            (850, "850 ns"),
            (999, "999 ns"),
            (1_000, "1.00 µs"),
            (9_994, "9.99 µs"),
            (9_996, "10.0 µs"),
            (12_345, "12.3 µs"),
            (99_960, "100 µs"),
            (999_400, "999 µs"),
            (999_600, "1.00 ms"),
            (1_200_000, "1.20 ms"),
            (999_999_999, "1.00 s"),
            (2_050_000_000, "2.05 s"),
            (61_000_000_000, "61.0 s"),
            (900_000_000_000, "900 s"),
            (1_230_000_000_000, "20.5 min"),
            (3_600_000_000_000, "60.0 min"),
            (72_000_000_000_000, "20.0 h"),
            (u64::MAX, "5,124,096 h"),
        ] {
            assert_eq!(time(nanos as f64), text, "{nanos}");
        }
        assert_eq!(time(1_234.5), "1.23 µs");
        assert_eq!(time(0.2), "0");
    }

    #[test]
    fn counts_and_rates() {
        for (n, text) in [
            (0, "0"),
            (999, "999"),
            (1_000, "1,000"),
            (12_345_678, "12,345,678"),
            (u64::MAX, "18,446,744,073,709,551,615"),
        ] {
            assert_eq!(count(n), text);
        }
        for (per_second, text) in [
            (0.0, "0/s"),
            (0.000_002, "<0.00001/s"),
            (3.0 / 3_600.0, "0.00083/s"),
            (0.0125, "0.0125/s"),
            (0.2, "0.2/s"),
            (1.5, "1.5/s"),
            (50.0, "50/s"),
            (148.12, "148/s"),
            (20.0, "20/s"),
            (99.96, "100/s"),
            (999.6, "1,000/s"),
            (999.97, "1,000/s"),
            (12_345.6, "12,346/s"),
        ] {
            assert_eq!(rate(per_second), text);
        }
    }
}
