//! Secrets that a plan names, masked in whatever is put out.
//!
//! Names that speak of secrets are masked where a report is made ([`crate::secret`]). These are
//! known by their values instead, so they are found wherever they turn up: in a message that a
//! server sent back, in a body, in an error.

use crate::secret::MASK;
use crate::style::Unicode;
use crate::untrusted::Untrusted;
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use std::borrow::Cow;
use std::fmt::Write as _;

/// Lines of a secret, and other spellings of it, are looked for from this length on.
const PART_MIN: usize = 8;
/// The beginning of a secret before a cut is masked from this length on.
const CUT_MIN: usize = 4;
/// What stands where a text was cut.
const CUTS: [&str; 3] = ["…", "...", "~"];

/// Texts that no output may show.
#[derive(Clone, Debug, Default)]
pub struct Secrets {
    /// Every spelling of every secret, the longest first.
    spellings: Vec<String>,
}

impl Secrets {
    /// These secrets, in every way in which an output may spell them.
    #[must_use]
    pub fn new(values: &[String]) -> Self {
        let mut spellings: Vec<String> = values.iter().flat_map(|value| spellings(value)).collect();
        spellings.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        spellings.dedup();
        Self { spellings }
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.spellings.is_empty()
    }

    /// The text without them.
    #[must_use]
    pub fn masked<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut out = Cow::Borrowed(text);
        for secret in &self.spellings {
            if out.contains(secret.as_str()) {
                out = Cow::Owned(out.replace(secret.as_str(), MASK));
            }
        }
        for cut in CUTS {
            if !self.is_empty() && out.contains(cut) {
                out = Cow::Owned(self.masked_before(cut, &out));
            }
        }
        out
    }

    /// The text without the beginnings of secrets that were cut.
    fn masked_before(&self, cut: &str, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find(cut) {
            let before = &rest[..at];
            let begun = self
                .spellings
                .iter()
                .filter_map(|secret| begun(secret, before));
            match begun.max() {
                Some(length) => out.extend([&before[..before.len() - length], MASK, cut]),
                None => out.extend([before, cut]),
            }
            rest = &rest[at + cut.len()..];
        }
        out.push_str(rest);
        out
    }

    /// A text of JSON without them: they are masked in strings that are values, so that it stays
    /// JSON of the same form.
    #[must_use]
    pub fn masked_json(&self, json: &str) -> String {
        let mut out = String::with_capacity(json.len());
        let mut rest = json;
        while let Some(at) = rest.find('"') {
            out.push_str(&rest[..=at]);
            let inside = &rest[at + 1..];
            let end = end_of_string(inside);
            let (text, behind) = inside.split_at(end);
            let is_key = behind
                .get(1..)
                .is_some_and(|rest| rest.trim_start().starts_with(':'));
            match is_key {
                true => out.push_str(text),
                false => out.push_str(&self.masked(text)),
            }
            rest = behind;
            if rest.starts_with('"') {
                out.push('"');
                rest = &rest[1..];
            }
        }
        out.push_str(rest);
        out
    }
}

/// How many bytes of a secret's beginning a text ends with, where they are enough to tell.
fn begun(secret: &str, text: &str) -> Option<usize> {
    let ends = secret.char_indices().map(|(at, _)| at);
    ends.filter(|at| *at >= CUT_MIN && text.ends_with(&secret[..*at]))
        .max()
}

/// Where a string of JSON ends whose content begins here.
fn end_of_string(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => return at,
            _ => {}
        }
    }
    text.len()
}

/// The ways to spell a secret, or a line of one: as it is, and as JSON, URLs, base64 and our own
/// escapes have it.
fn spellings(secret: &str) -> Vec<String> {
    let lines = secret.lines().map(str::trim);
    let lines = lines.filter(|line| line.len() >= PART_MIN);
    let mut all = Vec::new();
    for text in std::iter::once(secret).chain(lines) {
        let mut json = serde_json::Value::from(text).to_string();
        json.pop();
        all.extend([text.to_owned(), json.split_off(1)]);
        all.push(Untrusted::new(text).escaped(Unicode::On));
        all.extend([percent_encoded(text, "%20"), percent_encoded(text, "+")]);
        all.extend(base64_cores(text));
    }
    all.retain(|text| !text.is_empty());
    all
}

/// The text as a query has it.
fn percent_encoded(text: &str, space: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        match byte {
            b' ' => out.push_str(space),
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                out.push(char::from(byte));
            }
            byte => {
                let written = write!(out, "%{byte:02X}");
                debug_assert!(written.is_ok(), "a String takes any text");
            }
        }
    }
    out
}

/// The characters of base64 that follow from the text alone, wherever it stands among other bytes:
/// `user:TOKEN` of basic authentication has them.
fn base64_cores(text: &str) -> Vec<String> {
    let mut cores = Vec::new();
    for before in 0..3_usize {
        let mut bytes = vec![0; before];
        bytes.extend_from_slice(text.as_bytes());
        let (first, bits) = ((before * 8).div_ceil(6), bytes.len() * 8);
        for engine in [STANDARD_NO_PAD, URL_SAFE_NO_PAD] {
            let encoded = engine.encode(&bytes);
            let core = encoded.get(first..bits / 6).unwrap_or_default();
            if core.len() >= PART_MIN {
                cores.push(core.to_owned());
            }
        }
    }
    cores
}

#[cfg(test)]
mod tests {
    use super::Secrets;
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;

    fn secrets(values: &[&str]) -> Secrets {
        let values: Vec<String> = values.iter().map(|value| (*value).to_owned()).collect();
        Secrets::new(&values)
    }

    #[test]
    fn a_secret_is_found_however_it_is_spelled() {
        let secrets = secrets(&[
            "C\"n y/CANARY",
            "-----BEGIN\nCANARYline1\nCANARYline2\n-----END",
        ]);
        let basic = STANDARD.encode("me:C\"n y/CANARY;and more");
        for text in [
            "Bearer C\"n y/CANARY",
            "/?q=C%22n%20y%2FCANARY&b",
            "q=C%22n+y%2FCANARY",
            r#"{"a":"C\"n y/CANARY"}"#,
            "key: CANARYline2",
            "C\"n y/CAN… and more",
            "C\"n y~",
            "C\"n y/CANAR...",
            basic.as_str(),
        ] {
            let masked = secrets.masked(text);
            assert!(masked.contains("***"), "{text}: {masked}");
            assert!(
                !masked.contains("CAN") && masked != text,
                "{text}: {masked}"
            );
        }
        assert_eq!(secrets.masked("nothing… here"), "nothing… here");
    }

    #[test]
    fn json_keeps_its_form() {
        let secrets = secrets(&["sent", "true", "a\\b"]);
        let json = r#"{"sent": 5, "x": ["I sent \"sent\"", true], "y":{"true":"a\\b"}, "z": ""}"#;
        let masked = secrets.masked_json(json);
        assert_eq!(
            masked,
            r#"{"sent": 5, "x": ["I *** \"***\"", true], "y":{"true":"***"}, "z": ""}"#
        );
    }
}
