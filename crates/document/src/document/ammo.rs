//! Files of requests as they were written.
//!
//! A file becomes many requests, by one of several formats of other tools; which settings a format
//! takes is the compiler's to say.

use crate::{Count, Switch, Text};

/// A file whose every entry is a request.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ammo {
    /// The file; of lines in the plan, the key that they stand under.
    pub file: Text,
    /// Its lines, where they stand in the plan.
    pub lines: Vec<Text>,
    /// Its format.
    pub format: Option<Text>,
    /// The largest number of requests that are sent.
    pub limit: Option<Count>,
    /// The largest number of times that the file is gone through.
    pub passes: Option<Count>,
    /// The tags of those entries that are used; of all, where there is none.
    pub chosen: Vec<Text>,
    /// Whether the request's own fields stand above the file's of the same name.
    pub override_headers: Option<Switch>,
    /// The number of elements of the path that make a tag, where an entry has none.
    pub auto_tag: Option<Count>,
    /// Whether such a tag is added to those that an entry has.
    pub auto_tag_all: Option<Switch>,
    /// Whether the entries stay in memory, however large the file is.
    pub preload: Option<Switch>,
    /// The factor by which the entries are sent faster than they once were, with their own timing.
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
