//! Durations as Go parses them: `300ms`, `1m30s`, `1.5h`, a bare `0`.

use crate::go_text::quoted;
use drumfire_units::Nanos;

/// Nanoseconds per unit.
const UNITS: [(&str, u64); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("μs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

/// The maximum duration in Go.
const LONGEST: u128 = i64::MAX as u128;

/// Parses a duration.
///
/// # Errors
/// In Go's words; a negative duration is refused in drumfire's words.
pub(crate) fn duration(text: &str) -> Result<Nanos, String> {
    let invalid = || format!("time: invalid duration {}", quoted(text));
    let (negative, mut rest) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    if rest == "0" {
        return Ok(Nanos::ZERO);
    }
    let mut total: u128 = 0;
    if rest.is_empty() {
        return Err(invalid());
    }
    while !rest.is_empty() {
        let (value, scale, after) = number(rest).ok_or_else(invalid)?;
        let length = after
            .find(|c: char| c == '.' || c.is_ascii_digit())
            .unwrap_or(after.len());
        let (name, after) = after.split_at(length);
        if name.is_empty() {
            return Err(format!("time: missing unit in duration {}", quoted(text)));
        }
        let Some((_, unit)) = UNITS.iter().find(|(known, _)| *known == name) else {
            let (name, text) = (quoted(name), quoted(text));
            return Err(format!("time: unknown unit {name} in duration {text}"));
        };
        total += value.checked_mul(u128::from(*unit)).ok_or_else(invalid)? / scale;
        if total > LONGEST {
            return Err(invalid());
        }
        rest = after;
    }
    if negative && total > 0 {
        return Err(format!("time: negative duration {}", quoted(text)));
    }
    Ok(Nanos(total as u64))
}

/// Digits with an optional point: as a whole number, its divisor, and the rest of the text.
fn number(text: &str) -> Option<(u128, u128, &str)> {
    let end = text
        .find(|c: char| c != '.' && !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (mut whole, mut scale, mut point, mut digits) = (0_u128, 1_u128, false, 0);
    for (at, c) in text[..end].char_indices() {
        match c.to_digit(10) {
            // Digits beyond the precision are skipped.
            Some(_) if point && scale >= 1_000_000_000_000_000 => {}
            Some(digit) => {
                whole = whole.checked_mul(10)?.checked_add(u128::from(digit))?;
                digits += 1;
                if point {
                    scale *= 10;
                }
            }
            // A second point ends the number, as it does in Go.
            None if point => return (digits > 0).then_some((whole, scale, &text[at..])),
            None => point = true,
        }
    }
    (digits > 0).then_some((whole, scale, &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_read_as_go_reads_them() {
        for (text, ns) in [
            ("0", 0),
            ("300ms", 300_000_000),
            ("1m30s", 90_000_000_000),
            ("1.5h", 5_400_000_000_000),
            ("+5us", 5_000),
            (".5s", 500_000_000),
            ("1.s", 1_000_000_000),
            ("-0s", 0),
            ("2µs", 2_000),
        ] {
            assert_eq!(duration(text), Ok(Nanos(ns)), "{text}");
        }
    }

    #[test]
    fn mistakes_are_told_in_gos_words() {
        for (text, message) in [
            ("5", r#"time: missing unit in duration "5""#),
            ("x", r#"time: invalid duration "x""#),
            ("", r#"time: invalid duration """#),
            (".", r#"time: invalid duration ".""#),
            ("1x", r#"time: unknown unit "x" in duration "1x""#),
            ("1.5.5s", r#"time: missing unit in duration "1.5.5s""#),
            ("99999999999h", r#"time: invalid duration "99999999999h""#),
            ("-5s", r#"time: negative duration "-5s""#),
        ] {
            assert_eq!(duration(text), Err(message.to_owned()));
        }
    }
}
