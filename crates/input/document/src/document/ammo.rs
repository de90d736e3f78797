//! Files of requests, as written.
//!
//! A file becomes many requests, in one of several formats of other tools. The compiler decides
//! which settings a format supports.

use crate::{Count, Switch, Text};

/// A file in which every entry is a request.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ammo {
    /// The file; for lines in the plan, the key of the lines.
    pub file: Text,
    /// The lines, if the plan contains them.
    pub lines: Vec<Text>,
    /// The format of the file.
    pub format: Option<Text>,
    /// The maximum number of requests to send.
    pub limit: Option<Count>,
    /// The maximum number of passes through the file.
    pub passes: Option<Count>,
    /// The tags of the entries to use; empty means all entries.
    pub chosen: Vec<Text>,
    /// Whether the request's fields override the file's fields of the same names.
    pub override_headers: Option<Switch>,
    /// The number of path elements that form the tag of an entry without a tag.
    pub auto_tag: Option<Count>,
    /// Whether this tag is added to the existing tags of an entry.
    pub auto_tag_all: Option<Switch>,
    /// Whether the entries stay in memory, for files of any size.
    pub preload: Option<Switch>,
    /// The factor by which the entries are sent faster than their recorded times.
    pub speed: Option<Text>,
}

impl Ammo {
    /// The key for lines in the plan.
    pub const LINES: &str = "ammo_lines";
    /// The format of files of gRPC calls.
    pub const CALLS: &str = "grpc-json";

    /// Whether the entries are gRPC calls.
    #[must_use]
    pub fn has_calls(&self) -> bool {
        let format = self.format.as_ref();
        format.is_some_and(|format| format.value == Self::CALLS)
    }
}
