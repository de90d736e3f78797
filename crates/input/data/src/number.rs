//! Numbers of conditions and templates. Decimal numbers are computed exactly.

use std::cmp::Ordering;
use std::fmt;

/// Digits after the point of an exact number.
const SCALE_MAX: u32 = 36;
/// Digits after the point of an exact quotient; one with more digits becomes a fraction.
const QUOTIENT_SCALE_MAX: u32 = 18;

/// A number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Number {
    Exact(Decimal),
    Fraction(f64),
}

/// `digits` / 10^`scale`, with the least scale that it can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Decimal {
    digits: i128,
    scale: u32,
}

/// Two numbers with equally many digits after the point.
struct Aligned {
    left: i128,
    right: i128,
    scale: u32,
}

impl Decimal {
    const fn new(mut digits: i128, mut scale: u32) -> Self {
        while scale > 0 && digits % 10 == 0 {
            digits /= 10;
            scale -= 1;
        }
        Self { digits, scale }
    }

    /// Reads a sign, digits, a fraction and an exponent, which were checked to be such.
    fn parse(text: &str) -> Option<Self> {
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().ok()?),
            None => (text, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let fraction = fraction.trim_end_matches('0');
        let mut digits = whole.parse::<i128>().ok()?;
        let is_negative = whole.starts_with('-');
        for digit in fraction.bytes() {
            let digit = i128::from(digit - b'0');
            let signed = if is_negative { -digit } else { digit };
            digits = digits.checked_mul(10)?.checked_add(signed)?;
        }
        let scale = i64::try_from(fraction.len()).ok()?.checked_sub(exponent)?;
        match u32::try_from(scale) {
            Ok(scale) => (scale <= SCALE_MAX || digits == 0).then(|| Self::new(digits, scale)),
            Err(_) if digits == 0 => Some(Self::new(0, 0)),
            Err(_) => {
                let zeros = u32::try_from(scale.checked_neg()?).ok()?;
                let digits = digits.checked_mul(10_i128.checked_pow(zeros)?)?;
                Some(Self::new(digits, 0))
            }
        }
    }

    fn float(self) -> f64 {
        match self.scale {
            0 => self.digits as f64,
            // The nearest one, which a division of floats would miss.
            _ => self.to_string().parse().unwrap_or(f64::NAN),
        }
    }

    /// The digits of the number with `scale` digits after the point.
    fn scaled(self, scale: u32) -> Option<i128> {
        let more = 10_i128.checked_pow(scale - self.scale)?;
        self.digits.checked_mul(more)
    }

    fn aligned(self, other: Self) -> Option<Aligned> {
        let scale = self.scale.max(other.scale);
        Some(Aligned {
            left: self.scaled(scale)?,
            right: other.scaled(scale)?,
            scale,
        })
    }

    fn times(self, other: Self) -> Option<Self> {
        let digits = self.digits.checked_mul(other.digits)?;
        let scale = self.scale + other.scale;
        let product = Self::new(digits, scale);
        (product.scale <= SCALE_MAX).then_some(product)
    }

    /// The quotient, if it has a last digit.
    fn divided_by(self, other: Self) -> Option<Self> {
        let Aligned { left, right, .. } = self.aligned(other)?;
        let mut rest = left.checked_rem(right)?;
        let mut digits = left.checked_div(right)?;
        let mut scale = 0;
        while rest != 0 {
            if scale == QUOTIENT_SCALE_MAX {
                return None;
            }
            rest = rest.checked_mul(10)?;
            digits = digits.checked_mul(10)?.checked_add(rest / right)?;
            rest %= right;
            scale += 1;
        }
        Some(Self::new(digits, scale))
    }

    fn power(self, exponent: Self) -> Option<Self> {
        let exponent = exponent.whole()?;
        let exponent = u32::try_from(exponent).ok()?;
        let scale = self.scale.checked_mul(exponent)?;
        (scale <= SCALE_MAX).then_some(())?;
        let digits = self.digits.checked_pow(exponent)?;
        Some(Self::new(digits, scale))
    }

