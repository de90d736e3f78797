//! Rows of sources that steps take in turn or at random. As in Pandora, each use of `[next]` takes
//! the row after the previous use's row, and each scenario counts its own uses.

use super::File;
use super::named::Named;
use crate::pandora::TOOL;
use drumfire_document::Feed;
use std::collections::BTreeMap;

/// A counter of Pandora: its scenario, and the path up to the bracket.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Counter {
    owner: usize,
    path: String,
}

/// A use of `[next]` in a scenario, and the feed for its rows.
#[derive(Clone, Debug)]
struct CounterUse {
    counter: Counter,
    scenario: usize,
    feed: String,
}

/// The feeds of rows; each use has a separate feed.
#[derive(Clone, Debug, Default)]
pub(super) struct RowFeeds {
    /// The prefix of the feeds' names.
    prefix: String,
    feeds: BTreeMap<String, Feed>,
    uses: Vec<CounterUse>,
    /// The scenario whose counters a request's steps use, for any scenario that contains the steps:
    /// the last scenario that refers to the request.
    owners: BTreeMap<String, usize>,
    /// The current scenario.
    scenario: usize,
    /// The scenario whose counters are currently used.
    owner: usize,
}

impl RowFeeds {
    /// Creates the turns of a pool.
    pub(super) fn of_pool(pool: usize) -> Self {
        let prefix = match pool {
            0 => "src".to_owned(),
            pool => format!("src{pool}"),
        };
        Self {
            prefix,
            ..Self::default()
        }
    }

    /// Sets the owners from a file's scenarios.
    pub(super) fn with_owners(mut self, file: &File) -> Self {
        for (number, scenario) in file.scenarios.iter().enumerate() {
            for text in &scenario.requests {
                let named = Named::read(text).map(|named| named.name.to_owned());
                self.owners.extend(named.ok().map(|name| (name, number)));
            }
        }
        self
    }

    /// Begins the steps of a scenario.
    pub(super) const fn enter_scenario(&mut self, number: usize) {
        self.scenario = number;
    }

    /// Begins the mapping of a request.
    pub(super) fn enter_request(&mut self, name: &str) {
        self.owner = self.owners.get(name).copied().unwrap_or(self.scenario);
    }

    /// Adds a feed for the next row of a list, and returns its name.
    pub(super) fn next(&mut self, path: &str, feed: Feed) -> String {
        let feed = self.add_feed(path, "", feed);
        self.uses.push(CounterUse {
            counter: Counter {
                owner: self.owner,
                path: path.to_owned(),
            },
            scenario: self.scenario,
            feed: feed.clone(),
        });
        feed
    }

    /// Adds a feed for a random row of a list, and returns its name.
    pub(super) fn any(&mut self, path: &str, feed: Feed) -> String {
        let order = Some(TOOL.text("variable_source", &"random"));
        self.add_feed(path, "_rand", Feed { order, ..feed })
    }

    fn add_feed(&mut self, path: &str, end: &str, feed: Feed) -> String {
        let name = format!("{}_{}{end}", self.prefix, super::known::identifier(path));
        let is_free = |name: &String| !self.feeds.contains_key(name);
        let more = (2..).map(|n: usize| format!("{name}_{n}"));
        let name = std::iter::once(name.clone()).chain(more).find(is_free);
        let name = name.unwrap_or_default();
        let feed = Feed {
            name: TOOL.text("variable_source", &name),
            ..feed
        };
        self.feeds.insert(name.clone(), feed);
        name
    }

    /// The feeds, with orders that give each use its rows. Scenarios come in blocks, and a block
    /// contains each scenario as often as its share.
    pub(super) fn into_feeds(mut self, shares: &[u64]) -> Vec<Feed> {
        let before = |of: &dyn Fn(usize) -> u64, end: usize| {
            (0..end).fold(0, |sum: u64, n| sum.saturating_add(of(n)))
        };
        let share = |n: usize| shares.get(n).copied().unwrap_or(1);
        let block = before(&share, shares.len().max(1));
        for (n, used) in self.uses.iter().enumerate() {
            let same = |other: &&CounterUse| other.counter == used.counter;
            let uses = |scenario: usize| {
                let of = |other: &&CounterUse| same(other) && other.scenario == scenario;
                self.uses.iter().filter(of).count() as u64
            };
            let rows = |scenario: usize| share(scenario).saturating_mul(uses(scenario));
            let earlier = self.uses[..n].iter().filter(same);
            let place = earlier.filter(|other| other.scenario == used.scenario);
            let each = uses(used.scenario);
            let ahead = before(&rows, used.scenario) + place.count() as u64;
            let passed = before(&share, used.scenario).saturating_mul(each);
            let first = i128::from(ahead) - i128::from(passed);
            let total = before(&rows, shares.len().max(1));
            let order = match (total == block && each == 1 && first == 0, block) {
                (true, _) => "in_order".to_owned(),
                // With a block of 1, each iteration is a separate block.
                (false, 1) => format!("in_order(1, {total}, 0, {first})"),
                (false, block) => format!("in_order({block}, {total}, {each}, {first})"),
            };
            if let Some(feed) = self.feeds.get_mut(&used.feed) {
                feed.order = Some(TOOL.text("variable_source", &order));
            }
        }
        self.feeds.into_values().collect()
    }
}
