//! Floats as Go prints them.

use super::{Verb, bad_verb};
use crate::fault::Fault;
use crate::sink::Sink;
use crate::value::Value;

/// `strconv.FormatFloat(number, 'g', -1, 64)`: what `%v` prints.
#[must_use]
pub fn shortest(number: f64) -> String {
    general(number.abs(), None, false).with_sign(number)
}

/// `strconv.FormatFloat(number, 'f', -1, 64)`: all digits, without an exponent.
pub(crate) fn plain(number: f64) -> String {
    format!("{number}")
}

trait WithSign {
    fn with_sign(self, number: f64) -> String;
}

impl WithSign for String {
    fn with_sign(self, number: f64) -> String {
        if number.is_nan() {
            return "NaN".to_owned();
        }
        if number.is_infinite() {
            return if number < 0.0 { "-Inf" } else { "+Inf" }.to_owned();
        }
        match number.is_sign_negative() {
            true => format!("-{self}"),
            false => self,
        }
    }
}

pub(super) fn print(
    sink: &mut Sink<'_>,
    number: f64,
    value: &Value,
    by: &Verb,
) -> Result<(), Fault> {
    // No float has more digits; all further digits are zeros.
    let precision = by.precision.map(|digits| digits.min(1100));
    let magnitude = number.abs();
    let upper = by.letter.is_uppercase();
    let body = match by.letter {
        'g' | 'G' if by.sharp => general(magnitude, Some(precision.unwrap_or(6)), true),
        'v' | 'g' | 'G' => general(magnitude, precision, false),
        'e' | 'E' => exponent_form(magnitude, Some(precision.unwrap_or(6))),
        'f' | 'F' => format!("{magnitude:.*}", precision.unwrap_or(6)),
        'b' => Binary::from_magnitude(magnitude).decimal(),
        'x' | 'X' => Binary::from_magnitude(magnitude).hexadecimal(by),
        _ => return bad_verb(sink, value, by),
    };
    let body = if upper { body.to_uppercase() } else { body };
    let finite = number.is_finite();
    let body = match number {
        n if n.is_nan() => "NaN".to_owned(),
        n if n.is_infinite() => "Inf".to_owned(),
        _ => body,
    };
    let sign = match number {
        n if n.is_sign_negative() && !n.is_nan() => "-",
        _ if by.shows_plus() => "+",
        _ if by.space => " ",
        n if n.is_infinite() => "+",
        _ => "",
    };
    let missing = by
        .width
        .unwrap_or(0)
        .saturating_sub(sign.len() + body.len());
    if by.minus {
        sink.text(sign)?;
        sink.text(&body)?;
        return sink.fill(' ', missing);
    }
    if by.zero && finite {
        sink.text(sign)?;
        sink.fill('0', missing)?;
        return sink.text(&body);
    }
    sink.fill(' ', missing)?;
    sink.text(sign)?;
    sink.text(&body)
}

/// The bits of a `float64` mantissa, without the leading one.
const MANTISSA_BITS: u32 = 52;

/// An unsigned number: a mantissa, times two to the power of (exponent − [`MANTISSA_BITS`]).
#[derive(Clone, Copy)]
struct Binary {
    mantissa: u64,
    exponent: i32,
}

impl Binary {
    fn from_magnitude(magnitude: f64) -> Self {
        let bits = magnitude.to_bits();
        let fraction = bits & ((1 << MANTISSA_BITS) - 1);
        let biased = i32::try_from(bits >> MANTISSA_BITS).unwrap_or(0);
        match biased {
            // IEEE 754: subnormal numbers have no leading one.
            0 => Self {
                mantissa: fraction,
                exponent: -1022,
            },
            biased => Self {
                mantissa: fraction | 1 << MANTISSA_BITS,
                exponent: biased - 1023,
            },
        }
    }

    /// `%b`
    fn decimal(self) -> String {
        let exponent = self.exponent - MANTISSA_BITS as i32;
        format!("{}p{exponent:+}", self.mantissa)
    }

