//! The keys of a file of requests, which stand beside those of a request.

use super::fields::fields;
use crate::{Ammo, Count, Switch, Text};

/// The keys, as they stand in a mapping. They are read in one go and taken apart afterwards, for a
/// request may have one of `ammo` and `ammo_lines`.
#[derive(Debug, Default)]
pub(super) struct AmmoKeys {
    ammo: Option<Text>,
    lines: Vec<Text>,
    format: Option<Text>,
    limit: Option<Count>,
    passes: Option<Count>,
    chosen: Vec<Text>,
    override_headers: Option<Switch>,
    auto_tag: Option<Count>,
    auto_tag_all: Option<Switch>,
    preload: Option<Switch>,
    speed: Option<Text>,
}

fields!(AmmoKeys {
    "ammo" => ammo: "A file of requests, sent in its order",
    "ammo_lines" => lines: "The lines of such a file, in the plan itself",
    "format" => format:
        "The file's form: uri, uripost, raw, jsonline, access-log, har or grpc-json",
    "limit" => limit: "How many requests are sent at most",
    "passes" => passes: "How often the file is gone through at most",
    "chosen" => chosen: "The tags whose entries are sent",
    "override_headers" => override_headers:
        "Whether the request's own header fields stand above those of the file",
    "auto_tag" => auto_tag: "How many elements of its path are the tag of an entry without one",
    "auto_tag_all" => auto_tag_all: "Whether entries with a tag get these elements, too",
    "preload" => preload: "Whether all entries are kept in memory",
    "speed" => speed: "Sends entries at their own times; 2 is twice as fast",
});

impl AmmoKeys {
    /// The keys beside `ammo`.
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

    /// The file that the keys name, and the lines that they have: one of both, or a mistake.
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

    /// The keys that name a file.
    pub(super) fn of(ammo: &Ammo) -> Self {
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
