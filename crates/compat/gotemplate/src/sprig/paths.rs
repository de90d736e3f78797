//! Paths with slashes. On Unix, the functions for operating system paths are the same.

use super::arguments::text;
use crate::function::Row;

pub(super) const FUNCTIONS: &[Row] = &[
    ("base", "s", |call, args| call.text(base(text(args, 0)))),
    ("clean", "s", |call, args| call.text(clean(text(args, 0)))),
    ("dir", "s", |call, args| call.text(dir(text(args, 0)))),
    ("ext", "s", |call, args| call.text(ext(text(args, 0)))),
    ("isAbs", "s", |_, args| {
        Ok(text(args, 0).starts_with('/').into())
    }),
    ("osBase", "s", |call, args| call.text(base(text(args, 0)))),
    ("osClean", "s", |call, args| call.text(clean(text(args, 0)))),
    ("osDir", "s", |call, args| call.text(dir(text(args, 0)))),
    ("osExt", "s", |call, args| call.text(ext(text(args, 0)))),
    ("osIsAbs", "s", |_, args| {
        Ok(text(args, 0).starts_with('/').into())
    }),
];

fn base(path: &str) -> &str {
    if path.is_empty() {
        return ".";
    }
    let path = path.trim_end_matches('/');
    match path.rsplit('/').next() {
        Some("") | None => "/",
        Some(last) => last,
    }
}

fn dir(path: &str) -> String {
    clean(&path[..path.rfind('/').map_or(0, |slash| slash + 1)])
}

fn ext(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or_default();
    name.rfind('.').map_or("", |dot| &name[dot..])
}

/// The shortest equivalent path.
fn clean(path: &str) -> String {
    let rooted = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            ".." if rooted => {}
            part => parts.push(part),
        }
    }
    let joined = parts.join("/");
    match (rooted, joined.is_empty()) {
        (true, _) => format!("/{joined}"),
        (false, true) => ".".to_owned(),
        (false, false) => joined,
    }
}
