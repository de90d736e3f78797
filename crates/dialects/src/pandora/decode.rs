//! Ammo files to shots, each format a file.

mod call;
mod json;
mod raw;
mod uri;

pub(super) use call::{CallShot, calls};

use super::ammo::Format;

/// One HTTP request of ammo, before the pool adds what is its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Shot {
    pub(super) method: String,
    /// A path with its query, or a URL, of which the host counts as `Host` only.
    pub(super) uri: String,
    /// The host that it names itself.
    pub(super) host: Option<String>,
    /// Names and values, in their order.
    pub(super) headers: Vec<(String, String)>,
    /// Its body, where it has one.
    pub(super) body: Option<Vec<u8>>,
    pub(super) tag: String,
}

/// Every shot of a file.
///
/// # Errors
/// The first mistake, with its line or its number.
pub(super) fn shots(format: Format, bytes: &[u8]) -> Result<Vec<Shot>, String> {
    match format {
        Format::Uri => uri::lines(bytes),
        Format::UriPost => uri::posts(bytes),
        Format::Raw => raw::requests(bytes),
        Format::JsonLine => json::requests(bytes),
        Format::GrpcJson | Format::HttpScenario | Format::GrpcScenario => Ok(Vec::new()),
    }
}

/// Every shot of lines in the configuration.
///
/// # Errors
/// The first mistake.
pub(super) fn lines(lines: &[String]) -> Result<Vec<Shot>, String> {
    uri::lines(lines.join("\n").as_bytes())
}

/// A position in a file that is read line by line and block by block.
struct Cursor<'a> {
    rest: &'a [u8],
    line: u64,
}

impl<'a> Cursor<'a> {
    const fn new(bytes: &'a [u8]) -> Self {
        Self {
            rest: bytes,
            line: 0,
        }
    }

    /// The next line that is not blank, trimmed.
    ///
    /// # Errors
    /// When it is no UTF-8.
    fn line(&mut self) -> Result<Option<&'a str>, String> {
        while !self.rest.is_empty() {
            let end = self.rest.iter().position(|byte| *byte == b'\n');
            let (line, rest) = match end {
                Some(end) => (&self.rest[..end], &self.rest[end + 1..]),
                None => (self.rest, &self.rest[self.rest.len()..]),
            };
            self.rest = rest;
            self.line += 1;
            let line = line.trim_ascii();
            if !line.is_empty() {
                let text = std::str::from_utf8(line);
                return text
                    .map(Some)
                    .map_err(|_| self.wrong("it is not valid UTF-8"));
            }
        }
        Ok(None)
    }

    /// The next bytes, this many.
    ///
    /// # Errors
    /// When there are fewer.
    fn block(&mut self, size: usize) -> Result<&'a [u8], String> {
        let Some((block, rest)) = self.rest.split_at_checked(size) else {
            let left = self.rest.len();
            return Err(self.wrong(&format!("{size} bytes should follow, and {left} are left")));
        };
        self.rest = rest;
        self.line += block.iter().filter(|byte| **byte == b'\n').count() as u64;
        Ok(block)
    }

    /// A mistake in the line that was read last.
    fn wrong(&self, what: &str) -> String {
        format!("line {}: {what}", self.line)
    }
}

/// Gives a field a value, in place of one of this name.
fn set(headers: &mut Vec<(String, String)>, name: String, value: String) {
    headers.retain(|(known, _)| !known.eq_ignore_ascii_case(&name));
    headers.push((name, value));
}

#[cfg(test)]
mod tests;
