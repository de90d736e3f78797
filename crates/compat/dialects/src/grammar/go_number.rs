//! Numbers and booleans as Go's `flag` package reads them.

use super::go_flag::BadValue;

/// Parses a boolean: one of `1 0 t f T F true false TRUE FALSE True False`.
pub(crate) fn boolean(text: &str) -> Result<bool, BadValue> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(false),
        _ => Err(BadValue::Syntax),
    }
}

/// Parses a signed whole number in the base of its prefix: `0x`, `0o`, `0b`, a leading `0` for
/// octal, otherwise decimal. Underscores are allowed between digits.
pub(crate) fn integer(text: &str) -> Result<i64, BadValue> {
    let (negative, magnitude) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    let (base, digits) = base_and_digits(magnitude);
    let value = digits_value(digits, base)?;
    let signed = if negative { -value } else { value };
    i64::try_from(signed).map_err(|_| BadValue::Range)
}

/// Parses an unsigned whole number in the base of its prefix.
pub(crate) fn natural(text: &str) -> Result<u64, BadValue> {
    let (base, digits) = base_and_digits(text);
    u64::try_from(digits_value(digits, base)?).map_err(|_| BadValue::Range)
}

/// The base that a prefix sets, and the text after the prefix. The zero of an octal number stays
/// with its digits, so that `0_7` and `0` are parsed correctly.
fn base_and_digits(text: &str) -> (u32, &str) {
    let prefix = text.get(..2).map(str::to_ascii_lowercase);
    match prefix.as_deref() {
        Some("0x") => (16, after_prefix(text)),
        Some("0o") => (8, after_prefix(text)),
        Some("0b") => (2, after_prefix(text)),
        _ if text.len() > 1 && text.starts_with('0') => (8, text),
        _ => (10, text),
    }
}

/// The text after a prefix of two letters, without an underscore between them.
fn after_prefix(text: &str) -> &str {
    let digits = &text[2..];
    digits.strip_prefix('_').unwrap_or(digits)
}

/// The value of digits in this base; every underscore must be between two digits.
fn digits_value(digits: &str, base: u32) -> Result<i128, BadValue> {
    let misplaced = digits.starts_with('_') || digits.ends_with('_') || digits.contains("__");
    if digits.is_empty() || misplaced {
        return Err(BadValue::Syntax);
    }
    let mut value: i128 = 0;
    for c in digits.chars().filter(|&c| c != '_') {
        let digit = c.to_digit(base).ok_or(BadValue::Syntax)?;
        // A number that is too long saturates and therefore stays out of range.
        value = value
            .saturating_mul(i128::from(base))
            .saturating_add(i128::from(digit));
    }
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_read_in_the_base_of_their_prefix() {
        for (text, value) in [
            ("0", 0),
            ("10", 10),
            ("+5", 5),
            ("-5", -5),
            ("010", 8),
            ("0o17", 15),
            ("0x10", 16),
            ("0XfF", 255),
            ("0b11", 3),
            ("1_000", 1_000),
            ("0x_1f", 31),
            ("0_7", 7),
            ("9223372036854775807", i64::MAX),
            ("-9223372036854775808", i64::MIN),
        ] {
            assert_eq!(integer(text), Ok(value), "{text}");
        }
    }

    #[test]
    fn what_is_no_integer_is_refused() {
        for text in [
            "", "-", "+", "x", "1.5", "08", "0x", "0b2", "1_", "_1", "1__0", "0x__1", "1 ", "--1",
            "10s", "١",
        ] {
            assert_eq!(integer(text), Err(BadValue::Syntax), "{text}");
        }
        for text in [
            "9223372036854775808",
            "-9223372036854775809",
            "99999999999999999999999999999999999999999999",
        ] {
            assert_eq!(integer(text), Err(BadValue::Range), "{text}");
        }
    }

    #[test]
    fn booleans_have_six_spellings_each() {
        for text in ["1", "t", "T", "true", "TRUE", "True"] {
            assert_eq!(boolean(text), Ok(true), "{text}");
        }
        for text in ["0", "f", "F", "false", "FALSE", "False"] {
            assert_eq!(boolean(text), Ok(false), "{text}");
        }
        for text in ["", "yes", "tRUE", "2", "on"] {
            assert_eq!(boolean(text), Err(BadValue::Syntax), "{text}");
        }
    }
}
