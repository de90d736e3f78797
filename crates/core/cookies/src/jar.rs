//! The cookies of one user, in order of creation, in two blocks of memory.

use crate::cookie::Cookie;
use crate::site::{Domain, Site};
use std::cmp::Reverse;
use std::fmt;

/// The maximum number of cookies in a jar; a further cookie evicts the earliest one.
pub(crate) const COOKIES_MAX: usize = 64;
/// The maximum total length of all names, values, domains and paths in a jar, in bytes; a further
/// cookie evicts the earliest ones.
pub(crate) const JAR_BYTES_MAX: usize = 16 * 1024;
/// The maximum capacity that a cleared jar keeps for its next cookies, in bytes.
const KEPT_BYTES: usize = 4096;

// Offsets into the text have 16 bits, and a set of cookies is a `u64`.
const _: () = assert!(JAR_BYTES_MAX <= u16::MAX as usize && COOKIES_MAX <= 64);
// Tens of thousands of users have a jar each.
const _: () = assert!(size_of::<StoredCookie>() == 24);

/// The cookies of one user.
///
/// Times are in seconds since the Unix epoch. Expired cookies are removed at the next use of the
/// jar.
#[derive(Clone, Default)]
pub struct Jar {
    /// In order of creation.
    records: Vec<StoredCookie>,
    /// The texts of all cookies, in the same order, without gaps.
    text: String,
}

/// A cookie. Its texts in the jar's text are consecutive: name, domain, path, value.
#[derive(Clone)]
struct StoredCookie {
    end: u64,
    start: u16,
    name: u16,
    domain: u16,
    path: u16,
    value: u16,
    is_secure: bool,
    is_host_only: bool,
}

