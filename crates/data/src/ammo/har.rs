//! HTTP archives (HAR 1.2): the requests that a browser has sent.

use super::AmmoError;
use super::batch::Batch;
use super::target::begin;
use crate::har::{HarArchive, HarBody, HarEntry, HarPair};
use drumfire_plan::{Header, Method, percent};

/// The entries of an archive. Those that did not go over HTTP (`data:`, `blob:`, WebSockets) are
/// passed over.
pub(super) fn decode(bytes: &[u8], out: &mut Batch) -> Result<(), AmmoError> {
    let archive: HarArchive = serde_json::from_slice(bytes).map_err(|error| {
        let shown = error.to_string();
        let reason = shown.split(" at line ").next().unwrap_or_default();
        AmmoError::at(
            error.line() as u64,
            format!("not an HTTP archive: {reason}"),
        )
    })?;
    for (n, entry) in (1..).zip(archive.into_entries()) {
        if entry.request.is_http() {
            let put = put(&entry, out);
            put.map_err(|message| AmmoError::at(0, format!("entry {n}: {message}")))?;
        }
    }
    Ok(())
}

fn put(entry: &HarEntry, out: &mut Batch) -> Result<(), String> {
    let request = &entry.request;
    Method::parse(&request.method).map_err(|error| error.to_string())?;
    begin(&request.method, &request.url, out)?;
    out.time(entry.started());
    for HarPair { name, value, .. } in &request.headers {
        // HTTP/2's own fields, and those of the connection.
        let is_own =
            name.starts_with(':') || Header::is_framing(name) || name.eq_ignore_ascii_case("host");
        if !is_own {
            Header::new(name, value.as_bytes()).map_err(|error| error.to_string())?;
            out.field(name, value);
        }
    }
    match &request.post_data {
        None => {}
        Some(HarBody {
            text: Some(text), ..
        }) => out.body(text.as_bytes()),
        Some(HarBody { params, .. }) => {
            let pairs = params.iter().map(|HarPair { name, value, .. }| {
                let mut pair = String::new();
                pair.push_str(&percent::encoded_in_form(name));
                pair.push('=');
                pair.push_str(&percent::encoded_in_form(value));
                pair
            });
            out.body(pairs.collect::<Vec<_>>().join("&").as_bytes());
        }
    }
    Ok(())
}
