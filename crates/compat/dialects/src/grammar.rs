//! How families of tools parse their command lines, independent of the flags of a tool.

pub(crate) mod go_duration;
pub(crate) mod go_flag;
pub(crate) mod go_json;
pub(crate) mod go_number;
pub(crate) mod kingpin;
