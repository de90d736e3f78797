//! Numbers of conditions: exact where they are whole.

use std::cmp::Ordering;
use std::fmt;

/// A number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    Whole(i128),
    Fraction(f64),
}

impl Number {
    /// A number as JSON writes it (RFC 8259 section 6), a sign `+` and leading zeros aside: `007` is
    /// a text, for `7` is another.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix('-').unwrap_or(text);
        let whole = digits.split(['.', 'e', 'E']).next()?;
        let canonical = whole == "0" || !whole.starts_with('0');
        let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        if !canonical || !is_digits(whole) {
            return None;
        }
        if whole.len() == digits.len()
            && let Ok(number) = text.parse()
        {
            return Some(Self::Whole(number));
        }
        let number = text.parse::<f64>().ok()?;
        number.is_finite().then_some(Self::Fraction(number))
    }

    pub(super) fn is_zero(self) -> bool {
        match self {
            Self::Whole(number) => number == 0,
            Self::Fraction(number) => number == 0.0,
        }
    }

    fn float(self) -> f64 {
        match self {
            Self::Whole(number) => number as f64,
            Self::Fraction(number) => number,
        }
    }

    pub(super) fn compare(self, other: Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Whole(left), Self::Whole(right)) => Some(left.cmp(&right)),
            _ => self.float().partial_cmp(&other.float()),
        }
    }

    /// The result in whole numbers where it is one, and else in fractions.
    fn with(
        self,
        other: Self,
        whole: fn(i128, i128) -> Option<i128>,
        float: fn(f64, f64) -> f64,
    ) -> Self {
        let exact = match (self, other) {
            (Self::Whole(left), Self::Whole(right)) => whole(left, right),
            _ => None,
        };
        match exact {
            Some(number) => Self::Whole(number),
            None => Self::Fraction(float(self.float(), other.float())),
        }
    }

    pub(super) fn plus(self, other: Self) -> Self {
        self.with(other, i128::checked_add, |left, right| left + right)
    }

    pub(super) fn minus(self, other: Self) -> Self {
        self.with(other, i128::checked_sub, |left, right| left - right)
    }

    pub(super) fn times(self, other: Self) -> Self {
        self.with(other, i128::checked_mul, |left, right| left * right)
    }

    /// `None` where the other is 0.
    pub(super) fn divided_by(self, other: Self) -> Option<Self> {
        let exact = |left: i128, right: i128| match left.checked_rem(right) {
            Some(0) => left.checked_div(right),
            _ => None,
        };
        (!other.is_zero()).then(|| self.with(other, exact, |left, right| left / right))
    }

    /// What is left of a division, with the sign of the divided; `None` where the other is 0.
    pub(super) fn remainder(self, other: Self) -> Option<Self> {
        (!other.is_zero()).then(|| self.with(other, i128::checked_rem, |left, right| left % right))
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(number) => write!(f, "{number}"),
            Self::Fraction(number) => write!(f, "{number}"),
        }
    }
}
