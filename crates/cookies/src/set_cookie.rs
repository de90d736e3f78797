//! The Set-Cookie field, taken apart (section 5.6).

use crate::date;

/// Bytes of a cookie's name and value together.
const NAME_AND_VALUE_MAX: usize = 4096;
/// Bytes of an attribute's value; a longer one counts as absent.
const ATTRIBUTE_MAX: usize = 1024;
/// Seconds that a cookie lives at most: 400 days (section 5.5).
const AGE_MAX: u64 = 400 * 24 * 60 * 60;

/// A field with what its attributes come to. Of an attribute that is repeated, the last counts.
pub(crate) struct SetCookie<'a> {
    pub(crate) name: &'a str,
    pub(crate) value: &'a str,
    /// Empty without a Domain.
    pub(crate) domain: &'a [u8],
    pub(crate) path: Option<&'a [u8]>,
    pub(crate) is_secure: bool,
    expires: Option<u64>,
    max_age_end: Option<u64>,
}

impl<'a> SetCookie<'a> {
    /// `None` where the draft ignores the field, and where name or value is no UTF-8.
    pub(crate) fn parse(field: &'a [u8], now: u64) -> Option<Self> {
        let is_control = |byte: &u8| byte.is_ascii_control() && *byte != b'\t';
        if field.iter().any(is_control) {
            return None;
        }
        let mut parts = field.split(|byte| *byte == b';');
        let pair = parts.next()?;
        let pair = Pair::split(pair).unwrap_or_else(|| Pair {
            name: b"",
            value: pair.trim_ascii(),
        });
        let length = pair.name.len() + pair.value.len();
        if length == 0 || length > NAME_AND_VALUE_MAX {
            return None;
        }
        let mut cookie = Self {
            name: str::from_utf8(pair.name).ok()?,
            value: str::from_utf8(pair.value).ok()?,
            domain: b"",
            path: None,
            is_secure: false,
            expires: None,
            max_age_end: None,
        };
        for part in parts {
            cookie.read_attribute(part, now);
        }
        Some(cookie)
    }

    /// Seconds since the epoch; `None` for the end of the session. Max-Age goes before Expires.
    pub(crate) fn end(&self) -> Option<u64> {
        self.max_age_end.or(self.expires)
    }

    /// HttpOnly and SameSite are known and have no effect here, like attributes that are unknown.
    fn read_attribute(&mut self, part: &'a [u8], now: u64) {
        let Pair { name, value } = Pair::split(part).unwrap_or_else(|| Pair {
            name: part.trim_ascii(),
            value: b"",
        });
        if value.len() > ATTRIBUTE_MAX {
            return;
        }
        let latest = now.saturating_add(AGE_MAX);
        if name.eq_ignore_ascii_case(b"path") {
            self.path = Some(value);
        } else if name.eq_ignore_ascii_case(b"secure") {
            self.is_secure = true;
        } else if name.eq_ignore_ascii_case(b"max-age") {
            let end = max_age(value).map(|age| match age {
                0 => 0,
                age => now.saturating_add(age).min(latest),
            });
            self.max_age_end = end.or(self.max_age_end);
        } else if name.eq_ignore_ascii_case(b"expires") {
            let end = date::parse(value).map(|end| end.min(latest));
            self.expires = end.or(self.expires);
        } else if name.eq_ignore_ascii_case(b"domain") {
            self.domain = value;
        }
    }
}

/// The two sides of an equals sign.
struct Pair<'a> {
    name: &'a [u8],
    value: &'a [u8],
}

impl<'a> Pair<'a> {
    /// Of the blanks that are trimmed, only SP and HTAB have not been refused as control
    /// characters.
    fn split(text: &'a [u8]) -> Option<Self> {
        let equals = text.iter().position(|byte| *byte == b'=')?;
        Some(Self {
            name: text[..equals].trim_ascii(),
            value: text[equals + 1..].trim_ascii(),
        })
    }
}

/// Section 5.6.2: seconds, 0 for a negative number, the largest for one that is larger.
fn max_age(value: &[u8]) -> Option<u64> {
    let negative = value.strip_prefix(b"-");
    let digits = negative.unwrap_or(value);
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let append =
        |sum: u64, digit: &u8| sum.saturating_mul(10).saturating_add((digit - b'0').into());
    let seconds = digits.iter().fold(0, append);
    Some(if negative.is_some() { 0 } else { seconds })
}
