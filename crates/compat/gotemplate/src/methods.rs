//! The methods of Go types that templates may call.

mod times;
mod versions;

use crate::function::Row;
use crate::value::Value;

/// The methods of a value's type; their signatures omit the receiver.
pub(crate) const fn methods(value: &Value) -> &'static [Row] {
    match value {
        Value::Time(_) => times::METHODS,
        Value::Version(_) => versions::METHODS,
        Value::Int(kind, _) => times::int_methods(*kind),
        _ => &[],
    }
}
