//! The target of an entry, as files of requests have it: a path, or a URL.

use super::batch::Batch;
use super::remark::Remark;
use drumfire_plan::URL_LENGTH_MAX;

/// Begins an entry with this target. An absolute one names a host, and the rest is path and query.
///
/// # Errors
/// In words, when it can't be a target.
pub(super) fn start_entry(method: &str, target: &str, out: &mut Batch) -> Result<(), String> {
    let shown = || {
        target
            .chars()
            .take(60)
            .collect::<String>()
            .escape_default()
            .to_string()
    };
    let (host, path) = match target.find("://") {
        Some(at) if !target.starts_with('/') && !target[..at].contains(['?', '#']) => {
            let mut schemes = ["http", "https"].iter();
            if !schemes.any(|scheme| target[..at].eq_ignore_ascii_case(scheme)) {
                return Err(format!(
                    "`{}` is not a URL with http:// or https://, or a path",
                    shown()
                ));
            }
            let rest = &target[at + 3..];
            rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()))
        }
        _ => ("", target),
    };
    let path = path.split('#').next().unwrap_or_default();
    let bad = |byte: u8| byte <= b' ' || byte == 0x7f;
    if path.bytes().any(bad) || host.bytes().any(bad) {
        return Err(format!(
            "`{}` is not a path: it contains a space or a control character",
            shown()
        ));
    }
    if host.is_empty() && !path.starts_with(['/', '?']) {
        return Err(format!(
            "`{}` is not a path; write one that begins with `/`, or a URL",
            shown()
        ));
    }
    if path.len() > URL_LENGTH_MAX {
        return Err(format!(
            "the path and query have {} bytes; at most {URL_LENGTH_MAX} are accepted",
            path.len()
        ));
    }
    match path.starts_with('/') {
        true => out.start_entry(method, path),
        false => out.start_entry(method, &format!("/{path}")),
    }
    // A name and a password before it are no part of the host.
    let host = match host.rsplit_once('@') {
        Some((_, host)) => {
            out.remark([Remark::Credentials]);
            host
        }
        None => host,
    };
    if !host.is_empty() {
        out.host(host);
    }
    Ok(())
}