    /// `%x`: all digits, or the requested number of digits, rounded to even. With the sharp flag,
    /// at least six characters after the zero.
    fn hexadecimal(self, by: &Verb) -> String {
        const LEADING: u64 = 1 << 60;
        let digits = by.precision.map(|digits| digits.min(1100));
        let Self {
            mut mantissa,
            mut exponent,
        } = self;
        match mantissa.leading_zeros() {
            64 => exponent = 0,
            zeros => {
                let shift = zeros - LEADING.leading_zeros();
                mantissa <<= shift;
                exponent -= i32::try_from(shift).unwrap_or(0) - (60 - MANTISSA_BITS as i32);
            }
        }
        if let Some(shift) = digits
            .filter(|digits| *digits < 15)
            .map(|digits| digits * 4)
        {
            let extra = (mantissa << shift) & (LEADING - 1);
            mantissa >>= 60 - shift;
            if extra | (mantissa & 1) > LEADING / 2 {
                mantissa += 1;
            }
            mantissa <<= 60 - shift;
            if mantissa >= 2 * LEADING {
                mantissa >>= 1;
                exponent += 1;
            }
        }
        let fraction = format!("{:015x}", mantissa & (LEADING - 1));
        let fraction = match digits {
            None => fraction.trim_end_matches('0').to_owned(),
            Some(digits) => format!("{fraction:0<digits$}")[..digits].to_owned(),
        };
        let least = match by.sharp {
            true => digits.unwrap_or(6).saturating_sub(2),
            false => 0,
        };
        let point = match fraction.is_empty() && !by.sharp {
            true => "",
            false => ".",
        };
        let first = mantissa / LEADING;
        format!(
            "0x{first}{point}{fraction:0<least$}p{}",
            two_digits(exponent)
        )
    }
}

/// `%g` of an unsigned number: in exponent form for large and small exponents.
fn general(magnitude: f64, precision: Option<usize>, keep_zeros: bool) -> String {
    if !magnitude.is_finite() {
        return String::new();
    }
    let precision = precision.map(|digits| digits.max(1));
    let form = match precision {
        Some(digits) => format!("{magnitude:.*e}", digits - 1),
        None => format!("{magnitude:e}"),
    };
    let (mantissa, exponent) = form.split_once('e').unwrap_or((&form, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let digits = match keep_zeros {
        true => digits.as_str(),
        false => digits.trim_end_matches('0'),
    };
    let limit = match precision {
        Some(limit) => i32::try_from(limit).unwrap_or(i32::MAX),
        None => SHORTEST_LIMIT,
    };
    let count = i32::try_from(digits.len()).unwrap_or(i32::MAX);
    if exponent < -4 || exponent >= limit.min(threshold(precision, count, exponent)) {
        return with_exponent(digits, exponent);
    }
    positional(digits, exponent)
}

/// The exponent from which the shortest digits are printed in exponent form.
const SHORTEST_LIMIT: i32 = 6;

/// The exponent from which numbers are printed in exponent form.
const fn threshold(precision: Option<usize>, digits: i32, exponent: i32) -> i32 {
    match precision {
        None => SHORTEST_LIMIT,
        // A number with all digits before the point needs only as many places as it has digits.
        Some(limit) if limit as i32 > digits && digits > exponent => digits,
        Some(limit) => limit as i32,
    }
}

/// `%e` with a precision, or with the shortest digits.
fn exponent_form(magnitude: f64, precision: Option<usize>) -> String {
    let form = match precision {
        Some(digits) => format!("{magnitude:.digits$e}"),
        None => format!("{magnitude:e}"),
    };
    let (mantissa, exponent) = form.split_once('e').unwrap_or((&form, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    format!("{mantissa}e{}", two_digits(exponent))
}

fn with_exponent(digits: &str, exponent: i32) -> String {
    let (first, rest) = digits.split_at(digits.len().min(1));
    let first = if first.is_empty() { "0" } else { first };
    let point = if rest.is_empty() { "" } else { "." };
    format!("{first}{point}{rest}e{}", two_digits(exponent))
}

fn two_digits(exponent: i32) -> String {
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{sign}{:02}", exponent.unsigned_abs())
}

/// Puts the point into the digits, according to the exponent.
fn positional(digits: &str, exponent: i32) -> String {
    if digits.is_empty() {
        return "0".to_owned();
    }
    if exponent < 0 {
        let zeros = usize::try_from(-exponent - 1).unwrap_or(0);
        return format!("0.{}{digits}", "0".repeat(zeros));
    }
    let whole = usize::try_from(exponent).unwrap_or(0) + 1;
    match digits.len().checked_sub(whole) {
        None | Some(0) => format!("{digits}{}", "0".repeat(whole - digits.len())),
        Some(_) => format!("{}.{}", &digits[..whole], &digits[whole..]),
    }
}

/// Prints a float as `encoding/json` does.
pub(crate) fn json(number: f64) -> String {
    let magnitude = number.abs();
    if magnitude != 0.0 && !(1e-6..1e21).contains(&magnitude) {
        let form = exponent_form(magnitude, None);
        // A single-digit negative exponent has no leading zero.
        let form = form.replace("e-0", "e-");
        return form.with_sign(number);
    }
    plain(number)
}
