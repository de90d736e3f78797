//! Decides whether a filter holds for a value.

use super::Walk;
use crate::NoValue;
use crate::json::children::{Children, find, find_one};
use crate::json::path::{
    Filter, Literal, Matching, Operand, PatternExpression, Query, Selector, is_singular,
};
use crate::json::scan::{BrokenJson, Scanner};
use crate::json::text::unescape;
use crate::number::Number;
use crate::pattern::Pattern;
use crate::relation::Relation;
use std::borrow::Cow;
use std::cmp::Ordering;
use std::ops::ControlFlow;

/// The maximum nesting depth of compared values.
const DEPTH_MAX: usize = 256;
/// The cost of compiling an expression from a body, in scanned bytes.
const COMPILATION: usize = 1 << 18;

/// The positions at which the queries of a filter begin.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// The text's value, `$`.
    pub(super) root: usize,
    /// The member or element, `@`.
    pub(super) current: usize,
}

/// A value in a comparison.
enum Item<'a> {
    Nothing,
    Null,
    Bool(bool),
    Number(Number),
    Text(Cow<'a, str>),
    /// An object or array, and its position.
    Nested(usize),
}

/// Whether the filter holds.
pub(super) fn holds(
    filter: &Filter,
    scanner: &mut Scanner<'_>,
    place: Place,
) -> Result<bool, NoValue> {
    match filter {
        Filter::Any(parts) => {
            for part in parts {
                if holds(part, scanner, place)? {
                    return Ok(true);
                }
            }
            Ok(false)
        }
        Filter::All(parts) => {
            for part in parts {
                if !holds(part, scanner, place)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        Filter::Not(inner) => Ok(!holds(inner, scanner, place)?),
        Filter::Exists(query) => Ok(count(query, scanner, place, 1)?.is_some()),
        Filter::Compare(left, relation, right) => {
            let left = evaluate(left, scanner, place)?;
            let right = evaluate(right, scanner, place)?;
            // Values without an order are only unequal.
            let order = compare(&left, &right, scanner)?;
            Ok(order.map_or(*relation == Relation::Unequal, |order| {
                relation.holds(order)
            }))
        }
        Filter::Matches(matching) => matches(matching, scanner, place),
    }
}

/// The values of a query.
struct Found {
    count: usize,
    last: usize,
}

/// At most the first `limit` values of a query; `None` without values.
fn count(
    query: &Query,
    scanner: &mut Scanner<'_>,
    place: Place,
    limit: usize,
) -> Result<Option<Found>, NoValue> {
    let start = if query.is_absolute {
        place.root
    } else {
        place.current
    };
    if is_singular(&query.segments) {
        let last = find_one(&query.segments, scanner, start)?;
        return Ok(last.map(|last| Found { count: 1, last }));
    }
    let mut found = None;
    let mut visit = |last| {
        let before = found.as_ref().map_or(0, |found: &Found| found.count);
        let count = before + 1;
        found = Some(Found { count, last });
        Ok(if count == limit {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        })
    };
    let _ = Walk::new(scanner, place.root, &mut visit).follow(start, &query.segments)?;
    Ok(found)
}

fn evaluate<'f>(
    operand: &'f Operand,
    scanner: &mut Scanner<'_>,
    place: Place,
) -> Result<Item<'f>, NoValue> {
    Ok(match operand {
        Operand::Literal(Literal::Null) => Item::Null,
        Operand::Literal(Literal::Bool(value)) => Item::Bool(*value),
        Operand::Literal(Literal::Number(number)) => Item::Number(*number),
        Operand::Literal(Literal::Text(text)) => Item::Text(Cow::Borrowed(text)),
        Operand::Value(query) | Operand::Only(query) => match count(query, scanner, place, 2)? {
            Some(Found { count: 1, last }) => load(scanner, last)?,
            _ => Item::Nothing,
        },
        Operand::Count(query) => {
            let found = count(query, scanner, place, usize::MAX)?;
            whole(found.map_or(0, |found| found.count))
        }
        Operand::Length(inner) => match evaluate(inner, scanner, place)? {
            Item::Text(text) => whole(text.chars().count()),
            Item::Nested(at) => whole(Children::scan(scanner, at).count(scanner)?),
            _ => Item::Nothing,
        },
    })
}

