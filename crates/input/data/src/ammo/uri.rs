//! `uri` and `uripost`: a target a line, with a tag behind it. `[Name: value]` is a header field of
//! all entries that follow. In `uripost` the body's length stands before the target, and the body
//! behind the line.

use super::batch::{Batch, StandingHeaders};
use super::step::{Step, line, text};
use super::target::start_entry;
use drumfire_plan::Header;

/// The header fields that stand at one place have at most this many bytes together.
const STANDING_BYTES_MAX: usize = 64 << 10;

/// The next line of `uri`.
pub(super) fn step(
    standing: &mut StandingHeaders,
    window: &[u8],
    is_last: bool,
    out: &mut Batch,
) -> Step {
    let read = line(window, is_last).and_then(|(line, bytes)| Ok((text(line)?, bytes)));
    let (line, bytes) = match read {
        Ok(read) => read,
        Err(step) => return step,
    };
    if line.is_empty() {
        return Step::Took { bytes, rows: 0 };
    }
    if line.starts_with('[') {
        return header(standing, line, bytes);
    }
    push_request(standing, "GET", line, None, out)
        .map_or_else(Step::broken, |()| Step::Took { bytes, rows: 1 })
}

/// The next line of `uripost`, with its body.
pub(super) fn step_post(
    standing: &mut StandingHeaders,
    window: &[u8],
    is_last: bool,
    out: &mut Batch,
) -> Step {
    let read = line(window, is_last).and_then(|(line, bytes)| Ok((text(line)?, bytes)));
    let (line, bytes) = match read {
        Ok(read) => read,
        Err(step) => return step,
    };
    if line.is_empty() {
        return Step::Took { bytes, rows: 0 };
    }
    if line.starts_with('[') {
        return header(standing, line, bytes);
    }
    let Some((length, rest)) = line.split_once(' ') else {
        return Step::broken("a line needs the length of the body, a space and the target");
    };
    let body = match body(length, &window[bytes..], is_last) {
        Ok(body) => body,
        Err(step) => return step,
    };
    match push_request(standing, "POST", rest.trim_start(), Some(body), out) {
        Ok(()) => Step::Took {
            bytes: bytes + body.len(),
            rows: 1,
        },
        Err(message) => Step::broken(message),
    }
}

/// The bytes behind a line that begins with their number.
pub(super) fn body<'a>(length: &str, rest: &'a [u8], is_last: bool) -> Result<&'a [u8], Step> {
    let Ok(length) = length.parse::<usize>() else {
        let shown: String = length.chars().take(40).collect();
        let shown = shown.escape_default();
        return Err(Step::broken(format!("`{shown}` is not a length in bytes")));
    };
    match rest.get(..length) {
        Some(body) => Ok(body),
        None if is_last => {
            let has = rest.len();
            let message = format!("{length} bytes are expected, but the file ends after {has}");
            Err(Step::broken(message))
        }
        None => Err(Step::More),
    }
}

/// A target with a tag.
fn push_request(
    standing: &StandingHeaders,
    method: &str,
    line: &str,
    body: Option<&[u8]>,
    out: &mut Batch,
) -> Result<(), String> {
    let (target, tag) = line.split_once([' ', '\t']).unwrap_or((line, ""));
    out.share(standing);
    start_entry(method, target, out)?;
    out.tag(tag.trim());
    if let Some(body) = body {
        out.body(body);
    }
    Ok(())
}

/// A line in brackets.
fn header(standing: &mut StandingHeaders, line: &str, bytes: usize) -> Step {
    let inner = line
        .strip_prefix('[')
        .and_then(|line| line.strip_suffix(']'));
    let Some((name, value)) = inner.and_then(|inner| inner.split_once(':')) else {
        return Step::broken(
            "a line in brackets must be a header field, such as [Host: shop.test]",
        );
    };
    let (name, value) = (name.trim(), value.trim());
    if let Err(error) = Header::new(name, value.as_bytes()) {
        return Step::broken(error.to_string());
    }
    let is_it = |pair: &&(String, String)| pair.0.eq_ignore_ascii_case(name);
    if standing
        .iter()
        .find(is_it)
        .is_some_and(|known| known.1 == value)
    {
        return Step::Took { bytes, rows: 0 };
    }
    let mut fields: Vec<_> = standing
        .iter()
        .filter(|pair| !is_it(pair))
        .cloned()
        .collect();
    fields.push((name.to_owned(), value.to_owned()));
    let length: usize = fields
        .iter()
        .map(|(name, value)| name.len() + value.len())
        .sum();
    if length > STANDING_BYTES_MAX {
        return Step::broken(format!(
            "the header fields have more than {STANDING_BYTES_MAX} bytes"
        ));
    }
    *standing = fields.into();
    Step::Took { bytes, rows: 0 }
}
