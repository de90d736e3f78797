//! The sources of templates beside the request itself: feeds with names.

use crate::{Feed, Order, VARIABLES};
use drumfire_plan::{DataError, RequestContext};
use minijinja::Value;
use std::fmt;

/// The feeds of a run.
#[derive(Debug, Default)]
pub struct Sources {
    feeds: Vec<Source>,
}

/// A feed, its name, and in which order it is gone through.
#[derive(Debug)]
struct Source {
    name: String,
    feed: Feed,
    order: Order,
}

/// Why a feed could not be added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceError {
    /// The name is no identifier: a letter or `_`, then letters, digits and `_`.
    Name(String),
    /// The name is that of a variable, a function or another feed.
    Taken(String),
}

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => write!(
                f,
                "a feed can't be named `{name}`; a name has letters, digits and `_`, and begins \
                 with no digit"
            ),
            Self::Taken(name) => write!(f, "the name `{name}` is taken; give the feed another"),
        }
    }
}

impl std::error::Error for SourceError {}

impl Sources {
    /// No feeds.
    #[must_use]
    pub const fn new() -> Self {
        Self { feeds: Vec::new() }
    }

    /// Adds a feed; a template writes `{{ name.column }}`.
    ///
    /// # Errors
    /// When the name can't be used.
    pub fn add(&mut self, name: &str, feed: Feed, order: Order) -> Result<(), SourceError> {
        if !is_identifier(name) {
            return Err(SourceError::Name(name.to_owned()));
        }
        if VARIABLES.contains(&name) || self.find(name).is_some() {
            return Err(SourceError::Taken(name.to_owned()));
        }
        let name = name.to_owned();
        self.feeds.push(Source { name, feed, order });
        Ok(())
    }

    /// For how many requests there is data: the length of the shortest feed that is gone through
    /// once. `None` when no feed ends.
    #[must_use]
    pub fn count(&self) -> Option<u64> {
        let once = self
            .feeds
            .iter()
            .filter(|source| source.order == Order::OnceEach);
        once.map(|source| source.feed.rows()).min()
    }

    /// The names of the feeds.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.feeds.iter().map(|source| source.name.as_str())
    }

    /// The place of the feed with this name.
    pub(crate) fn find(&self, name: &str) -> Option<usize> {
        self.feeds.iter().position(|source| source.name == name)
    }

    /// The feed in a place.
    pub(crate) fn feed(&self, at: usize) -> Option<&Feed> {
        self.feeds.get(at).map(|source| &source.feed)
    }

    /// The value that a request takes from a feed; undefined if its row lacks it.
    pub(crate) fn cell(
        &self,
        at: usize,
        column: usize,
        call: &RequestContext,
    ) -> Result<&Value, DataError> {
        let Some(source) = self.feeds.get(at) else {
            return Ok(&Value::UNDEFINED);
        };
        let rows = source.feed.rows();
        // Feeds must not take their rows in step with each other.
        let seed = call.seed.wrapping_add(at as u64);
        match source.order.index(seed, call.arrival, rows) {
            Some(row) => Ok(source.feed.cell(row, column)),
            None => Err(DataError(format!(
                "the feed `{}` has {rows} rows and is gone through once; request {} finds none",
                source.name, call.arrival
            ))),
        }
    }
}

fn is_identifier(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes
        .next()
        .is_some_and(|byte| byte == b'_' || byte.is_ascii_alphabetic())
        && bytes.all(|byte| byte == b'_' || byte.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::{SourceError, Sources};
    use crate::{Feed, Order};

    #[test]
    fn names_are_identifiers_and_stand_once() {
        let feed = || Feed::from_csv(b"a\n1\n2\n").unwrap();
        let mut sources = Sources::new();
        for name in ["users", "_u2"] {
            assert_eq!(sources.add(name, feed(), Order::InTurn), Ok(()));
        }
        for name in ["", "2u", "a-b", "ä"] {
            let error = SourceError::Name(name.to_owned());
            assert_eq!(sources.add(name, feed(), Order::InTurn), Err(error));
        }
        for name in ["users", "uuid", "random_int"] {
            let error = SourceError::Taken(name.to_owned());
            assert_eq!(sources.add(name, feed(), Order::InTurn), Err(error));
        }
        assert_eq!(sources.count(), None);
        sources.add("once", feed(), Order::OnceEach).unwrap();
        assert_eq!(sources.count(), Some(2));
    }
}
