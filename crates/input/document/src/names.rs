//! The names of settings: the key in a plan file, and the flag on the command line.
//!
//! A message names a setting as its user wrote it: by the flag on a command line, by the key in a
//! file. The key's row has the flag.

use crate::{Place, flags};

/// The place of a setting set by its flag; [`Place::Nowhere`] if it has no flag.
#[must_use]
pub fn flag(key: &str) -> Place {
    flags::of_key(key).map_or(Place::Nowhere, |row| Place::Flag {
        name: row.flag.name(),
    })
}

/// The name of a setting at a place: its flag on the command line, its key in a file.
pub fn name(place: &Place, key: &str) -> String {
    match (place.is_flag(), flag(key)) {
        (true, Place::Flag { name }) => name.to_owned(),
        _ => format!("`{}`", key.rsplit('.').next().unwrap_or_default()),
    }
}

/// A setting with a value at a place: only the flag, which implies the value, or the key with the
/// value.
pub fn setting(place: &Place, key: &str, value: &str) -> String {
    match (place.is_flag(), flag(key)) {
        (true, Place::Flag { name }) => name.to_owned(),
        _ => format!("`{key}: {value}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::{flag, name, setting};
    use crate::Place;

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
}
