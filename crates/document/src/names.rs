//! The names of settings: the key in a plan file, and the flag on the command line.
//!
//! A message names a setting as its user knows it: by the flag on a command line, by the key in a
//! file. The flags themselves are defined by the command line. Which of them sets a key stands in
//! the key's row (`form/tables.rs` and its neighbours); a key without one there is set by none.

use crate::form::{AmmoKeys, BODY, Coding, DATA, FeedKeys, Fields as _, RequestKeys};
use crate::{
    CallOptions, CommonBody, CommonFields, Connections, Document, Expect, Generator, Http, Load,
    Monitoring, Outputs, Place, Reach, Reflection, Schema, Settings, Stop, Stream, Timeouts, Tls,
};

/// The tables of keys that flags set, each with the key that holds its keys where one of those has
/// the name of another.
const TABLES: &[(&str, &[(&str, &str)])] = &[
    ("", AmmoKeys::FLAGS),
    ("", BODY.flags),
    ("", CallOptions::FLAGS),
    ("", Coding::FLAGS),
    ("", CommonBody::FLAGS),
    ("", CommonFields::FLAGS),
    ("", Connections::FLAGS),
    ("", DATA.flags),
    ("", Document::FLAGS),
    ("", Generator::FLAGS),
    ("", Http::FLAGS),
    ("", Load::FLAGS),
    ("", Monitoring::FLAGS),
    ("", Outputs::FLAGS),
    ("", Reach::FLAGS),
    ("", RequestKeys::FLAGS),
    ("", Schema::FLAGS),
    ("", Settings::FLAGS),
    ("", Stop::FLAGS),
    ("", Timeouts::FLAGS),
    ("", Tls::FLAGS),
    ("expect", Expect::FLAGS),
    ("feeds", FeedKeys::FLAGS),
    ("reflection", Reflection::FLAGS),
    ("stream", Stream::FLAGS),
];

/// The flag that sets a key, which has the key that holds it before a dot where its own name is
/// another's too: `stream.interval`.
fn flag_of(key: &str) -> Option<&'static str> {
    let (holder, key) = key.rsplit_once('.').unwrap_or(("", key));
    let tables = TABLES.iter().filter(|(name, _)| *name == holder);
    let mut rows = tables.flat_map(|(_, rows)| *rows);
    rows.find(|(known, _)| *known == key).map(|(_, flag)| *flag)
}

/// The place of a setting that a flag made; nowhere, where no flag does.
#[must_use]
pub fn flag(key: &str) -> Place {
    flag_of(key).map_or(Place::Nowhere, |name| Place::Flag { name })
}

/// A setting by its name at a place: its flag on the command line, its key in a file.
pub fn name(place: &Place, key: &str) -> String {
    match (place.is_flag(), flag(key)) {
        (true, Place::Flag { name }) => name.to_owned(),
        _ => format!("`{}`", key.rsplit('.').next().unwrap_or_default()),
    }
}

/// The same for a setting with a value: a flag alone implies it.
pub fn setting(place: &Place, key: &str, value: &str) -> String {
    match (place.is_flag(), flag(key)) {
        (true, Place::Flag { name }) => name.to_owned(),
        _ => format!("`{key}: {value}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::{TABLES, flag, name, setting};
    use crate::Place;
    use std::collections::HashSet;

    #[test]
    fn a_setting_is_named_as_it_was_written() {
        let file = Place::File {
            name: "p".into(),
            line: 1,
            column: 1,
            key: "data".into(),
        };
        assert_eq!(name(&flag("data"), "binary"), "--binary");
        assert_eq!(name(&file, "stream.count"), "`count`");
        assert_eq!(setting(&Place::Nowhere, "binary", "true"), "--binary");
        assert_eq!(setting(&file, "binary", "true"), "`binary: true`");
        assert_eq!(flag("nonsense"), Place::Nowhere);
    }

    /// A key that two tables have would get the flag of the first.
    #[test]
    fn a_key_has_one_row() {
        let mut seen = HashSet::new();
        for (holder, rows) in TABLES {
            for (key, flag) in *rows {
                assert!(seen.insert((holder, key)), "{holder} {key}");
                assert!(flag.starts_with('-'), "{flag}");
            }
        }
        let flag = |key: &str| super::flag_of(key);
        assert_eq!(flag("interval"), Some("--interval"));
        assert_eq!(flag("stream.interval"), Some("--stream-interval"));
        assert_eq!(flag("pace"), None);
    }
}
