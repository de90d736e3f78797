//! HTTP archives (HAR 1.2): the requests that a browser has sent.

use super::AmmoError;
use super::batch::Batch;
use super::remark::Remark;
use super::target::start_entry;
use crate::har::{HarArchive, HarContent, HarEntry, HarPair, REQUEST_KEYS};
use drumfire_plan::{Header, Method, percent};

/// The entries of an archive. Those that did not go over HTTP (`data:`, `blob:`, WebSockets) are
/// left out and counted.
pub(super) fn decode(bytes: &[u8], out: &mut Batch) -> Result<(), AmmoError> {
    let archive: HarArchive = serde_json::from_slice(bytes).map_err(|error| {
        let shown = error.to_string();
        let reason = shown.split(" at line ").next().unwrap_or_default();
        AmmoError::at_line(
            error.line() as u64,
            format!("not an HTTP archive: {reason}"),
        )
    })?;
    for (n, entry) in (1..).zip(archive.into_entries()) {
        if !entry.request.is_http() || entry.request.is_upgrade() {
            out.leave_out();
            continue;
        }
        let put = push_request(&entry, out);
        put.map_err(|message| AmmoError::at_line(0, format!("entry {n}: {message}")))?;
    }
    Ok(())
}

fn push_request(entry: &HarEntry, out: &mut Batch) -> Result<(), String> {
    let request = &entry.request;
    out.remark(request.unknown_keys().map(|key| Remark::UnknownKey {
        key: key.to_owned(),
        known: &REQUEST_KEYS,
    }));
    Method::parse(&request.method).map_err(|error| error.to_string())?;
    start_entry(&request.method, &request.url(), out)?;
    out.time(entry.started());
    for (name, value) in request.fields() {
        // HTTP/2's own fields, and those of the connection.
        let is_own =
            name.starts_with(':') || Header::is_framing(&name) || name.eq_ignore_ascii_case("host");
        if !is_own {
            Header::new(&name, value.as_bytes()).map_err(|error| error.to_string())?;
            out.field(&name, &value);
        }
    }
    let form = |pairs: &mut dyn Iterator<Item = (&str, &str)>| {
        let pairs = pairs.map(|(name, value)| {
            let (name, value) = (
                percent::encoded_in_form(name),
                percent::encoded_in_form(value),
            );
            format!("{name}={value}")
        });
        pairs.collect::<Vec<_>>().join("&")
    };
    match request.body() {
        None => {}
        Some(HarContent::Text(text)) => out.body(text.as_bytes()),
        Some(HarContent::Bytes(bytes)) => out.body(&bytes),
        Some(HarContent::Form(pairs)) => {
            let mut pairs = pairs
                .iter()
                .map(|(name, value)| (name.as_str(), value.as_str()));
            out.body(form(&mut pairs).as_bytes());
        }
        // Its text alone has the boundary that the media type names.
        Some(HarContent::Parts(parts)) => {
            let names: Vec<&str> = parts
                .iter()
                .map(|HarPair { name, .. }| name.as_str())
                .collect();
            return Err(format!(
                "the archive has no text of the multipart body with {}; use `drumfire import har`",
                names.join(", ")
            ));
        }
    }
    Ok(())
}
