//! Whole requests as they go on the wire, each behind a line `SIZE[ TAG]`.

use super::{Cursor, Shot};

/// Reads `SIZE[ TAG]` lines, and SIZE bytes of a request behind each.
pub(super) fn requests(bytes: &[u8]) -> Result<Vec<Shot>, String> {
    let mut cursor = Cursor::new(bytes);
    let mut shots = Vec::new();
    while let Some(line) = cursor.line()? {
        let (size, tag) = line.split_once(' ').unwrap_or((line, ""));
        let Ok(size) = size.parse() else {
            let shown = line.escape_debug();
            return Err(cursor.wrong(&format!(
                "invalid payload size line `{shown}`; write SIZE TAG"
            )));
        };
        let line = cursor.line;
        let block = cursor.block(size)?;
        let shot = request(block).map_err(|why| format!("line {line}: {why}"))?;
        shots.push(Shot {
            tag: tag.trim().to_owned(),
            ..shot
        });
    }
    Ok(shots)
}

/// Parses a request of HTTP/1.x.
fn request(block: &[u8]) -> Result<Shot, String> {
    let (head, body) =
        split(block).ok_or("malformed HTTP request: its head does not end with an empty line")?;
    let head = std::str::from_utf8(head).map_err(|_| "the request's head is not valid UTF-8")?;
    let mut lines = head.lines();
    let line = lines.next().unwrap_or_default();
    let mut words = line.split(' ');
    let (method, uri, version) = match (words.next(), words.next(), words.next(), words.next()) {
        (Some(method), Some(uri), Some(version), None)
            if !method.is_empty() && !uri.is_empty() && version.starts_with("HTTP/1.") =>
        {
            (method, uri, version)
        }
        _ => {
            return Err(format!(
                "malformed HTTP request \"{}\"",
                line.escape_debug()
            ));
        }
    };
    let mut shot = Shot {
        method: method.to_owned(),
        uri: uri.to_owned(),
        ..Shot::default()
    };
    for line in lines {
        let Some((name, value)) = line.split_once(':') else {
            return Err(format!("malformed header line \"{}\"", line.escape_debug()));
        };
        match name.eq_ignore_ascii_case("host") {
            true => shot.host = Some(value.trim().to_owned()),
            false => shot
                .headers
                .push((name.trim().to_owned(), value.trim().to_owned())),
        }
    }
    shot.body = framed(&mut shot.headers, body)?;
    let keeps = |(name, value): &(String, String)| {
        name.eq_ignore_ascii_case("connection") && value.eq_ignore_ascii_case("keep-alive")
    };
    // What Go's client makes of it: 1.1, without the connection's further use.
    if version == "HTTP/1.0" && !shot.headers.iter().any(keeps) {
        super::set(
            &mut shot.headers,
            "Connection".to_owned(),
            "close".to_owned(),
        );
    }
    Ok(shot)
}

/// The head, and what follows its empty line.
fn split(block: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut at = 0;
    while let Some(end) = block[at..].iter().position(|byte| *byte == b'\n') {
        let next = at + end + 1;
        if block[at..next].trim_ascii().is_empty() {
            return (at > 0).then(|| (&block[..at], &block[next..]));
        }
        at = next;
    }
    None
}

/// The body, as its length or its chunks say; fields of its framing are made anew.
fn framed(headers: &mut Vec<(String, String)>, body: &[u8]) -> Result<Option<Vec<u8>>, String> {
    let find = |name: &str| {
        let mut headers = headers.iter();
        headers
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.clone())
    };
    let (coding, length) = (find("transfer-encoding"), find("content-length"));
    headers.retain(|(name, _)| {
        !name.eq_ignore_ascii_case("transfer-encoding")
            && !name.eq_ignore_ascii_case("content-length")
    });
    if coding.is_some_and(|coding| coding.eq_ignore_ascii_case("chunked")) {
        return chunks(body).map(Some);
    }
    let Some(length) = length else {
        return Ok(None);
    };
    let wrong = || format!("bad Content-Length \"{}\"", length.escape_debug());
    let length: usize = length.parse().map_err(|_| wrong())?;
    let body = body.get(..length).ok_or_else(|| {
        format!(
            "Content-Length is {length}, and the body has {} bytes",
            body.len()
        )
    })?;
    Ok(Some(body.to_vec()))
}

/// The bytes of a body in chunks.
fn chunks(mut rest: &[u8]) -> Result<Vec<u8>, String> {
    let mut body = Vec::new();
    loop {
        let end = rest.iter().position(|byte| *byte == b'\n');
        let line = end.map(|end| rest[..end].trim_ascii()).unwrap_or_default();
        let size = line.split(|byte| *byte == b';').next().unwrap_or_default();
        let size = std::str::from_utf8(size).ok();
        let size = size.and_then(|size| usize::from_str_radix(size.trim(), 16).ok());
        let (Some(size), Some(end)) = (size, end) else {
            return Err("a chunk of the body has no size".to_owned());
        };
        if size == 0 {
            return Ok(body);
        }
        rest = &rest[end + 1..];
        let Some((chunk, after)) = rest.split_at_checked(size) else {
            return Err("a chunk of the body is cut off".to_owned());
        };
        body.extend_from_slice(chunk);
        let end = after.iter().position(|byte| *byte == b'\n');
        rest = &after[end.map_or(after.len(), |end| end + 1)..];
    }
}
