//! The sources of templates beside the request itself: feeds with names.

use crate::names::{LANGUAGE, VARIABLES};
use crate::{Deal, Feed, FeedOrder};
use drumfire_plan::{DataError, PlanFunctions, RequestContext, VariableId};
use minijinja::Value;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// The most variables of a scenario.
pub const VARIABLES_MAX: usize = 1_000;

/// The feeds of a run, and the variables of a scenario as far as its steps have set them.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    feeds: Vec<Arc<Source>>,
    /// What the pool takes of each feed; all of those beyond the list's end.
    deals: Arc<[Deal]>,
    variables: Vec<Variable>,
    asked_for: AskedFor,
    /// The functions that the plan brings.
    functions: Option<Arc<dyn PlanFunctions>>,
    /// Names of values that a plan has and templates lack, each with the reference to it.
    references: Arc<BTreeMap<String, String>>,
}

/// A variable that a step of a scenario sets.
#[derive(Clone, Debug)]
struct Variable {
    name: Arc<str>,
    /// Whether a step before this place sets it.
    is_set: bool,
}

/// What a template is part of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum AskedFor {
    #[default]
    Requests,
    /// The value of a variable, which is computed when no request is made yet.
    Values,
}

/// A feed, its name, and in which order it is gone through.
#[derive(Debug)]
struct Source {
    name: String,
    feed: Feed,
    order: FeedOrder,
}

impl Source {
    /// An error of the feed, with its name.
    fn named(&self, error: DataError) -> DataError {
        error.in_words(|words| format!("the feed `{}`: {words}", self.name))
    }
}

/// Why a feed could not be added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceError {
    /// The name is no identifier: a letter or `_`, then letters, digits and `_`.
    Name(String),
    /// The name is that of a variable, a function or another feed, or a word of the language.
    Taken(String),
    /// There are too many variables already.
    TooMany,
}

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => write!(
                f,
                "`{name}` can't be a name in templates; use letters, digits and `_`, and do not \
                 begin with a digit"
            ),
            Self::Taken(name) => {
                write!(f, "templates already have `{name}`; choose another name")
            }
            Self::TooMany => write!(f, "a scenario has at most {VARIABLES_MAX} variables"),
        }
    }
}

impl std::error::Error for SourceError {}

impl Sources {
    /// No feeds.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The same sources with functions, which a template calls as `js('name', …)`.
    #[must_use]
    pub fn with_functions(self, functions: Arc<dyn PlanFunctions>) -> Self {
        Self {
            functions: Some(functions),
            ..self
        }
    }

    /// The same sources of a plan that has values with these names, each behind its reference such as
    /// `${token}`: for the words on a template that reads one.
    #[must_use]
    pub fn with_references(self, references: BTreeMap<String, String>) -> Self {
        Self {
            references: Arc::new(references),
            ..self
        }
    }

    /// The reference to the plan's value of this name.
    pub(crate) fn reference(&self, name: &str) -> Option<&str> {
        self.references.get(name).map(String::as_str)
    }

    /// The functions that the plan brings.
    pub(crate) const fn functions(&self) -> Option<&Arc<dyn PlanFunctions>> {
        self.functions.as_ref()
    }

    /// Adds a feed; a template writes `{{ name.column }}`.
    ///
    /// # Errors
    /// When the name can't be used.
    pub fn add(
        &mut self,
        name: &str,
        feed: Feed,
        order: impl Into<FeedOrder>,
    ) -> Result<(), SourceError> {
        self.check_name(name)?;
        let (name, order) = (name.to_owned(), order.into());
        self.feeds.push(Arc::new(Source { name, feed, order }));
        Ok(())
    }

    /// Whether a feed or a variable may have this name.
    fn check_name(&self, name: &str) -> Result<(), SourceError> {
        if !is_identifier(name) {
            return Err(SourceError::Name(name.to_owned()));
        }
        let words = VARIABLES.iter().chain(&LANGUAGE);
        if words.into_iter().any(|word| *word == name)
            || self.find(name).is_some()
            || self.declared(name).is_some()
        {
            return Err(SourceError::Taken(name.to_owned()));
        }
        Ok(())
    }