impl Jar {
    /// An empty jar, without an allocation.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            records: Vec::new(),
            text: String::new(),
        }
    }

    /// Parses the value of a Set-Cookie field in a response of `site`. Returns whether the jar
    /// changed: a cookie was stored, or was deleted by an expired one.
    ///
    /// The jar ignores all cookies that the draft ignores, cookies for a Domain without an inner
    /// dot (other than the host itself), cookies with a name, value or path that is not UTF-8, and
    /// cookies larger than a whole jar.
    pub fn store(&mut self, field: &[u8], site: Site<'_>, now: u64) -> bool {
        self.remove_expired(now);
        let Some(cookie) = Cookie::parse(field, site, now) else {
            return false;
        };
        let is_weak = !cookie.is_secure && !site.is_trustworthy();
        if cookie.length() > JAR_BYTES_MAX
            || is_weak && self.cookies().any(|other| other.shuts_out(&cookie))
        {
            return false;
        }
        let old = self.cookies().position(|other| other.is_same(&cookie));
        match (old, cookie.end > now) {
            (Some(index), true) => self.replace(index, &cookie),
            (Some(index), false) => self.remove(index),
            (None, true) => self.add(&cookie),
            (None, false) => return false,
        }
        true
    }

    /// Appends the value of the Cookie field for a request to `site`: cookies with longer paths
    /// first, then in order of creation. Appends nothing if no cookie matches.
    pub fn write(&mut self, site: Site<'_>, now: u64, out: &mut String) {
        self.remove_expired(now);
        let mut due = 0_u64;
        for (index, cookie) in self.cookies().enumerate() {
            due |= u64::from(cookie.goes_to(site)) << index;
        }
        let mut separator = "";
        while let Some(index) = self.first_of(due) {
            out.push_str(separator);
            self.cookie(&self.records[index]).write(out);
            separator = "; ";
            due &= !(1 << index);
        }
    }

    /// Removes all cookies. Keeps the memory for the next ones, unless it is larger than usual.
    pub fn clear(&mut self) {
        if self.text.capacity() > KEPT_BYTES {
            *self = Self::new();
        }
        self.records.clear();
        self.text.clear();
    }

    /// Whether the jar has no cookies.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// The number of cookies, including those that have expired since the last use of the jar.
    #[must_use]
    pub fn len(&self) -> usize {
        self.records.len()
    }

    fn cookies(&self) -> impl Iterator<Item = Cookie<'_>> {
        self.records.iter().map(|record| self.cookie(record))
    }

    fn cookie(&self, record: &StoredCookie) -> Cookie<'_> {
        let text = &self.text[record.start.into()..];
        let (name, text) = text.split_at(record.name.into());
        let (domain, text) = text.split_at(record.domain.into());
        let (path, text) = text.split_at(record.path.into());
        Cookie {
            name,
            value: &text[..record.value.into()],
            domain: Domain {
                name: domain,
                is_host_only: record.is_host_only,
            },
            path,
            is_secure: record.is_secure,
            end: record.end,
        }
    }

    /// The first cookie of a set, in the order of the Cookie field.
    fn first_of(&self, set: u64) -> Option<usize> {
        let indices = (0..self.records.len()).filter(|index| set >> index & 1 == 1);
        indices.min_by_key(|index| Reverse(self.records[*index].path))
    }

    fn remove_expired(&mut self, now: u64) {
        for index in (0..self.records.len()).rev() {
            if self.records[index].end <= now {
                self.remove(index);
            }
        }
    }

    fn remove(&mut self, index: usize) {
        let record = self.records.remove(index);
        self.replace_text(record.start.into(), record.length(), "");
        for later in &mut self.records[index..] {
            later.start -= record.length() as u16;
        }
    }

    fn add(&mut self, cookie: &Cookie<'_>) {
        while self.records.len() >= COOKIES_MAX || self.text.len() + cookie.length() > JAR_BYTES_MAX
        {
            self.remove(0);
        }
        self.records
            .push(StoredCookie::new(cookie, self.text.len()));
        self.text.reserve(cookie.length());
        for part in [cookie.name, cookie.domain.name, cookie.path, cookie.value] {
            self.text.push_str(part);
        }
    }

    /// Replaces a cookie's value. The cookie keeps its place in the order.
    fn replace(&mut self, mut index: usize, cookie: &Cookie<'_>) {
        let old_length = self.records[index].length();
        while self.text.len() - old_length + cookie.length() > JAR_BYTES_MAX {
            // Remove the earliest of the other cookies.
            self.remove(usize::from(index == 0));
            index = index.saturating_sub(1);
        }
        let old = self.records[index].clone();
        let record = StoredCookie::new(cookie, old.start.into());
        let value_start = usize::from(old.start) + old.length() - usize::from(old.value);
        self.replace_text(value_start, old.value.into(), cookie.value);
        for later in &mut self.records[index + 1..] {
            later.start = later.start - old.value + record.value;
        }
        self.records[index] = record;
    }

    /// Allocates only if the text exceeds its capacity.
    fn replace_text(&mut self, start: usize, length: usize, with: &str) {
        self.text.replace_range(start..start + length, with);
    }
}

impl fmt::Debug for Jar {
    /// Omits the cookies, which are secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Jar")
            .field("cookies", &self.records.len())
            .finish_non_exhaustive()
    }
}

impl StoredCookie {
    /// All numbers fit, because the jar has room for the cookie's texts at `start`.
    fn new(cookie: &Cookie<'_>, start: usize) -> Self {
        Self {
            end: cookie.end,
            start: start as u16,
            name: cookie.name.len() as u16,
            domain: cookie.domain.name.len() as u16,
            path: cookie.path.len() as u16,
            value: cookie.value.len() as u16,
            is_secure: cookie.is_secure,
            is_host_only: cookie.domain.is_host_only,
        }
    }

    /// The total length of the cookie's texts, in bytes.
    fn length(&self) -> usize {
        [self.name, self.domain, self.path, self.value]
            .into_iter()
            .map(usize::from)
            .sum()
    }
}
