//! URIs, a line each, and the same with bodies. Lines in brackets are header fields of all that
//! follow.

use super::{Cursor, Shot, set};
use crate::pandora::ammo;

/// `URI[ TAG]` a line.
pub(super) fn lines(bytes: &[u8]) -> Result<Vec<Shot>, String> {
    let mut cursor = Cursor::new(bytes);
    let mut headers = Vec::new();
    let mut shots = Vec::new();
    while let Some(line) = cursor.line()? {
        if header(line, &mut headers).map_err(|why| cursor.wrong(&why))? {
            continue;
        }
        let (uri, tag) = line.split_once(' ').unwrap_or((line, ""));
        shots.push(shot("GET", uri, tag, &headers, None));
    }
    Ok(shots)
}

/// `SIZE URI[ TAG]` a line, and SIZE bytes behind it.
pub(super) fn posts(bytes: &[u8]) -> Result<Vec<Shot>, String> {
    let mut cursor = Cursor::new(bytes);
    let mut headers = Vec::new();
    let mut shots = Vec::new();
    while let Some(line) = cursor.line()? {
        if header(line, &mut headers).map_err(|why| cursor.wrong(&why))? {
            continue;
        }
        let mut parts = line.splitn(3, ' ');
        let size = parts.next().and_then(|size| size.parse().ok());
        let (Some(size), Some(uri)) = (size, parts.next()) else {
            let shown = line.escape_debug();
            return Err(cursor.wrong(&format!("`{shown}` is not SIZE URI TAG")));
        };
        let tag = parts.next().unwrap_or_default();
        let body = cursor.block(size)?.to_vec();
        shots.push(shot("POST", uri, tag, &headers, Some(body)));
    }
    Ok(shots)
}

/// Takes a line in brackets as a header field of what follows.
fn header(line: &str, headers: &mut Vec<(String, String)>) -> Result<bool, String> {
    if !line.starts_with('[') {
        return Ok(false);
    }
    let (name, value) = ammo::header(line)?;
    set(headers, name, value);
    Ok(true)
}

fn shot(
    method: &str,
    uri: &str,
    tag: &str,
    headers: &[(String, String)],
    body: Option<Vec<u8>>,
) -> Shot {
    Shot {
        method: method.to_owned(),
        uri: uri.to_owned(),
        host: None,
        headers: headers.to_vec(),
        body,
        tag: tag.trim().to_owned(),
    }
}
