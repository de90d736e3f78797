//! Parses the Set-Cookie field (section 5.6).

use crate::date;

/// The maximum length of a cookie's name and value together, in bytes.
const NAME_AND_VALUE_MAX: usize = 4096;
/// The maximum length of an attribute's value, in bytes; a longer attribute is ignored.
const ATTRIBUTE_MAX: usize = 1024;
/// The maximum lifetime of a cookie, in seconds: 400 days (section 5.5).
const AGE_MAX: u64 = 400 * 24 * 60 * 60;

/// A field with its parsed attributes. If an attribute is repeated, the last one counts.
pub(crate) struct SetCookie<'a> {
    pub(crate) name: &'a str,
    pub(crate) value: &'a str,
    /// Empty without a Domain attribute.
    pub(crate) domain: &'a [u8],
    pub(crate) path: Option<&'a [u8]>,
    pub(crate) is_secure: bool,
    expires: Option<u64>,
    max_age_end: Option<u64>,
}

impl<'a> SetCookie<'a> {
    /// `None` if the draft ignores the field, or if the name or value is not UTF-8.
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

    /// The expiry in seconds since the epoch; `None` means the end of the session. Max-Age has
    /// priority over Expires.
    pub(crate) fn expiry(&self) -> Option<u64> {
        self.max_age_end.or(self.expires)
    }

    /// HttpOnly and SameSite are known but have no effect here, like unknown attributes.
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

/// The two sides of an equals sign, trimmed.
struct Pair<'a> {
    name: &'a [u8],
    value: &'a [u8],
}

impl<'a> Pair<'a> {
    /// Trims white space. Only SP and HTAB can occur, because the field has no other control
    /// characters.
    fn split(text: &'a [u8]) -> Option<Self> {
        let equals = text.iter().position(|byte| *byte == b'=')?;
        Some(Self {
            name: text[..equals].trim_ascii(),
            value: text[equals + 1..].trim_ascii(),
        })
    }
}

/// Parses Max-Age (section 5.6.2): seconds, with 0 for negative numbers, and clamped to the largest
/// number.
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
