//! Files of requests as they were written.

use super::{Count, Switch, Text};

/// A file whose every entry is a request.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ammo {
    /// The file; of lines in the plan, the key that they stand under.
    pub file: Text,
    /// Its lines, where they stand in the plan.
    pub lines: Vec<Text>,
    /// Its format.
    pub format: Option<Text>,
    /// How many requests are sent at most.
    pub limit: Option<Count>,
    /// How often the file is gone through at most.
    pub passes: Option<Count>,
    /// The tags of those entries that are used; of all, where there is none.
    pub chosen: Vec<Text>,
    /// Whether the request's own fields stand above the file's of the same name.
    pub override_headers: Option<Switch>,
    /// How many elements of the path make a tag, where an entry has none.
    pub auto_tag: Option<Count>,
    /// Whether such a tag is added to those that there are.
    pub auto_tag_all: Option<Switch>,
    /// Whether the entries stay in memory, however large the file is.
    pub preload: Option<Switch>,
    /// How much faster than they once were the entries are sent, with their own timing.
    pub speed: Option<Text>,
}

impl Ammo {
    /// The key of lines in the plan.
    pub const LINES: &str = "ammo_lines";
    /// The format of files of gRPC calls.
    pub const CALLS: &str = "grpc-json";

    /// Whether its entries are gRPC calls.
    #[must_use]
    pub fn has_calls(&self) -> bool {
        let format = self.format.as_ref();
        format.is_some_and(|format| format.value == Self::CALLS)
    }
}
