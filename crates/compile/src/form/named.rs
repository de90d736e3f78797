//! Mappings whose keys are names that the user gives: pools and feeds.

use super::fields::{Entry, entries, fields, read_fields, show_fields};
use super::node::Node;
use super::tree::Tree;
use crate::diagnostic::Findings;
use drumfire_plan::document::{Feed, FeedForm, Place, Placed, Pool, Text};

impl Entry for Vec<Pool> {
    fn read(node: &Placed<Node>, found: &mut Findings) -> Self {
        let entries = entries(node, "`pools`", found).iter();
        entries
            .map(|(name, node)| Pool {
                name: name.clone(),
                ..read_fields(node, "a pool", found)
            })
            .collect()
    }

    fn show(&self) -> Option<Tree> {
        let pools = self.iter().map(|pool| {
            let tree = show_fields(pool).unwrap_or_else(|| Tree::Map(Vec::new()));
            (pool.name.value.clone(), tree)
        });
        (!self.is_empty()).then(|| Tree::Map(pools.collect()))
    }

    fn fill(&mut self, _: &Self) {}

    fn place(&self) -> Option<&Place> {
        self.first().map(|pool| &pool.name.place)
    }
}

/// A feed's keys, as they stand in a mapping.
#[derive(Debug, Default)]
pub(super) struct FeedKeys {
    csv: Option<Text>,
    jsonl: Option<Text>,
    order: Option<Text>,
    at_end: Option<Text>,
}

fields!(FeedKeys {
    "csv" => csv,
    "jsonl" => jsonl,
    "order" => order,
    "at_end" => at_end,
});

impl FeedKeys {
    /// The feed that the keys make.
    fn feed(self, name: Text, found: &mut Findings) -> Option<Feed> {
        let (form, file) = match (self.csv, self.jsonl) {
            (Some(file), None) => (FeedForm::Csv, file),
            (None, Some(file)) => (FeedForm::JsonLines, file),
            _ => {
                found.add(&name.place, "a feed has one of `csv` and `jsonl`");
                return None;
            }
        };
        Some(Feed {
            name,
            form,
            file,
            order: self.order,
            at_end: self.at_end,
        })
    }

    /// The keys that make a feed.
    fn of(feed: &Feed) -> Self {
        let file = |form| (feed.form == form).then(|| feed.file.clone());
        Self {
            csv: file(FeedForm::Csv),
            jsonl: file(FeedForm::JsonLines),
            order: feed.order.clone(),
            at_end: feed.at_end.clone(),
        }
    }
}

impl Entry for Vec<Feed> {
    fn read(node: &Placed<Node>, found: &mut Findings) -> Self {
        let mut feeds = Self::new();
        for (name, node) in entries(node, "`feeds`", found) {
            let keys: FeedKeys = read_fields(node, "a feed", found);
            feeds.extend(keys.feed(name.clone(), found));
        }
        feeds
    }

    fn show(&self) -> Option<Tree> {
        let feeds = self.iter().filter_map(|feed| {
            show_fields(&FeedKeys::of(feed)).map(|tree| (feed.name.value.clone(), tree))
        });
        (!self.is_empty()).then(|| Tree::Map(feeds.collect()))
    }

    fn fill(&mut self, _: &Self) {}

    fn place(&self) -> Option<&Place> {
        self.first().map(|feed| &feed.name.place)
    }
}
