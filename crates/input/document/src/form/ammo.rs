//! The keys for a file of requests, which belong to the mapping of a request.

use crate::keys::fields::table;
use crate::keys::{Flag, Group};
use crate::{Ammo, Count, Switch, Text};

table! {
    /// The keys as a mapping contains them. They are read together and separated afterwards,
    /// because a request may have either `ammo` or `ammo_lines`.
    pub(crate) struct AmmoKeys [] {
        ammo: Option<Text> = "File of requests, sent in its order";
        "ammo_lines" => lines: Vec<Text> =
            "Lines of a file of requests, in the plan itself: a list, or one text with several lines";
        format: Option<Text> =
            "Format of the file: `uri`, `uripost`, `raw`, `jsonline`, `access-log`, `har` or `grpc-json`; by default, the file name decides, and lines in the plan are `uri`";
        limit: Option<Count> = "Maximum number of requests to send; the pool then ends";
        passes: Option<Count> =
            "Maximum number of passes through the file; the pool then ends. Without a limit, the file is repeated endlessly";
        chosen: Vec<Text> = "Send only entries with one of these tags";
        override_headers: Option<Switch> =
            "Let the header fields next to `ammo` override the file's; the pool's fields still do not override them";
        auto_tag: Option<Count> =
            "Tag an entry without a tag with this many elements of its path: `2` turns `/a/b/c?d` into `/a/b`";
        auto_tag_all: Option<Switch> =
            "Append the path elements to existing tags, too, after a vertical bar";
        preload: Option<Switch> = "Keep all entries in memory";
        speed: Option<Text> =
            "Send entries at their recorded times instead of at a rate: `1` at the original speed, `2` twice as fast. The file is used once",
            Flag::new(Group::Plan, "--speed <FACTOR>",
                "Replay request files that have their own timing FACTOR times as fast, such as 2");
    } []
}

impl AmmoKeys {
    /// The keys that may accompany `ammo`.
    pub(super) const OTHERS: [&str; 9] = [
        "format",
        "limit",
        "passes",
        "chosen",
        "override_headers",
        "auto_tag",
        "auto_tag_all",
        "preload",
        "speed",
    ];

    /// The file or the lines that the keys contain; both together are a mistake.
    pub(super) fn take(&mut self) -> Vec<Ammo> {
        let lines = self.lines.first();
        let lines = lines.map(|line| Text::new(Ammo::LINES.to_owned(), line.place.clone()));
        let sources: Vec<Text> = self.ammo.iter().cloned().chain(lines).collect();
        if sources.is_empty() {
            return Vec::new();
        }
        let keys = std::mem::take(self);
        sources.into_iter().map(|file| keys.ammo(file)).collect()
    }

    fn ammo(&self, file: Text) -> Ammo {
        let keys = self;
        Ammo {
            file,
            lines: keys.lines.clone(),
            format: keys.format.clone(),
            limit: keys.limit.clone(),
            passes: keys.passes.clone(),
            chosen: keys.chosen.clone(),
            override_headers: keys.override_headers.clone(),
            auto_tag: keys.auto_tag.clone(),
            auto_tag_all: keys.auto_tag_all.clone(),
            preload: keys.preload.clone(),
            speed: keys.speed.clone(),
        }
    }

    /// The keys of a file.
    pub(super) fn from_ammo(ammo: &Ammo) -> Self {
        let ammo = ammo.clone();
        Self {
            ammo: ammo.lines.is_empty().then_some(ammo.file),
            lines: ammo.lines,
            format: ammo.format,
            limit: ammo.limit,
            passes: ammo.passes,
            chosen: ammo.chosen,
            override_headers: ammo.override_headers,
            auto_tag: ammo.auto_tag,
            auto_tag_all: ammo.auto_tag_all,
            preload: ammo.preload,
            speed: ammo.speed,
        }
    }
}
