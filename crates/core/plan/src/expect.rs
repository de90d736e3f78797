//! Which responses are ok.

use std::fmt;
use std::str::FromStr;

/// The lowest status (RFC 9110 section 15).
const FIRST: u16 = 100;
/// The highest status.
const LAST: u16 = 599;

/// A bit for each status.
const WORDS: usize = 8;

const _: () = assert!(WORDS * 64 > (LAST - FIRST) as usize);

/// The statuses with which responses are ok; all others are failures.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Expect {
    ok: [u64; WORDS],
}

impl Expect {
    /// No status at all.
    pub const NONE: Self = Self { ok: [0; WORDS] };

    /// Every status below 400, the default.
    pub const BELOW_400: Self = Self::NONE.with(FIRST, 399);

    /// These statuses and the statuses from `first` to `last`, both included. Invalid statuses are
    /// ignored.
    #[must_use]
    pub const fn with(mut self, first: u16, last: u16) -> Self {
        let mut status = if first < FIRST { FIRST } else { first };
        while status <= last && status <= LAST {
            let bit = status - FIRST;
            self.ok[(bit / 64) as usize] |= 1 << (bit % 64);
            status += 1;
        }
        self
    }

    /// Whether a final response with this status is ok.
    #[inline]
    #[must_use]
    pub const fn accepts(&self, status: u16) -> bool {
        if status < FIRST || status > LAST {
            return false;
        }
        let bit = status - FIRST;
        self.ok[(bit / 64) as usize] >> (bit % 64) & 1 == 1
    }

    /// The ranges of statuses that are ok, with their first and last status, ascending and
    /// separate.
    fn ranges(&self) -> impl Iterator<Item = (u16, u16)> {
        let mut next = FIRST;
        std::iter::from_fn(move || {
            let first = (next..=LAST).find(|status| self.accepts(*status))?;
            let end = (first..=LAST).find(|status| !self.accepts(*status));
            let last = end.map_or(LAST, |end| end - 1);
            next = last + 1;
            Some((first, last))
        })
    }
}

impl Default for Expect {
    fn default() -> Self {
        Self::BELOW_400
    }
}

impl fmt::Display for Expect {
    /// Prints the form that parses back to the same set: `200-299, 301`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, (first, last)) in self.ranges().enumerate() {
            let comma = if n == 0 { "" } else { ", " };
            if first == last {
                write!(f, "{comma}{first}")?;
            } else {
                write!(f, "{comma}{first}-{last}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Expect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Expect({self})")
    }
}

/// Why a text is not a set of statuses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseExpectError {
    text: String,
}

impl fmt::Display for ParseExpectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` is neither a status from 100 to 599 nor a range of statuses; write a list such \
             as 200-299, 301",
            self.text.escape_debug()
        )
    }
}

impl std::error::Error for ParseExpectError {}

impl FromStr for Expect {
    type Err = ParseExpectError;

    /// Parses statuses and ranges separated by commas: `200-299, 301`. `2xx` means `200-299`.
    ///
    /// # Errors
    /// If a part is not a number from 100 to 599, or a range descends.
    fn from_str(text: &str) -> Result<Self, ParseExpectError> {
        let mut expect = Self::NONE;
        for part in text.split(',').map(str::trim) {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let range = status(first).zip(status(last)).filter(|(a, b)| a <= b);
            let range = range.or_else(|| class(part));
            let (first, last) = range.ok_or_else(|| ParseExpectError {
                text: part.chars().take(64).collect(),
            })?;
            expect = expect.with(first, last);
        }
        Ok(expect)
    }
}

fn status(text: &str) -> Option<u16> {
    let text = text.trim();
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    let status = text.parse().ok().filter(|_| digits);
    status.filter(|status| (FIRST..=LAST).contains(status))
}

/// The statuses of a class, such as `2xx`.
fn class(text: &str) -> Option<(u16, u16)> {
    let digit = text.strip_suffix("xx").or_else(|| text.strip_suffix("XX"));
    let first = digit.and_then(|digit| status(&format!("{digit}00")));
    first.map(|first| (first, first + 99))
}

#[cfg(test)]
mod tests {
    use super::Expect;

    #[test]
    fn ranges_print_as_they_parse() {
        for text in ["200-299, 301, 307", "100-399", "503", "100-599", "598-599"] {
            let expect: Expect = text.parse().expect(text);
            assert_eq!(expect.to_string(), text);
        }
        let spread: Expect = "201,200 - 200, 202-204".parse().expect("a set");
        assert_eq!(spread.to_string(), "200-204");
        let classes: Expect = "2xx, 304, 5XX".parse().expect("a set");
        assert_eq!(classes.to_string(), "200-299, 304, 500-599");
        assert_eq!(Expect::default().to_string(), "100-399");
    }

    #[test]
    fn a_set_accepts_what_it_names() {
        let expect: Expect = "200-299, 301, 307".parse().expect("a set");
        for status in [200, 255, 299, 301, 307] {
            assert!(expect.accepts(status), "{status}");
        }
        for status in [0, 99, 199, 300, 302, 306, 404, 599, 600, u16::MAX] {
            assert!(!expect.accepts(status), "{status}");
        }
    }

    #[test]
    fn what_is_no_status_is_refused() {
        for text in [
            "", "ok", "200,", "99", "600", "299-200", "-200", "2 00", "+200", "xx", "6xx", "22xx",
            "2x", "2xx-3xx",
        ] {
            assert!(text.parse::<Expect>().is_err(), "{text}");
        }
    }
}
