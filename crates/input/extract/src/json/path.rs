//! The tree of a JSON path (RFC 9535). A path has segments, segments have selectors, and a selector
//! may be a filter, which contains paths again.

use crate::number::Number;
use crate::pattern::Pattern;
use crate::relation::Relation;
use std::fmt;

/// A path from the root of a text.
#[derive(Clone, Debug)]
pub(super) struct Path {
    pub(super) segments: Vec<PathSegment>,
}

/// One step of a path, from a value to values within it.
#[derive(Clone, Debug)]
pub(super) struct PathSegment {
    /// Whether the segment also visits all descendants of the value.
    pub(super) descends: bool,
    pub(super) selectors: Vec<Selector>,
}

/// Selects members or elements of a value.
#[derive(Clone, Debug)]
pub(super) enum Selector {
    /// The member with this name.
    Name(Box<str>),
    /// The element with this index; a negative one counts from the end.
    Index(i64),
    /// All members or elements.
    Wildcard,
    /// Some elements.
    Slice(Slice),
    /// The members or elements for which the filter holds.
    Filter(Box<Filter>),
}

/// Every `step`-th element from `start` to before `end`; a negative index counts from the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slice {
    pub(super) start: Option<i64>,
    pub(super) end: Option<i64>,
    pub(super) step: i64,
}

/// A condition for a member or element (RFC 9535, section 2.3.5).
#[derive(Clone, Debug)]
pub(super) enum Filter {
    /// At least one condition holds.
    Any(Vec<Self>),
    /// All conditions hold.
    All(Vec<Self>),
    Not(Box<Self>),
    /// The query has at least one result.
    Exists(Query),
    Compare(Operand, Relation, Operand),
    /// The text matches the expression.
    Matches(Matching),
}

/// A path within a filter.
#[derive(Clone, Debug)]
pub(super) struct Query {
    /// Whether the query begins at `$` instead of `@`.
    pub(super) is_absolute: bool,
    pub(super) segments: Vec<PathSegment>,
}

/// One side of a comparison, or an argument.
#[derive(Clone, Debug)]
pub(super) enum Operand {
    Literal(Literal),
    /// The single value of a query.
    Value(Query),
    /// The length of a text, array or object.
    Length(Box<Self>),
    /// The number of values of a query.
    Count(Query),
    /// The value of a query with exactly one result.
    Only(Query),
}

/// A literal value in a path.
#[derive(Clone, Debug)]
pub(super) enum Literal {
    Null,
    Bool(bool),
    Number(Number),
    Text(Box<str>),
}

/// `match()` and `search()`.
#[derive(Clone, Debug)]
pub(super) struct Matching {
    pub(super) text: Operand,
    pub(super) expression: PatternExpression,
    pub(super) is_whole: bool,
}

/// The expression that a text is matched against.
#[derive(Clone, Debug)]
pub(super) enum PatternExpression {
    /// An expression in the path. Without a pattern it is invalid and matches nothing.
    Fixed(Option<Box<Pattern>>),
    /// An expression in the body.
    Computed(Operand),
}

impl Slice {
    /// The selected indices in an array of `length` (RFC 9535, section 2.3.4.2).
    pub(super) fn indices(self, length: usize) -> impl Iterator<Item = usize> {
        let length = i64::try_from(length).unwrap_or(i64::MAX);
        let is_forward = self.step > 0;
        let (least, greatest) = if is_forward {
            (0, length)
        } else {
            (-1, length - 1)
        };
        let bound = |given: Option<i64>, usual: i64| {
            let given = given.map(|i| if i < 0 { length.saturating_add(i) } else { i });
            given.unwrap_or(usual).clamp(least, greatest)
        };
        let (start, end) = if is_forward {
            (bound(self.start, 0), bound(self.end, length))
        } else {
            (bound(self.start, length - 1), bound(self.end, -1))
        };
        let step = self.step;
        let mut next = (step != 0 && length > 0).then_some(start);
        std::iter::from_fn(move || {
            let index = next?;
            if (is_forward && index >= end) || (!is_forward && index <= end) {
                return None;
            }
            next = index.checked_add(step);
            usize::try_from(index).ok()
        })
    }
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => write!(f, "'{}'", name.escape_debug()),
            Self::Index(index) => write!(f, "{index}"),
            Self::Wildcard => f.write_str("*"),
            Self::Slice(_) => f.write_str("slice"),
            Self::Filter(_) => f.write_str("filter"),
        }
    }
}

impl Path {
    /// Whether the path leads to at most one value.
    pub(super) fn is_singular(&self) -> bool {
        is_singular(&self.segments)
    }
}

/// Whether the segments lead to at most one value.
pub(super) fn is_singular(segments: &[PathSegment]) -> bool {
    segments.iter().all(|segment| {
        !segment.descends
            && matches!(
                segment.selectors[..],
                [Selector::Name(_) | Selector::Index(_)]
            )
    })
}
