//! The functions of sprig v3, by group.

mod absent;
mod case;
mod convert;
mod dates;
mod deep;
mod defaults;
mod dicts;
mod encoding;
mod floats;
mod hashes;
mod integers;
mod json;
mod lists;
mod paths;
mod random;
mod reflection;
mod regexes;
mod secrets;
mod strings;
mod urls;
mod versions;
mod wrap;

use crate::function::Row;

/// The rows of all groups.
pub(crate) fn rows() -> impl Iterator<Item = &'static Row> {
    [
        absent::FUNCTIONS,
        case::FUNCTIONS,
        convert::FUNCTIONS,
        dates::FUNCTIONS,
        defaults::FUNCTIONS,
        dicts::FUNCTIONS,
        encoding::FUNCTIONS,
        floats::FUNCTIONS,
        hashes::FUNCTIONS,
        integers::FUNCTIONS,
        json::FUNCTIONS,
        lists::FUNCTIONS,
        paths::FUNCTIONS,
        random::FUNCTIONS,
        reflection::FUNCTIONS,
        regexes::FUNCTIONS,
        secrets::FUNCTIONS,
        strings::FUNCTIONS,
        urls::FUNCTIONS,
        wrap::FUNCTIONS,
        versions::FUNCTIONS,
    ]
    .into_iter()
    .flatten()
}

/// Access to arguments. The signature has already checked their types.
mod arguments {
    use crate::value::Map;
    use crate::value::Value;

    /// A `string`.
    pub(super) fn text(args: &[Value], n: usize) -> &str {
        args.get(n).and_then(Value::as_str).unwrap_or_default()
    }

    /// An `int`.
    pub(super) fn int(args: &[Value], n: usize) -> i64 {
        match args.get(n) {
            Some(Value::Int(_, number)) => *number,
            _ => 0,
        }
    }

    /// A `map[string]interface {}`; `None` if it is nil.
    pub(super) fn map(args: &[Value], n: usize) -> Option<&Map> {
        match args.get(n) {
            Some(Value::Map(map)) => Some(map),
            _ => None,
        }
    }
}
