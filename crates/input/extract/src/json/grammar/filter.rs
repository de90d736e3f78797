//! The grammar of filters (RFC 9535, section 2.3.5).

use super::segments;
use crate::ParseError;
use crate::json::cursor::Cursor;
use crate::json::path::{
    Filter, Literal, Matching, Operand, PatternExpression, Query, is_singular,
};
use crate::json::scan::Scanner;
use crate::number::Number;
use crate::pattern::Pattern;
use crate::relation::Relation;
use drumfire_plan::suggestion;

const FUNCTIONS: [&str; 5] = ["length", "count", "value", "match", "search"];

/// A part of a filter before it is known whether it is compared.
enum FilterTerm {
    Query(Query),
    Operand(Operand),
    Matches(Matching),
}

/// Parses the text after the `?`.
pub(super) fn parse(cursor: &mut Cursor<'_>) -> Result<Filter, ParseError> {
    Ok(join(separated(cursor, "||", all)?, Filter::Any))
}

fn all(cursor: &mut Cursor<'_>) -> Result<Filter, ParseError> {
    Ok(join(separated(cursor, "&&", basic)?, Filter::All))
}

fn basic(cursor: &mut Cursor<'_>) -> Result<Filter, ParseError> {
    if cursor.consume("!") {
        cursor.skip_space();
        let inner = if cursor.rest().starts_with('(') {
            parenthesized(cursor)?
        } else {
            test(cursor.position(), term(cursor)?)?
        };
        return Ok(Filter::Not(Box::new(inner)));
    }
    if cursor.rest().starts_with('(') {
        return parenthesized(cursor);
    }
    let start = cursor.position();
    let left = term(cursor)?;
    let behind = cursor.position();
    cursor.skip_space();
    let Some((relation, rest)) = Relation::strip(cursor.rest()) else {
        cursor.go_to(behind);
        return test(start, left);
    };
    cursor.pass(cursor.rest().len() - rest.len());
    cursor.skip_space();
    let right_at = cursor.position();
    let right = term(cursor)?;
    let (left, right) = (operand(start, left)?, operand(right_at, right)?);
    Ok(Filter::Compare(left, relation, right))
}

fn parenthesized(cursor: &mut Cursor<'_>) -> Result<Filter, ParseError> {
    cursor.consume("(");
    let inner = cursor.nested(parse)?;
    cursor.skip_space();
    if !cursor.consume(")") {
        return Err(cursor.error("a `)` is missing"));
    }
    Ok(inner)
}