    /// Adds a variable that some step sets; a template behind that step writes `{{ name }}`. One
    /// that several steps set is the same.
    ///
    /// # Errors
    /// When the name can't be used, or there are too many variables.
    pub fn declare(&mut self, name: &str) -> Result<(), SourceError> {
        if self.declared(name).is_some() {
            return Ok(());
        }
        self.check_name(name)?;
        if self.variables.len() == VARIABLES_MAX {
            return Err(SourceError::TooMany);
        }
        self.variables.push(Variable {
            name: name.into(),
            is_set: false,
        });
        Ok(())
    }

    /// The variable with this name, whether it is set yet or not.
    #[must_use]
    pub fn declared(&self, name: &str) -> Option<VariableId> {
        let mut names = self.variables.iter().map(|variable| &*variable.name);
        let at = names.position(|known| known == name)?;
        u16::try_from(at).ok().map(VariableId)
    }

    /// Whether a step before this place sets a variable.
    #[must_use]
    pub fn is_set(&self, id: VariableId) -> bool {
        let variable = self.variables.get(usize::from(id.0));
        variable.is_some_and(|variable| variable.is_set)
    }

    /// The same sources behind a step that sets a variable.
    #[must_use]
    pub fn with_set(&self, id: VariableId) -> Self {
        let mut sources = self.clone();
        if let Some(variable) = sources.variables.get_mut(usize::from(id.0)) {
            variable.is_set = true;
        }
        sources
    }

    /// The same sources behind two ways, of which the other sets these variables.
    #[must_use]
    pub fn with_all_of(&self, other: &Self) -> Self {
        let mut sources = self.clone();
        for (variable, other) in sources.variables.iter_mut().zip(&other.variables) {
            variable.is_set |= other.is_set;
        }
        sources
    }

    /// How many variables there are, set or not.
    #[must_use]
    pub const fn declared_count(&self) -> usize {
        self.variables.len()
    }

    /// The same sources for the value of a variable: without what only a request has.
    #[must_use]
    pub fn for_values(&self) -> Self {
        Self {
            asked_for: AskedFor::Values,
            ..self.clone()
        }
    }

    /// The variable with this name, where a step before sets it.
    pub(crate) fn variable(&self, name: &str) -> Option<VariableId> {
        let id = self.declared(name)?;
        self.is_set(id).then_some(id)
    }

    /// Whether a variable of every template is not known where these sources are asked.
    pub(crate) fn lacks(&self, name: &str) -> bool {
        self.asked_for == AskedFor::Values && ["connection", "message_number"].contains(&name)
    }

    /// The same sources for a pool that takes these parts of the feeds, in their order.
    #[must_use]
    pub fn dealt(&self, deals: Vec<Deal>) -> Self {
        Self {
            deals: deals.into(),
            ..self.clone()
        }
    }

    /// How many rows a feed has of which each user keeps one; `None` if it is none such.
    #[must_use]
    pub fn rows_kept(&self, name: &str) -> Option<u64> {
        let source = self.feeds.get(self.find(name)?)?;
        (source.order == FeedOrder::PerUser).then(|| source.feed.rows())
    }

    fn deal(&self, at: usize) -> Deal {
        self.deals.get(at).copied().unwrap_or_default()
    }

    /// For how many requests there are rows of these feeds: of the shortest that ends the run.
    /// `None` when none does.
    pub(crate) fn count(&self, feeds: &[usize]) -> Option<u64> {
        let counts = feeds.iter().filter_map(|&at| {
            let source = self.feeds.get(at)?;
            source.order.count(self.deal(at), source.feed.rows())
        });
        counts.min()
    }

    /// The remarks on these feeds, each with the feed's name.
    pub(crate) fn notes(&self, feeds: &[usize]) -> Vec<String> {
        let sources = feeds.iter().filter_map(|&at| self.feeds.get(at));
        let notes = sources.filter_map(|source| {
            let note = source.feed.note()?;
            Some(format!("the feed `{}`: {note}", source.name))
        });
        notes.collect()
    }

    /// The names of the variables that are set.
    pub(crate) fn variables(&self) -> impl Iterator<Item = &str> {
        let set = self.variables.iter().filter(|variable| variable.is_set);
        set.map(|variable| &*variable.name)
    }

    /// Whether a feed or a variable has this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.find(name).is_some() || self.declared(name).is_some()
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

