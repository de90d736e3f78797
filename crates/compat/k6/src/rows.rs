//! Samples as rows: `--out json` and `--out csv`.
//!
//! A row is appended to a buffer of the caller. Nothing is kept but which metrics were described already, so
//! that the memory does not grow with the run.

mod csv;
mod json;

pub use csv::{CsvRows, CsvTarget, TimeFormat};
pub use json::JsonRows;

/// The system tags that samples have by default, in the order of their names.
pub const SYSTEM_TAGS: [&str; 14] = [
    "check",
    "error",
    "error_code",
    "expected_response",
    "group",
    "method",
    "name",
    "proto",
    "scenario",
    "service",
    "status",
    "subproto",
    "tls_version",
    "url",
];

#[cfg(test)]
mod tests;
