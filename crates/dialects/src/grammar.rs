//! How a family of tools reads its command line, apart from which flags a tool has.

pub(crate) mod go_duration;
pub(crate) mod go_flag;
pub(crate) mod go_json;
pub(crate) mod go_number;
pub(crate) mod kingpin;