    /// The feed and the column that a name stands for: `feed.column`, or `feed` where that has one
    /// column.
    pub(crate) fn column(&self, name: &str) -> Option<(usize, usize)> {
        let (feed, column) = match name.split_once('.') {
            Some((feed, column)) => (feed, Some(column)),
            None => (name, None),
        };
        let at = self.find(feed)?;
        let feed = self.feed(at)?;
        let column = match column {
            Some(column) => feed.column(column)?,
            None => feed.is_single().then_some(0)?,
        };
        Some((at, column))
    }

    /// The value that a request takes from a feed; undefined if its row lacks it.
    pub(crate) fn value(
        &self,
        at: usize,
        column: usize,
        request: &RequestContext,
    ) -> Result<Value, DataError> {
        let Some(source) = self.feeds.get(at) else {
            return Ok(Value::UNDEFINED);
        };
        let row = self.row(at, source, request)?;
        let value = source.feed.value(row, column);
        value.map_err(|error| source.named(error))
    }

    /// Appends the text that a request takes from a plain column of a feed.
    pub(crate) fn push(
        &self,
        at: usize,
        column: usize,
        request: &RequestContext,
        out: &mut String,
    ) -> Result<(), DataError> {
        let Some(source) = self.feeds.get(at) else {
            return Ok(());
        };
        let row = self.row(at, source, request)?;
        let pushed = source.feed.push(row, column, out);
        pushed.map_err(|error| source.named(error))
    }

    /// The row of a feed that a request takes.
    fn row(&self, at: usize, source: &Source, request: &RequestContext) -> Result<u64, DataError> {
        // Feeds must not take their rows in step with each other.
        let seed = request.seed.wrapping_add(at as u64);
        let row = source
            .order
            .row(self.deal(at), seed, request, source.feed.rows());
        row.map_err(|error| error.in_words(|words| format!("the feed `{}` {words}", source.name)))
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
    use crate::{CsvForm, Feed, Order};

    #[test]
    fn names_are_identifiers_and_stand_once() {
        let feed = || Feed::from_csv(b"a\n1\n2\n", &CsvForm::default()).unwrap();
        let mut sources = Sources::new();
        for name in ["users", "_u2"] {
            assert_eq!(sources.add(name, feed(), Order::InTurn), Ok(()));
        }
        for name in ["", "2u", "a-b", "ä"] {
            let error = SourceError::Name(name.to_owned());
            assert_eq!(sources.add(name, feed(), Order::InTurn), Err(error));
        }
        for name in ["users", "uuid", "random_int", "range", "true"] {
            let error = SourceError::Taken(name.to_owned());
            assert_eq!(sources.add(name, feed(), Order::InTurn), Err(error));
        }
        assert_eq!(
            sources.declare("users"),
            Err(SourceError::Taken("users".to_owned()))
        );
        assert_eq!(sources.declare("order"), Ok(()));
        assert_eq!(sources.declare("order"), Ok(()));
        let error = SourceError::Taken("order".to_owned());
        assert_eq!(sources.add("order", feed(), Order::InTurn), Err(error));
        assert_eq!(sources.count(&[0, 1]), None);
        sources.add("once", feed(), Order::OnceEach).unwrap();
        assert_eq!(sources.count(&[0, 2]), Some(2));
        assert_eq!(sources.count(&[0]), None);
    }
    #[test]
    fn a_variable_is_known_behind_the_step_that_sets_it() {
        let mut sources = Sources::new();
        sources.declare("a").unwrap();
        sources.declare("b").unwrap();
        let b = sources.declared("b").expect("it was declared");
        let behind = sources.with_set(b);
        assert_eq!(
            (sources.variable("b"), behind.variable("b")),
            (None, Some(b))
        );
        assert_eq!(behind.variable("a"), None);
        assert!(behind.for_values().lacks("connection"));
        assert!(!behind.lacks("connection") && !behind.for_values().lacks("uuid"));
        for n in 2..super::VARIABLES_MAX {
            sources.declare(&format!("v{n}")).unwrap();
        }
        assert_eq!(sources.declare("one_more"), Err(SourceError::TooMany));
        assert_eq!(sources.declare("v7"), Ok(()));
    }
}