fn whole(count: usize) -> Item<'static> {
    Item::Number(Number::Whole(i128::try_from(count).unwrap_or(i128::MAX)))
}

/// Reads the value at `at`.
fn load(scanner: &mut Scanner<'_>, at: usize) -> Result<Item<'static>, BrokenJson> {
    scanner.go_to(at);
    Ok(match scanner.peek() {
        Some(b'{' | b'[') => Item::Nested(at),
        Some(b'"') => {
            let raw = scanner.string()?;
            let mut text = String::new();
            let is_text = unescape(raw, |piece| text.push_str(piece));
            is_text.ok_or_else(|| scanner.broken("a string has an invalid escape"))?;
            Item::Text(Cow::Owned(text))
        }
        _ => match scanner.scalar()? {
            b"null" => Item::Null,
            b"true" => Item::Bool(true),
            b"false" => Item::Bool(false),
            number => {
                let text = std::str::from_utf8(number).unwrap_or_default();
                Number::parse(text).map_or(Item::Nothing, Item::Number)
            }
        },
    })
}

/// The order of two values; only numbers and texts can be greater or less than others (RFC 9535,
/// section 2.3.5.2.2).
fn compare(
    left: &Item<'_>,
    right: &Item<'_>,
    scanner: &mut Scanner<'_>,
) -> Result<Option<Ordering>, BrokenJson> {
    let equal = |is_equal: bool| is_equal.then_some(Ordering::Equal);
    Ok(match (left, right) {
        (Item::Nothing, Item::Nothing) | (Item::Null, Item::Null) => equal(true),
        (Item::Bool(left), Item::Bool(right)) => equal(left == right),
        (Item::Number(left), Item::Number(right)) => left.compare(*right),
        (Item::Text(left), Item::Text(right)) => Some(left.cmp(right)),
        (Item::Nested(left), Item::Nested(right)) => equal(are_equal(scanner, *left, *right, 0)?),
        _ => None,
    })
}

/// Whether the values at two positions are equal; the order of members is ignored.
fn are_equal(
    scanner: &mut Scanner<'_>,
    left: usize,
    right: usize,
    depth: usize,
) -> Result<bool, BrokenJson> {
    let (left_item, right_item) = (load(scanner, left)?, load(scanner, right)?);
    if !matches!(
        (&left_item, &right_item),
        (Item::Nested(_), Item::Nested(_))
    ) {
        return Ok(compare(&left_item, &right_item, scanner)?.is_some_and(Ordering::is_eq));
    }
    if depth == DEPTH_MAX {
        return Err(
            scanner.beyond("has values nested deeper than 256 levels, which can't be compared")
        );
    }
    let mut lefts = Children::scan(scanner, left);
    let mut rights = Children::scan(scanner, right);
    if lefts.are_elements() != rights.are_elements() {
        return Ok(false);
    }
    let are_members = lefts.are_members();
    while let Some(child) = lefts.next(scanner)? {
        let Some(partner) = rights.next(scanner)? else {
            return Ok(false);
        };
        let partner = if are_members {
            let mut name = String::new();
            let is_text = unescape(child.name, |piece| name.push_str(piece));
            is_text.ok_or_else(|| scanner.broken("a name has an invalid escape"))?;
            find(scanner, right, &Selector::Name(name.into()))?
        } else {
            Some(partner.at)
        };
        let Some(partner) = partner else {
            return Ok(false);
        };
        if !are_equal(scanner, child.at, partner, depth + 1)? {
            return Ok(false);
        }
    }
    Ok(rights.next(scanner)?.is_none())
}

fn matches(matching: &Matching, scanner: &mut Scanner<'_>, place: Place) -> Result<bool, NoValue> {
    let Item::Text(text) = evaluate(&matching.text, scanner, place)? else {
        return Ok(false);
    };
    match &matching.expression {
        PatternExpression::Fixed(pattern) => {
            let pattern = pattern.as_ref();
            Ok(pattern.is_some_and(|pattern| pattern.is_match(text.as_bytes())))
        }
        PatternExpression::Computed(operand) => {
            let Item::Text(source) = evaluate(operand, scanner, place)? else {
                return Ok(false);
            };
            scanner.work(COMPILATION)?;
            let pattern = Pattern::of_json_path(&source, matching.is_whole);
            Ok(pattern.is_some_and(|pattern| pattern.is_match(text.as_bytes())))
        }
    }
}