/// One or more parts, separated by signs.
fn separated(
    cursor: &mut Cursor<'_>,
    sign: &str,
    part: impl Fn(&mut Cursor<'_>) -> Result<Filter, ParseError>,
) -> Result<Vec<Filter>, ParseError> {
    let mut parts = Vec::new();
    loop {
        cursor.skip_space();
        parts.push(part(cursor)?);
        let behind = cursor.position();
        cursor.skip_space();
        if !cursor.consume(sign) {
            cursor.go_to(behind);
            return Ok(parts);
        }
    }
}

/// A single part needs no join.
fn join(mut parts: Vec<Filter>, joint: fn(Vec<Filter>) -> Filter) -> Filter {
    match parts.pop() {
        Some(only) if parts.is_empty() => only,
        last => {
            parts.extend(last);
            joint(parts)
        }
    }
}

/// A term that is a condition by itself.
fn test(at: usize, term: FilterTerm) -> Result<Filter, ParseError> {
    match term {
        FilterTerm::Query(query) => Ok(Filter::Exists(query)),
        FilterTerm::Matches(matching) => Ok(Filter::Matches(matching)),
        FilterTerm::Operand(_) => {
            let reason = "compare this with another value: `@.n == 1`";
            Err(ParseError::new(at, reason))
        }
    }
}

/// A term with a single value.
fn operand(at: usize, term: FilterTerm) -> Result<Operand, ParseError> {
    match term {
        FilterTerm::Operand(operand) => Ok(operand),
        FilterTerm::Query(query) if is_singular(&query.segments) => Ok(Operand::Value(query)),
        FilterTerm::Query(_) => {
            let reason = "this may select several values, which can't be compared";
            Err(ParseError::new(at, reason))
        }
        FilterTerm::Matches(_) => {
            let reason = "this is true or false and can't be compared";
            Err(ParseError::new(at, reason))
        }
    }
}

fn term(cursor: &mut Cursor<'_>) -> Result<FilterTerm, ParseError> {
    let rest = cursor.rest();
    if rest.starts_with(['@', '$']) {
        return Ok(FilterTerm::Query(query(cursor)?));
    }
    if rest.starts_with(['\'', '"']) {
        let text = cursor.quoted()?.into();
        return Ok(FilterTerm::Operand(Operand::Literal(Literal::Text(text))));
    }
    if rest.starts_with(|c: char| c == '-' || c.is_ascii_digit()) {
        let number = Literal::Number(number(cursor)?);
        return Ok(FilterTerm::Operand(Operand::Literal(number)));
    }
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let length = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
    let word = &rest[..length];
    if rest[length..].starts_with('(') {
        return function(cursor, word);
    }
    let literal = match word {
        "true" => Literal::Bool(true),
        "false" => Literal::Bool(false),
        "null" => Literal::Null,
        _ => {
            let reason = "write `@` and a path from the element, a number or a quoted string";
            return Err(cursor.error(reason));
        }
    };
    cursor.pass(length);
    Ok(FilterTerm::Operand(Operand::Literal(literal)))
}

fn query(cursor: &mut Cursor<'_>) -> Result<Query, ParseError> {
    let is_absolute = cursor.consume("$");
    if !is_absolute && !cursor.consume("@") {
        return Err(cursor.error("expected a path from `@` or `$`"));
    }
    let segments = cursor.nested(segments)?;
    Ok(Query {
        is_absolute,
        segments,
    })
}

/// A JSON number.
fn number(cursor: &mut Cursor<'_>) -> Result<Number, ParseError> {
    let rest = cursor.rest();
    let is_part = |b: &u8| b.is_ascii_digit() || b"+-.eE".contains(b);
    let text = &rest[..rest.bytes().take_while(is_part).count()];
    let mut scanner = Scanner::new(text.as_bytes()).ok();
    let is_number = scanner.as_mut().is_some_and(|s| s.scalar().is_ok());
    let number = Number::parse(text).filter(|_| is_number);
    let number = number.ok_or_else(|| cursor.error("this is not a JSON number"))?;
    cursor.pass(text.len());
    Ok(number)
}

/// A function and its arguments.
fn function(cursor: &mut Cursor<'_>, name: &str) -> Result<FilterTerm, ParseError> {
    let start = cursor.position();
    if !FUNCTIONS.contains(&name) {
        let near = suggestion(name, FUNCTIONS);
        let known = FUNCTIONS.join(", ");
        let reason = format!("unknown function `{name}`{near}; the functions are {known}");
        return Err(ParseError::new(start, reason));
    }
    cursor.pass(name.len() + 1);
    cursor.skip_space();
    let term = match name {
        "count" => FilterTerm::Operand(Operand::Count(query(cursor)?)),
        "value" => FilterTerm::Operand(Operand::Only(query(cursor)?)),
        "length" => FilterTerm::Operand(Operand::Length(Box::new(argument(cursor)?))),
        name => {
            let text = argument(cursor)?;
            cursor.skip_space();
            if !cursor.consume(",") {
                return Err(cursor.error("a `,` and a quoted expression are missing"));
            }
            cursor.skip_space();
            let is_whole = name == "match";
            let expression = match argument(cursor)? {
                Operand::Literal(Literal::Text(source)) => {
                    let pattern = Pattern::of_json_path(&source, is_whole);
                    PatternExpression::Fixed(pattern.map(Box::new))
                }
                other => PatternExpression::Computed(other),
            };
            FilterTerm::Matches(Matching {
                text,
                expression,
                is_whole,
            })
        }
    };
    cursor.skip_space();
    if !cursor.consume(")") {
        return Err(cursor.error("a `)` is missing, or there are too many arguments"));
    }
    Ok(term)
}

/// An argument with a single value.
fn argument(cursor: &mut Cursor<'_>) -> Result<Operand, ParseError> {
    let start = cursor.position();
    let term = cursor.nested(term)?;
    operand(start, term)
}
