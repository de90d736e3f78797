//! The standard's own algorithm, step by step, over the whole stream (HTML, sections 9.2.5 and
//! 9.2.6): slow, and without the leniency for the last event.

use crate::seen::Seen;

/// The events of a whole stream.
pub(crate) fn read(stream: &[u8]) -> Vec<Seen> {
    // "Streams must be decoded using the UTF-8 decode algorithm", which strips one mark.
    let text = String::from_utf8_lossy(stream).into_owned();
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let (mut data, mut kind, mut last_id, mut retry) =
        (String::new(), String::new(), String::new(), None);
    let mut events = Vec::new();
    for line in lines(text) {
        if line.is_empty() {
            if data.is_empty() {
                kind.clear();
                continue;
            }
            if data.ends_with('\n') {
                data.pop();
            }
            let name = if kind.is_empty() { "message" } else { &kind };
            events.push(Seen {
                kind: name.to_owned(),
                data: data.clone(),
                id: last_id.clone(),
                retry,
            });
            data.clear();
            kind.clear();
            continue;
        }
        if line.starts_with(':') {
            continue;
        }
        let (field, value) = match line.find(':') {
            Some(colon) => {
                let value = &line[colon + 1..];
                (&line[..colon], value.strip_prefix(' ').unwrap_or(value))
            }
            None => (line, ""),
        };
        if field == "event" {
            kind = value.to_owned();
        } else if field == "data" {
            data.push_str(value);
            data.push('\n');
        } else if field == "id" && !value.contains('\0') {
            last_id = value.to_owned();
        } else if field == "retry"
            && !value.is_empty()
            && value.chars().all(|char| char.is_ascii_digit())
        {
            retry = Some(value.parse().unwrap_or(u64::MAX));
        }
    }
    events
}

/// The lines that have an end: CRLF, or LF, or a CR alone. What follows the last one is pending
/// data, which "must be discarded".
fn lines(text: &str) -> Vec<&str> {
    let mut lines = Vec::new();
    let mut rest = text;
    while let Some(end) = rest.find(['\r', '\n']) {
        lines.push(&rest[..end]);
        let tail = &rest[end..];
        let length = if tail.starts_with("\r\n") { 2 } else { 1 };
        rest = &tail[length..];
    }
    lines
}
