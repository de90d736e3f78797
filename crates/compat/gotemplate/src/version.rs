//! Semantic versions and constraints, as sprig's functions parse them.

pub(crate) mod constraint;

use std::cmp::Ordering;
use std::fmt;

/// A version such as `v1.2.3-beta.1+linux`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    pub(crate) numbers: [u64; 3],
    pub(crate) prerelease: String,
    pub(crate) metadata: String,
    pub(crate) original: String,
}

impl Version {
    /// Parses a version. Minor and patch numbers are optional, as is a leading `v`.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let invalid = || "Invalid Semantic Version".to_owned();
        let body = text.strip_prefix('v').unwrap_or(text);
        let (body, metadata) = match body.split_once('+') {
            Some((body, metadata)) => (body, Some(metadata)),
            None => (body, None),
        };
        let (body, prerelease) = match body.split_once('-') {
            Some((body, prerelease)) => (body, Some(prerelease)),
            None => (body, None),
        };
        let mut numbers = [0; 3];
        let parts: Vec<&str> = body.split('.').collect();
        if parts.len() > 3 {
            return Err(invalid());
        }
        for (number, part) in numbers.iter_mut().zip(&parts) {
            if part.is_empty() || !part.bytes().all(|byte| byte.is_ascii_digit()) {
                return Err(invalid());
            }
            *number = part.parse().map_err(|_| {
                let part = crate::quote::quoted(part);
                format!("Error parsing version segment: strconv.ParseUint: parsing {part}: value out of range")
            })?;
        }
        for identifiers in [prerelease, metadata].into_iter().flatten() {
            if !identifiers.split('.').all(is_identifier) {
                return Err(invalid());
            }
        }
        let prerelease = prerelease.unwrap_or_default();
        if prerelease.split('.').any(has_leading_zero) {
            return Err("Version segment starts with 0".to_owned());
        }
        Ok(Self {
            numbers,
            prerelease: prerelease.to_owned(),
            metadata: metadata.unwrap_or_default().to_owned(),
            original: text.to_owned(),
        })
    }

    /// Compares by precedence; metadata is ignored.
    pub(crate) fn compare(&self, other: &Self) -> Ordering {
        let numbers = self.numbers.cmp(&other.numbers);
        numbers.then_with(|| match (&*self.prerelease, &*other.prerelease) {
            ("", "") => Ordering::Equal,
            ("", _) => Ordering::Greater,
            (_, "") => Ordering::Less,
            (a, b) => compare_prereleases(a, b),
        })
    }

    /// The release with these numbers.
    pub(crate) fn with_numbers(&self, numbers: [u64; 3]) -> Self {
        let mut next = Self {
            numbers,
            prerelease: String::new(),
            metadata: String::new(),
            original: String::new(),
        };
        let v = if self.original.starts_with('v') {
            "v"
        } else {
            ""
        };
        next.original = format!("{v}{next}");
        next
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [major, minor, patch] = self.numbers;
        write!(f, "{major}.{minor}.{patch}")?;
        if !self.prerelease.is_empty() {
            write!(f, "-{}", self.prerelease)?;
        }
        if !self.metadata.is_empty() {
            write!(f, "+{}", self.metadata)?;
        }
        Ok(())
    }
}

fn is_identifier(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

fn has_leading_zero(text: &str) -> bool {
    text.len() > 1 && text.starts_with('0') && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Compares identifier by identifier: numbers by value and before words; a longer list is greater.
pub(crate) fn compare_prereleases(a: &str, b: &str) -> Ordering {
    let (mut left, mut right) = (a.split('.'), b.split('.'));
    loop {
        let (left, right) = match (left.next(), right.next()) {
            (None, None) => return Ordering::Equal,
            (None, _) => return Ordering::Less,
            (_, None) => return Ordering::Greater,
            (Some(left), Some(right)) => (left, right),
        };
        let order = match (left.parse::<u64>(), right.parse::<u64>()) {
            (Ok(left), Ok(right)) => left.cmp(&right),
            (Ok(_), Err(_)) => Ordering::Less,
            (Err(_), Ok(_)) => Ordering::Greater,
            (Err(_), Err(_)) => left.cmp(right),
        };
        if order != Ordering::Equal {
            return order;
        }
    }
}