    const fn whole(self) -> Option<i128> {
        match self.scale {
            0 => Some(self.digits),
            _ => None,
        }
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.scale == 0 {
            return write!(f, "{}", self.digits);
        }
        let sign = if self.digits < 0 { "-" } else { "" };
        let digits = self.digits.unsigned_abs();
        let unit = 10_u128.pow(self.scale);
        let width = self.scale as usize;
        write!(f, "{sign}{}.{:0width$}", digits / unit, digits % unit)
    }
}

impl From<i128> for Number {
    fn from(number: i128) -> Self {
        Self::Exact(Decimal::new(number, 0))
    }
}

impl From<f64> for Number {
    /// The decimal number that it is printed as.
    fn from(number: f64) -> Self {
        Self::parse(&number.to_string()).unwrap_or(Self::Fraction(number))
    }
}

impl Number {
    /// A number as JSON writes it (RFC 8259 section 6). `007` is a text, because `7` is another text.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix('-').unwrap_or(text);
        let whole = digits.split(['.', 'e', 'E']).next()?;
        let canonical = whole == "0" || !whole.starts_with('0');
        let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        if !canonical || !is_digits(whole) {
            return None;
        }
        if whole.len() == digits.len()
            && let Ok(number) = text.parse::<i128>()
        {
            return Some(number.into());
        }
        let number = text
            .parse::<f64>()
            .ok()
            .filter(|number| number.is_finite())?;
        let exact = Decimal::parse(text).map(Self::Exact);
        Some(exact.unwrap_or(Self::Fraction(number)))
    }

    pub(crate) fn is_zero(self) -> bool {
        match self {
            Self::Exact(number) => number.digits == 0,
            Self::Fraction(number) => number == 0.0,
        }
    }

    pub(crate) fn float(self) -> f64 {
        match self {
            Self::Exact(number) => number.float(),
            Self::Fraction(number) => number,
        }
    }

    /// The integer, if it is one.
    pub(crate) const fn whole(self) -> Option<i128> {
        match self {
            Self::Exact(number) => number.whole(),
            Self::Fraction(_) => None,
        }
    }

    pub(crate) fn compare(self, other: Self) -> Option<Ordering> {
        let exact = match (self, other) {
            (Self::Exact(left), Self::Exact(right)) => left.aligned(right),
            _ => None,
        };
        match exact {
            Some(Aligned { left, right, .. }) => Some(left.cmp(&right)),
            None => self.float().partial_cmp(&other.float()),
        }
    }

    /// The exact result if there is one, or else the result of fractions.
    fn with(
        self,
        other: Self,
        exact: impl Fn(Decimal, Decimal) -> Option<Decimal>,
        float: impl Fn(f64, f64) -> f64,
    ) -> Self {
        let result = match (self, other) {
            (Self::Exact(left), Self::Exact(right)) => exact(left, right),
            _ => None,
        };
        match result {
            Some(number) => Self::Exact(number),
            None => Self::Fraction(float(self.float(), other.float())),
        }
    }

    /// As [`Self::with`], computed from digits with equally many of them after the point.
    fn with_aligned(
        self,
        other: Self,
        exact: fn(i128, i128) -> Option<i128>,
        float: fn(f64, f64) -> f64,
    ) -> Self {
        let of_digits = |left: Decimal, right: Decimal| {
            let aligned = left.aligned(right)?;
            let digits = exact(aligned.left, aligned.right)?;
            Some(Decimal::new(digits, aligned.scale))
        };
        self.with(other, of_digits, float)
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        self.with_aligned(other, i128::checked_add, |left, right| left + right)
    }

    pub(crate) fn minus(self, other: Self) -> Self {
        self.with_aligned(other, i128::checked_sub, |left, right| left - right)
    }

    pub(crate) fn times(self, other: Self) -> Self {
        self.with(other, Decimal::times, |left, right| left * right)
    }

    /// The quotient; `None` if the divisor is 0.
    pub(crate) fn divided_by(self, other: Self) -> Option<Self> {
        let divide = || self.with(other, Decimal::divided_by, |left, right| left / right);
        (!other.is_zero()).then(divide)
    }

    /// The remainder of a division, with the sign of the dividend; `None` if the divisor is 0.
    pub(crate) fn remainder(self, other: Self) -> Option<Self> {
        let rest = || self.with_aligned(other, i128::checked_rem, |left, right| left % right);
        (!other.is_zero()).then(rest)
    }

    /// The quotient rounded down; `None` if the divisor is 0.
    pub(crate) fn floor_divided_by(self, other: Self) -> Option<Self> {
        let floor = |left: Decimal, right: Decimal| {
            let Aligned { left, right, .. } = left.aligned(right)?;
            let quotient = left.checked_div(right)?;
            let is_below = left % right != 0 && (left < 0) != (right < 0);
            Some(Decimal::new(quotient - i128::from(is_below), 0))
        };
        let divide = || self.with(other, floor, |left, right| (left / right).floor());
        (!other.is_zero()).then(divide)
    }

    pub(crate) fn power(self, exponent: Self) -> Self {
        self.with(exponent, Decimal::power, f64::powf)
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exact(number) => write!(f, "{number}"),
            Self::Fraction(number) => write!(f, "{number}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Number;

    fn number(text: &str) -> Number {
        Number::parse(text).expect(text)
    }

    #[test]
    fn decimal_numbers_are_exact() {
        let big = "170141183460469231731687303715884105727";
        for (left, operator, right, result) in [
            ("0.1", '+', "0.2", "0.3"),
            ("19.99", '*', "100", "1999"),
            ("9007199254740993", '+', "1", "9007199254740994"),
            ("9007199254740993", '*', "1.5", "13510798882111489.5"),
            ("1.50", '-', "1.5", "0"),
            ("-0.5", '+', "-0.25", "-0.75"),
            ("1e3", '+', "1e-3", "1000.001"),
            ("1", '/', "8", "0.125"),
            ("10", '/', "4", "2.5"),
            ("-1", '/', "3", "-0.3333333333333333"),
            (big, '+', "1", "170141183460469230000000000000000000000"),
            ("7", '%', "-3", "1"),
            ("-7.5", '%', "2", "-1.5"),
            ("-7", 'f', "2", "-4"),
            ("7.5", 'f', "0.5", "15"),
            ("2", '^', "100", "1267650600228229401496703205376"),
            ("1.5", '^', "2", "2.25"),
            ("2", '^', "-1", "0.5"),
        ] {
            let (left, right) = (number(left), number(right));
            let made = match operator {
                '+' => Some(left.plus(right)),
                '-' => Some(left.minus(right)),
                '*' => Some(left.times(right)),
                '/' => left.divided_by(right),
                '%' => left.remainder(right),
                'f' => left.floor_divided_by(right),
                _ => Some(left.power(right)),
            };
            let made = made.map(|number| number.to_string());
            assert_eq!(made.as_deref(), Some(result), "{left} {operator} {right}");
        }
        assert_eq!(number("1").divided_by(number("0.0")), None);
    }

    #[test]
    fn what_json_writes_as_a_number_is_one() {
        for (text, shown) in [
            ("0", Some("0")),
            ("-0", Some("0")),
            ("1.50", Some("1.5")),
            ("0.00e9", Some("0")),
            ("1e400", None),
            ("1e-400", Some("0")),
            ("1E+2", Some("100")),
            ("007", None),
            ("+1", None),
            ("1.", Some("1")),
            (".5", None),
            ("1e", None),
            ("0x1f", None),
            ("1_000", None),
            ("", None),
            ("-", None),
            ("NaN", None),
            (" 1", None),
        ] {
            let parsed = Number::parse(text).map(|number| number.to_string());
            assert_eq!(parsed.as_deref(), shown, "{text:?}");
        }
    }
}
