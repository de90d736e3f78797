//! Whole numbers one after the other.

use crate::integer::push_integer;
use minijinja::Value;
use std::str::FromStr;

/// Whole numbers, both ends included, upward or downward.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    first: i64,
    last: i64,
    step: u64,
    /// How many digits a number has at least, filled up with zeros.
    digits: usize,
}

impl FromStr for Range {
    type Err = String;

    /// Reads `1..1000`, `0..100 by 5` or `0001..1000`, whose numbers all have four digits.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            let shown = text.escape_default();
            format!("`{shown}` is not a range; write one such as 1..1000 or 0..100 by 5")
        };
        let (ends, step) = match text.split_once(" by ") {
            None => (text, 1),
            Some((ends, step)) => (ends, step.trim().parse().map_err(|_| wrong())?),
        };
        let (first, last) = ends.split_once("..").ok_or_else(wrong)?;
        let (first, last) = (first.trim(), last.trim());
        if step == 0 {
            return Err("a range by 0 has no end; write `by 1` or more".to_owned());
        }
        Ok(Self {
            digits: padding(first).max(padding(last)),
            first: first.parse().map_err(|_| wrong())?,
            last: last.parse().map_err(|_| wrong())?,
            step,
        })
    }
}

/// How many digits a number was written with, if it begins with a zero that says so.
fn padding(number: &str) -> usize {
    let digits = number.trim_start_matches('-');
    match digits.len() > 1 && digits.starts_with('0') {
        true => digits.len(),
        false => 0,
    }
}

impl Range {
    /// How many numbers it has; at least 1.
    pub(super) const fn count(self) -> u64 {
        (self.first.abs_diff(self.last) / self.step).saturating_add(1)
    }

    /// The number in a row, from 0.
    const fn number(self, row: u64) -> i64 {
        let offset = row.wrapping_mul(self.step) as i64;
        match self.first <= self.last {
            true => self.first.wrapping_add(offset),
            false => self.first.wrapping_sub(offset),
        }
    }

    pub(super) fn value(self, row: u64) -> Value {
        if self.digits == 0 {
            return Value::from(self.number(row));
        }
        let mut text = String::new();
        self.push(row, &mut text);
        Value::from(text)
    }

    pub(super) fn push(self, row: u64, out: &mut String) {
        let number = self.number(row);
        if number < 0 {
            out.push('-');
        }
        let start = out.len();
        push_integer(number.unsigned_abs(), out);
        for _ in out.len() - start..self.digits {
            out.insert(start, '0');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Range;

    fn shown(text: &str) -> Vec<String> {
        let range: Range = text.parse().expect(text);
        let number = |row| {
            let mut out = String::new();
            range.push(row, &mut out);
            assert_eq!(out, range.value(row).to_string());
            out
        };
        (0..range.count().min(9)).map(number).collect()
    }

    #[test]
    fn both_ends_are_in_it() {
        assert_eq!(shown("1..3"), ["1", "2", "3"]);
        assert_eq!(shown("7..7"), ["7"]);
        assert_eq!(shown("1 .. -1"), ["1", "0", "-1"]);
        assert_eq!(shown("0..10 by 4"), ["0", "4", "8"]);
        assert_eq!(shown("08..10"), ["08", "09", "10"]);
        assert_eq!(shown("-001..1"), ["-001", "000", "001"]);
        let all = format!("{}..{}", i64::MIN, i64::MAX);
        assert_eq!(all.parse::<Range>().map(Range::count), Ok(u64::MAX));
        assert_eq!(shown(&all)[1], (i64::MIN + 1).to_string());
    }

    #[test]
    fn what_is_none_is_refused() {
        for text in [
            "",
            "1",
            "1..",
            "a..b",
            "1..2 by x",
            "1..2 by 0",
            "1..99999999999999999999",
        ] {
            assert!(text.parse::<Range>().is_err(), "{text}");
        }
    }
}
