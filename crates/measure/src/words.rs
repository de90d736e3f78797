//! Figures as words, for reasons and thresholds: three significant digits and a unit.

/// A number of nanoseconds, such as `61.3 ms`.
pub(crate) fn time_text(nanos: f64) -> String {
    let (scale, unit) = match nanos.abs() {
        n if n >= 999.5e6 => (1e9, "s"),
        n if n >= 999.5e3 => (1e6, "ms"),
        n if n >= 999.5 => (1e3, "µs"),
        _ => (1.0, "ns"),
    };
    format!("{} {unit}", three_digits(nanos / scale))
}

/// A share from 0 to 1, such as `97 %`.
pub(crate) fn share_text(share: f64) -> String {
    format!("{} %", three_digits(share * 100.0))
}

/// A number to three significant digits, without trailing zeros after the point.
pub(crate) fn three_digits(value: f64) -> String {
    let decimals = match value.abs() {
        n if n >= 99.95 => 0,
        n if n >= 9.995 => 1,
        n if n >= 0.9995 => 2,
        n if n >= 0.09995 => 3,
        0.0 => 0,
        _ => 4,
    };
    let text = format!("{value:.decimals$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// A whole number with a comma between each three digits.
pub(crate) fn grouped(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A quantile's name: 0.999 is `p99.9`.
pub(crate) fn quantile_text(q: f64) -> String {
    // Nine decimals hide the binary remainder of a decimal share.
    let percent = format!("{:.9}", q * 100.0);
    format!("p{}", percent.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_read_as_a_person_writes_them() {
        for (nanos, text) in [
            (0.0, "0 ns"),
            (17.0, "17 ns"),
            (999.7, "1 µs"),
            (1_500.0, "1.5 µs"),
            (61_342_000.0, "61.3 ms"),
            (100e6, "100 ms"),
            (999_900_000.0, "1 s"),
            (90e9, "90 s"),
            (3600e9, "3600 s"),
        ] {
            assert_eq!(time_text(nanos), text);
        }
        assert_eq!(share_text(0.97), "97 %");
        assert_eq!(share_text(0.0005), "0.05 %");
        assert_eq!(quantile_text(0.999), "p99.9");
        assert_eq!(quantile_text(0.5), "p50");
        assert_eq!(quantile_text(0.07), "p7");
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_000), "1,000");
        assert_eq!(grouped(12_345_678), "12,345,678");
    }
}
