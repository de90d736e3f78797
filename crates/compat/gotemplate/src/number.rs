//! Numeric constants, with all types that each could have.

use crate::quote::{self, Unit};

/// A constant. A number takes the type of its context, if the number fits.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Number {
    pub(crate) int: Option<i64>,
    pub(crate) uint: Option<u64>,
    pub(crate) float: Option<f64>,
    pub(crate) text: String,
}

/// 2^63, one more than the largest `int64`; exact as a float.
pub(crate) const TWO_TO_63: f64 = (1u64 << 63) as f64;

impl Number {
    /// A number such as `12`, `0x1F`, `1_000`, `1e6`.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        if text.ends_with('i') {
            return Err(format!("complex constants are not supported: {text:?}"));
        }
        let uint = uint(text);
        let mut number = Self {
            int: int(text),
            uint,
            float: None,
            text: text.to_owned(),
        };
        if number.int == Some(0) {
            number.uint = Some(0); // Also applies to -0.
        }
        if let Some(int) = number.int {
            number.float = Some(int as f64);
        } else if let Some(uint) = number.uint {
            number.float = Some(uint as f64);
        } else if let Some(float) = float(text) {
            number.take_float(float)?;
        }
        if number.int.is_none() && number.uint.is_none() && number.float.is_none() {
            return Err(format!("illegal number syntax: {}", quote::quoted(text)));
        }
        Ok(number)
    }

    fn take_float(&mut self, float: f64) -> Result<(), String> {
        if !self.text.contains(['.', 'e', 'E', 'p', 'P']) {
            return Err(format!("integer overflow: {}", quote::quoted(&self.text)));
        }
        self.float = Some(float);
        if float.fract() == 0.0 && (-TWO_TO_63..TWO_TO_63).contains(&float) {
            self.int = Some(float as i64);
        }
        if float.fract() == 0.0 && (0.0..2.0 * TWO_TO_63).contains(&float) {
            self.uint = Some(float as u64);
        }
        Ok(())
    }

    /// A character constant such as `'x'`; its value is the code point.
    pub(crate) fn parse_char(text: &str) -> Result<Self, String> {
        let Some((unit, tail)) = quote::unquote_unit(&text[1..], '\'') else {
            return Err("invalid syntax".to_owned());
        };
        if tail != "'" {
            return Err(format!("malformed character constant: {text}"));
        }
        let code = match unit {
            Unit::Byte(byte) => u32::from(byte),
            Unit::Char(c) => u32::from(c),
        };
        Ok(Self {
            int: Some(i64::from(code)),
            uint: Some(u64::from(code)),
            float: Some(f64::from(code)),
            text: text.to_owned(),
        })
    }

    /// Whether the constant is a float if its context requires no type.
    pub(crate) fn is_float_by_itself(&self) -> bool {
        let text = &self.text;
        let hex = text.len() > 2
            && (text.starts_with("0x") || text.starts_with("0X"))
            && !text.contains(['p', 'P']);
        self.float.is_some()
            && !hex
            && !text.starts_with('\'')
            && text.contains(['.', 'e', 'E', 'p', 'P'])
    }
}

/// Parses an integer as Go's `ParseInt` does with base 0.
pub(crate) fn int(text: &str) -> Option<i64> {
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let magnitude = uint(digits)?;
    match negative {
        true => 0i64.checked_sub_unsigned(magnitude),
        false => i64::try_from(magnitude).ok(),
    }
}

/// Parses an integer as Go's `ParseUint` does with base 0: prefixes, octal after a leading zero,
/// and underscores between digits.
fn uint(text: &str) -> Option<u64> {
    let lower = text.get(..2).map(str::to_ascii_lowercase);
    let (radix, digits, prefixed) = match lower.as_deref() {
        Some("0x") => (16, &text[2..], true),
        Some("0o") => (8, &text[2..], true),
        Some("0b") => (2, &text[2..], true),
        _ if text.len() > 1 && text.starts_with('0') => (8, &text[1..], true),
        _ => (10, text, false),
    };
    if !underscores_are_right(digits, prefixed) {
        return None;
    }
    let digits = digits.replace('_', "");
    // The standard library would accept a sign.
    if !digits.chars().all(|c| c.is_digit(radix)) {
        return None;
    }
    u64::from_str_radix(&digits, radix).ok()
}

/// Whether every underscore is between two digits, or between a prefix and a digit.
fn underscores_are_right(digits: &str, prefixed: bool) -> bool {
    let mut before_is_digit = prefixed;
    for c in digits.chars() {
        if c == '_' && !before_is_digit {
            return false;
        }
        before_is_digit = c != '_';
    }
    before_is_digit || (digits.is_empty() && prefixed)
}

/// Parses a float as Go's `ParseFloat` does.
pub(crate) fn float(text: &str) -> Option<f64> {
    let unsigned = text.trim_start_matches(['+', '-']);
    if unsigned.len() + 1 < text.len() {
        return None;
    }
    let lower = unsigned.to_ascii_lowercase();
    let value = match lower.strip_prefix("0x") {
        Some(hex) => hex_float(hex)?,
        None => lower.parse().ok()?,
    };
    if f64::is_infinite(value) && !lower.starts_with("inf") {
        return None;
    }
    Some(if text.starts_with('-') { -value } else { value })
}

/// Parses `1.8p3`, without a prefix: hexadecimal digits, times two to the exponent.
fn hex_float(text: &str) -> Option<f64> {
    let (mantissa, exponent) = text.split_once('p')?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}").replace('_', "");
    if digits.is_empty() || digits.len() > 13 {
        return None; // More digits would require rounding.
    }
    let value = u64::from_str_radix(&digits, 16).ok()?;
    let exponent: i32 = exponent.parse().ok()?;
    let shift = exponent.checked_sub(4 * i32::try_from(fraction.len()).ok()?)?;
    Some(value as f64 * 2f64.powi(shift))
}
