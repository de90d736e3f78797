//! The parts of shared feeds that each pool takes.
//!
//! Two pools must not take the same row if rows are used once or kept by a user. Pools that read
//! such a feed therefore take its rows in turns, or each pool's rows begin after the rows of the
//! users of earlier pools.
//!
//! The calls come in the plan's order: [`Dealer::sources`] for the next pool, then [`Dealer::made`]
//! with the finished pool, because the next pool needs its number of users. Before any pool is
//! compiled, its texts are searched for the feeds that it reads. The search prefers a false
//! positive: a pool that is dealt rows but takes none leaves some unused, while a pool that takes
//! rows without being dealt any would share them with others.

use crate::scope::Scope;
use drumfire_data::{Deal, Sources};
use drumfire_document::form::{Tree, tree_of};
use drumfire_document::{Feed, Place, Pool};
use std::sync::Arc;

/// The keys whose values are files that may contain templates. The content of these files is not
/// searched.
const FILES: [&str; 4] = ["body_file", "data_file", "metadata_file", "list"];

/// The keys whose values are conditions: expressions without tags.
const CONDITIONS: [&str; 2] = ["if", "until"];

/// The feeds of a document, and the users of the pools made so far.
pub(crate) struct Dealer<'a> {
    feeds: &'a [Feed],
    sources: &'a Arc<Sources>,
    /// One list per pool, in the order of the feeds: true if the pool reads the feed.
    reads: Vec<Vec<bool>>,
    /// The users of each pool made so far; `None` if their number is unbounded.
    users: Vec<Option<u32>>,
}

impl<'a> Dealer<'a> {
    /// The feeds of a document with its pools.
    pub(crate) fn new(feeds: &'a [Feed], sources: &'a Arc<Sources>, pools: &[Pool]) -> Self {
        let of_pool = |pool: &Pool| {
            let tree = tree_of(pool);
            let reads = |feed: &Feed| reads(&tree, &feed.name.value);
            feeds.iter().map(reads).collect()
        };
        Self {
            feeds,
            sources,
            reads: pools.iter().map(of_pool).collect(),
            users: Vec::new(),
        }
    }

    /// The sources of the next pool: each feed with the part that the pool takes.
    pub(crate) fn sources(&self) -> Arc<Sources> {
        let deals = (0..self.feeds.len()).map(|feed| self.deal(feed));
        Arc::new(self.sources.dealt(deals.collect()))
    }

    /// The part of a feed that the next pool takes.
    fn deal(&self, feed: usize) -> Deal {
        let reads = |pool: &usize| self.reads[*pool][feed];
        let next = self.users.len();
        let before = (0..next).filter(reads);
        let users = before.clone().filter_map(|pool| self.users[pool]);
        Deal {
            pools: (0..self.reads.len()).filter(reads).count().max(1) as u32,
            pool: before.count() as u32,
            users_before: users.fold(0, u32::saturating_add),
        }
    }

    /// Records the pool just made, which determines the parts of later pools. `None` means that
    /// the pool could not be made.
    pub(crate) fn made(&mut self, pool: Option<&drumfire_plan::Pool>, scope: &mut Scope<'_>) {
        let users = pool.and_then(drumfire_plan::Pool::users_most);
        if pool.is_some() {
            for feed in 0..self.feeds.len() {
                self.check(feed, users, scope);
            }
        }
        self.users.push(users);
    }

    /// The feeds that no pool reads, with the reason why they have no effect.
    pub(crate) fn idle(&self) -> impl Iterator<Item = (&Place, String)> {
        let feeds = self.feeds.iter().enumerate();
        let idle = feeds.filter(|(feed, _)| !self.reads.iter().any(|reads| reads[*feed]));
        idle.map(|(_, written)| {
            let shown = written.name.value.escape_debug();
            let why = format!("no template contains {{{{{shown}.COLUMN}}}}");
            (&written.name.place, why)
        })
    }

    /// Notes users of a pool for whom the feed has no row.
    fn check(&self, feed: usize, users: Option<u32>, scope: &mut Scope<'_>) {
        let written = &self.feeds[feed];
        let pool = self.users.len();
        let kept = self.sources.rows_kept(&written.name.value);
        let (true, Some(rows)) = (self.reads[pool][feed], kept) else {
            return;
        };
        let place = written
            .order
            .as_ref()
            .map_or(&written.name.place, |order| &order.place);
        let deal = self.deal(feed);
        let Some(users) = users else {
            if deal.pools > 1 {
                let message =
                    "pools that share a feed whose rows users keep need a number of `users`";
                scope.found.add(place, message);
            } else if written.at_end.is_none() {
                let message = format!(
                    "each user keeps a row of the feed, and with only a rate there are as many \
                     users as requests in flight; add `users: {rows}` next to the rate, or \
                     `at_end: fail` here"
                );
                scope.found.add(place, message);
            }
            return;
        };
        let wanted = u64::from(deal.users_before) + u64::from(users);
        if wanted > rows && written.at_end.is_none() {
            let message = format!(
                "{wanted} users keep a row each, and the feed has only {rows}; add rows, or write \
                 `at_end: fail`"
            );
            scope.found.add(place, message);
        }
    }
}

/// Whether a template in a tree may read a feed. Always true for files, because their content is
/// not searched.
fn reads(tree: &Tree, feed: &str) -> bool {
    match tree {
        Tree::Switch(_) => false,
        Tree::Scalar(text) | Tree::Json(text) => names(text, feed),
        Tree::Written { written, value } => names(written, feed) || names(value, feed),
        Tree::List(items) => items.iter().any(|item| reads(item, feed)),
        Tree::Map(entries) => entries.iter().any(|(key, value)| {
            let key = key.as_str();
            FILES.contains(&key)
                || CONDITIONS.contains(&key) && has_word(value, feed)
                || reads(value, feed)
        }),
    }
}

/// Whether a condition contains the feed's name as a word.
fn has_word(condition: &Tree, feed: &str) -> bool {
    match condition {
        Tree::Scalar(text) | Tree::Json(text) => contains_word(text, feed),
        Tree::Written { written, value } => {
            contains_word(written, feed) || contains_word(value, feed)
        }
        Tree::Switch(_) | Tree::List(_) | Tree::Map(_) => false,
    }
}

/// Whether a text has tags and contains the feed's name as a word.
fn names(text: &str, feed: &str) -> bool {
    (text.contains("{{") || text.contains("{%")) && contains_word(text, feed)
}

/// Whether a text contains a word.
fn contains_word(text: &str, word: &str) -> bool {
    let is_letter = |c: char| c == '_' || c.is_alphanumeric();
    text.split(|c| !is_letter(c)).any(|other| other == word)
}
