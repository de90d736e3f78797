//! `raw`: a line with a length and a tag, and behind it that many bytes of an HTTP/1 request.

use super::batch::Batch;
use super::remark::Remark;
use super::step::{Step, line, text};
use super::target::start_entry;
use super::uri::body;
use drumfire_plan::{Header, Method};
use std::borrow::Cow;

/// The next request.
pub(super) fn step(window: &[u8], is_last: bool, out: &mut Batch) -> Step {
    let read = line(window, is_last).and_then(|(line, bytes)| Ok((text(line)?, bytes)));
    let (line, bytes) = match read {
        Ok(read) => read,
        Err(step) => return step,
    };
    if line.is_empty() {
        return Step::Took { bytes, rows: 0 };
    }
    let (length, tag) = line.split_once([' ', '\t']).unwrap_or((line, ""));
    if length == "0" {
        return end(&window[bytes..], is_last, window.len());
    }
    let request = match body(length, &window[bytes..], is_last) {
        Ok(request) => request,
        Err(step) => return step,
    };
    match push_request(request, tag.trim(), out) {
        Ok(()) => Step::Took {
            bytes: bytes + request.len(),
            rows: 1,
        },
        Err(message) => Step::Broken { at: bytes, message },
    }
}

/// What a length of 0 means with this behind it: the end of the file, as phantom writes it. Whatever
/// follows would be lost.
fn end(rest: &[u8], is_last: bool, bytes: usize) -> Step {
    match (rest.trim_ascii().is_empty(), is_last) {
        (false, _) => Step::broken("the request is empty"),
        (true, false) => Step::More,
        (true, true) => Step::Took { bytes, rows: 0 },
    }
}

/// A request as it goes over the wire (RFC 9112 section 3).
fn push_request(request: &[u8], tag: &str, out: &mut Batch) -> Result<(), String> {
    let (head, rest) = split(request).ok_or("the request has no empty line after its head")?;
    let head = std::str::from_utf8(head).map_err(|_| "the head of the request is not UTF-8")?;
    let head = unfolded(head);
    let mut lines = head.lines();
    let first = lines.next().unwrap_or_default();
    let mut words = first.split(' ');
    let (method, target) = (
        words.next().unwrap_or_default(),
        words.next().unwrap_or_default(),
    );
    let version = words.next().unwrap_or_default();
    if !["HTTP/1.0", "HTTP/1.1", "HTTP/2.0"].contains(&version) || words.next().is_some() {
        let shown: String = first.chars().take(60).collect();
        let shown = shown.escape_default();
        return Err(format!(
            "`{shown}` is not a request line such as GET / HTTP/1.1"
        ));
    }
    Method::parse(method).map_err(|error| error.to_string())?;
    start_entry(method, target, out)?;
    out.tag(tag);
    let (mut is_chunked, mut length, mut hosts) = (false, None, 0);
    for line in lines {
        let (name, value) = line.split_once(':').ok_or("a header field has no colon")?;
        let value = value.trim();
        Header::new(name, value.as_bytes()).map_err(|error| error.to_string())?;
        is_chunked |= name.eq_ignore_ascii_case("transfer-encoding")
            && value.to_ascii_lowercase().contains("chunked");
        if name.eq_ignore_ascii_case("content-length") {
            length = Some(value);
        }
        hosts += u32::from(name.eq_ignore_ascii_case("host"));
        if !Header::frames(name) {
            out.field(name, value);
        }
    }
    if hosts > 1 {
        return Err("the request has more than one Host header; keep one".to_owned());
    }
    match (is_chunked, length) {
        (true, _) => {
            let chunks = joined(rest).ok_or("the chunks of the body are malformed")?;
            if !chunks.rest.trim_ascii().is_empty() {
                out.remark([Remark::Trailers]);
            }
            out.body(&chunks.body);
        }
        (false, None) if rest.is_empty() => {}
        (false, length) => {
            if length.is_some_and(|length| length.parse::<usize>() != Ok(rest.len())) {
                out.remark([Remark::Length]);
            }
            out.body(rest);
        }
    }
    Ok(())
}

/// A head whose fields stand on a line each: one that goes on, behind white space, on the next line
/// has a blank there (RFC 9112 section 5.2).
fn unfolded(head: &str) -> Cow<'_, str> {
    if !head.contains("\n ") && !head.contains("\n\t") {
        return Cow::Borrowed(head);
    }
    let mut out = String::with_capacity(head.len());
    for line in head.lines() {
        match line.starts_with([' ', '\t']) {
            true => out.push(' '),
            false if out.is_empty() => {}
            false => out.push('\n'),
        }
        out.push_str(line.trim_matches([' ', '\t']));
    }
    Cow::Owned(out)
}

/// Head and body of a request.
fn split(request: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut start = 0;
    for line in request.split_inclusive(|byte| *byte == b'\n') {
        let end = start + line.len();
        if start > 0 && line.ends_with(b"\n") && line.trim_ascii().is_empty() {
            return Some((&request[..start], &request[end..]));
        }
        start = end;
    }
    None
}

/// The content of chunks, and what follows the last one.
struct Chunks<'a> {
    body: Vec<u8>,
    rest: &'a [u8],
}

/// Joins chunks (RFC 9112 section 7.1).
fn joined(mut rest: &[u8]) -> Option<Chunks<'_>> {
    let mut body = Vec::new();
    loop {
        let end = rest.iter().position(|byte| *byte == b'\n')?;
        let size = std::str::from_utf8(rest[..end].trim_ascii()).ok()?;
        let size = size.split(';').next().unwrap_or_default().trim();
        let size = usize::from_str_radix(size, 16).ok()?;
        rest = &rest[end + 1..];
        if size == 0 {
            return Some(Chunks { body, rest });
        }
        body.extend_from_slice(rest.get(..size)?);
        rest = rest.get(size..)?;
        rest = rest.strip_prefix(b"\r").unwrap_or(rest);
        rest = rest.strip_prefix(b"\n")?;
    }
}
