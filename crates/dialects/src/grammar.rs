//! How a family of tools reads its command line, apart from which flags a tool has.

pub(crate) mod go_flag;
pub(crate) mod go_number;
