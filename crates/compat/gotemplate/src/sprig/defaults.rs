//! Defaults for empty values, and `fail`.

use super::arguments::text;
use crate::function::Row;
use crate::value::Value;

pub(super) const FUNCTIONS: &[Row] = &[
    ("all", "a*", |_, args| {
        Ok((!args.iter().any(is_empty)).into())
    }),
    ("any", "a*", |_, args| {
        Ok((!args.iter().all(is_empty)).into())
    }),
    ("coalesce", "a*", |_, args| {
        let found = args.iter().find(|value| !is_empty(value));
        Ok(found.cloned().unwrap_or(Value::Nil))
    }),
    ("default", "aa*", |_, args| {
        let given = args.get(1).filter(|value| !is_empty(value));
        Ok(given.unwrap_or(&args[0]).clone())
    }),
    ("empty", "a", |_, args| Ok(is_empty(&args[0]).into())),
    ("fail", "s", |_, args| Err(text(args, 0).to_owned().into())),
    ("ternary", "aab", |_, args| {
        let chosen = if args[2].is_true() { 0 } else { 1 };
        Ok(args[chosen].clone())
    }),
];

/// Whether the value is missing, nil, zero, false or has no length.
pub(super) fn is_empty(value: &Value) -> bool {
    !value.is_true()
}
