//! Integers in any base, with Go's flags.

use super::{Verb, pad};
use crate::fault::Fault;
use crate::quote;
use crate::sink::Sink;

/// An integer with a separate sign.
#[derive(Clone, Copy, Debug)]
pub(super) struct Number {
    magnitude: u64,
    negative: bool,
}

impl Number {
    pub(super) const fn from_bits(bits: i64, unsigned: bool) -> Self {
        if unsigned {
            return Self {
                magnitude: bits.cast_unsigned(),
                negative: false,
            };
        }
        Self {
            magnitude: bits.unsigned_abs(),
            negative: bits < 0,
        }
    }

    /// The character with this code point, or the replacement character.
    pub(super) fn as_char(self) -> char {
        let code = u32::try_from(self.magnitude).ok();
        let code = if self.negative { None } else { code };
        code.and_then(char::from_u32).unwrap_or('\u{FFFD}')
    }

    /// `U+0040`, or with the sharp flag `U+0040 '@'`.
    pub(super) fn code_point(self, sharp: bool) -> String {
        let c = self.as_char();
        match sharp && quote::is_printable(c) {
            true => quote::code_point(c),
            false => format!("U+{:04X}", self.magnitude),
        }
    }

    pub(super) fn print(self, sink: &mut Sink<'_>, base: u32, by: &Verb) -> Result<(), Fault> {
        let digits = match base {
            2 => format!("{:b}", self.magnitude),
            8 => format!("{:o}", self.magnitude),
            16 if by.letter == 'X' => format!("{:X}", self.magnitude),
            16 => format!("{:x}", self.magnitude),
            _ => self.magnitude.to_string(),
        };
        if by.precision == Some(0) && self.magnitude == 0 {
            return sink.fill(' ', by.width.unwrap_or(0));
        }
        let sign = match (self.negative, by.shows_plus(), by.space) {
            (true, ..) => "-",
            (_, true, _) => "+",
            (_, _, true) => " ",
            _ => "",
        };
        // A zero flag acts as a precision that fills the width.
        let filled = by.precision.or_else(|| {
            let width = by.width.filter(|_| by.zero && !by.minus)?;
            Some(width.saturating_sub(sign.len()))
        });
        let zeros = filled.unwrap_or(0).saturating_sub(digits.len());
        let prefix = self.prefix(base, by, zeros > 0);
        let body = sign.len() + prefix.len() + zeros + digits.len();
        let missing = by.width.unwrap_or(0).saturating_sub(body);
        if !by.minus {
            sink.fill(' ', missing)?;
        }
        sink.text(sign)?;
        sink.text(prefix)?;
        sink.fill('0', zeros)?;
        let plain = Verb::from_letter('v');
        pad(sink, &digits, &plain)?;
        sink.fill(' ', if by.minus { missing } else { 0 })
    }

    fn prefix(self, base: u32, by: &Verb, begins_with_zero: bool) -> &'static str {
        match (by.letter, base) {
            ('O', _) => "0o",
            _ if !by.sharp => "",
            (_, 2) => "0b",
            (_, 8) if begins_with_zero || self.magnitude == 0 => "",
            (_, 8) => "0",
            ('X', 16) => "0X",
            (_, 16) => "0x",
            _ => "",
        }
    }
}
