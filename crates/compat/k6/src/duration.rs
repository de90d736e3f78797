//! Durations as scripts write them: numbers are milliseconds, texts are those of Go with days.

use drumfire_units::Nanos;

/// The units of a text, the longest name first, with their nanoseconds.
const UNITS: [(&str, f64); 8] = [
    ("ns", 1.0),
    ("us", 1e3),
    ("µs", 1e3),
    ("ms", 1e6),
    ("s", 1e9),
    ("m", 60e9),
    ("h", 3_600e9),
    ("d", 86_400e9),
];

/// A duration such as `1m30s`, `500ms` or `1d2h`; a plain number is milliseconds.
///
/// # Errors
///
/// What is wrong with the text. Durations are at most 292 years, as in Go.
pub fn parse(text: &str) -> Result<Nanos, String> {
    let wrong =
        || format!("invalid duration `{text}`; use a number with a unit, such as `30s` or `1m30s`");
    if let Ok(milliseconds) = text.parse::<f64>() {
        return nanos(milliseconds * 1e6).ok_or_else(wrong);
    }
    let mut rest = text;
    let mut sum = 0.0;
    while !rest.is_empty() {
        let end = rest
            .find(|letter: char| !(letter.is_ascii_digit() || letter == '.'))
            .ok_or_else(wrong)?;
        let number: f64 = rest[..end].parse().map_err(|_| wrong())?;
        rest = &rest[end..];
        let unit = UNITS.iter().find(|(name, _)| {
            rest.strip_prefix(name)
                .is_some_and(|next| !next.starts_with(|next: char| next.is_alphabetic()))
        });
        let (name, size) = unit.ok_or_else(wrong)?;
        sum += number * size;
        rest = &rest[name.len()..];
    }
    if text.is_empty() {
        Err(wrong())
    } else {
        nanos(sum).ok_or_else(wrong)
    }
}

fn nanos(number: f64) -> Option<Nanos> {
    let fits = (0.0..9.2e18).contains(&number);
    fits.then(|| Nanos(number.round() as u64))
}

#[cfg(test)]
mod tests {
    use super::parse;
    use drumfire_units::Nanos;

    #[test]
    fn texts() {
        for (text, nanos) in [
            ("30s", 30_000_000_000),
            ("1m30s", 90_000_000_000),
            ("500ms", 500_000_000),
            ("1d2h", 93_600_000_000_000),
            ("1.5h", 5_400_000_000_000),
            ("250", 250_000_000),
            ("0", 0),
            ("3µs7ns", 3_007),
        ] {
            assert_eq!(parse(text), Ok(Nanos(nanos)), "{text}");
        }
        for text in [
            "",
            "s",
            "1x",
            "-1s",
            "1s2",
            "1.2.3s",
            "1000000000h",
            "NaN",
            "30 s",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
