//! Filters of JSON paths (RFC 9535, section 2.3.5) as they are written.

use super::path::{Parser, Segment, is_singular};
use crate::ParseError;
use crate::number::Number;
use crate::pattern::Pattern;
use crate::relation::Relation;
use drumfire_plan::suggestion;

/// What must hold of a member or element.
#[derive(Clone, Debug)]
pub(super) enum Filter {
    /// One of them.
    Any(Vec<Self>),
    /// Each of them.
    All(Vec<Self>),
    Not(Box<Self>),
    /// The query leads somewhere.
    Exists(Query),
    Compare(Operand, Relation, Operand),
    /// The text matches.
    Matches(Matching),
}

/// A path within a filter.
#[derive(Clone, Debug)]
pub(super) struct Query {
    /// Whether it begins at `$` and not at `@`.
    pub(super) is_absolute: bool,
    pub(super) segments: Vec<Segment>,
}

/// One side of a comparison, or an argument.
#[derive(Clone, Debug)]
pub(super) enum Operand {
    Literal(Literal),
    /// The one value to which a query leads.
    Value(Query),
    /// The length of a text, array or object.
    Length(Box<Self>),
    /// How many values a query leads to.
    Count(Query),
    /// The value of a query that leads to one.
    Only(Query),
}

/// A value that stands in a path.
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
    pub(super) expression: Expression,
    pub(super) is_whole: bool,
}

/// The expression that a text is matched with.
#[derive(Clone, Debug)]
pub(super) enum Expression {
    /// It stands in the path; without a pattern it is none, and matches nothing.
    Fixed(Option<Box<Pattern>>),
    /// It stands in the body.
    Computed(Operand),
}

const FUNCTIONS: [&str; 5] = ["length", "count", "value", "match", "search"];

/// What stands in a filter before it is known whether it is compared.
enum Term {
    Query(Query),
    Operand(Operand),
    Matches(Matching),
}

impl Filter {
    /// Reads what follows the `?`.
    pub(super) fn parse(parser: &mut Parser<'_>) -> Result<Self, ParseError> {
        Ok(join(separated(parser, "||", Self::all)?, Self::Any))
    }

    fn all(parser: &mut Parser<'_>) -> Result<Self, ParseError> {
        Ok(join(separated(parser, "&&", Self::basic)?, Self::All))
    }

    fn basic(parser: &mut Parser<'_>) -> Result<Self, ParseError> {
        if parser.take("!") {
            parser.skip_space();
            let inner = if parser.rest().starts_with('(') {
                Self::parenthesized(parser)?
            } else {
                test(parser.at(), term(parser)?)?
            };
            return Ok(Self::Not(Box::new(inner)));
        }
        if parser.rest().starts_with('(') {
            return Self::parenthesized(parser);
        }
        let start = parser.at();
        let left = term(parser)?;
        let behind = parser.at();
        parser.skip_space();
        let Some((relation, rest)) = Relation::strip(parser.rest()) else {
            parser.go_to(behind);
            return test(start, left);
        };
        parser.pass(parser.rest().len() - rest.len());
        parser.skip_space();
        let right_at = parser.at();
        let right = term(parser)?;
        let (left, right) = (operand(start, left)?, operand(right_at, right)?);
        Ok(Self::Compare(left, relation, right))
    }

    fn parenthesized(parser: &mut Parser<'_>) -> Result<Self, ParseError> {
        parser.take("(");
        let inner = parser.nested(Self::parse)?;
        parser.skip_space();
        if !parser.take(")") {
            return Err(parser.error("a `)` is missing"));
        }
        Ok(inner)
    }
}

/// One or more parts with signs between them.
fn separated(
    parser: &mut Parser<'_>,
    sign: &str,
    part: impl Fn(&mut Parser<'_>) -> Result<Filter, ParseError>,
) -> Result<Vec<Filter>, ParseError> {
    let mut parts = Vec::new();
    loop {
        parser.skip_space();
        parts.push(part(parser)?);
        let behind = parser.at();
        parser.skip_space();
        if !parser.take(sign) {
            parser.go_to(behind);
            return Ok(parts);
        }
    }
}

/// Only one part needs no joint.
fn join(mut parts: Vec<Filter>, joint: fn(Vec<Filter>) -> Filter) -> Filter {
    match parts.pop() {
        Some(only) if parts.is_empty() => only,
        last => {
            parts.extend(last);
            joint(parts)
        }
    }
}

/// What holds or does not by itself.
fn test(at: usize, term: Term) -> Result<Filter, ParseError> {
    match term {
        Term::Query(query) => Ok(Filter::Exists(query)),
        Term::Matches(matching) => Ok(Filter::Matches(matching)),
        Term::Operand(_) => {
            let reason = "compare this with another value: `@.n == 1`";
            Err(ParseError::new(at, reason))
        }
    }
}

/// What has one value.
fn operand(at: usize, term: Term) -> Result<Operand, ParseError> {
    match term {
        Term::Operand(operand) => Ok(operand),
        Term::Query(query) if is_singular(&query.segments) => Ok(Operand::Value(query)),
        Term::Query(_) => {
            let reason = "this may lead to several values, which can't be compared";
            Err(ParseError::new(at, reason))
        }
        Term::Matches(_) => {
            let reason = "this holds or does not; it can't be compared";
            Err(ParseError::new(at, reason))
        }
    }
}

fn term(parser: &mut Parser<'_>) -> Result<Term, ParseError> {
    let rest = parser.rest();
    if rest.starts_with(['@', '$']) {
        return Ok(Term::Query(query(parser)?));
    }
    if rest.starts_with(['\'', '"']) {
        let text = parser.quoted()?.into();
        return Ok(Term::Operand(Operand::Literal(Literal::Text(text))));
    }
    if rest.starts_with(|c: char| c == '-' || c.is_ascii_digit()) {
        let number = Literal::Number(number(parser)?);
        return Ok(Term::Operand(Operand::Literal(number)));
    }
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let length = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
    let word = &rest[..length];
    if rest[length..].starts_with('(') {
        return function(parser, word);
    }
    let literal = match word {
        "true" => Literal::Bool(true),
        "false" => Literal::Bool(false),
        "null" => Literal::Null,
        _ => {
            let reason = "write `@` and a path from the element, a number or a text in quotes";
            return Err(parser.error(reason));
        }
    };
    parser.pass(length);
    Ok(Term::Operand(Operand::Literal(literal)))
}

fn query(parser: &mut Parser<'_>) -> Result<Query, ParseError> {
    let is_absolute = parser.take("$");
    if !is_absolute && !parser.take("@") {
        return Err(parser.error("a path from `@` or `$` should stand here"));
    }
    let segments = parser.nested(Parser::segments)?;
    Ok(Query {
        is_absolute,
        segments,
    })
}

/// A number of JSON.
fn number(parser: &mut Parser<'_>) -> Result<Number, ParseError> {
    let rest = parser.rest();
    let is_part = |b: &u8| b.is_ascii_digit() || b"+-.eE".contains(b);
    let text = &rest[..rest.bytes().take_while(is_part).count()];
    let mut scanner = super::scan::Scanner::new(text.as_bytes()).ok();
    let is_number = scanner.as_mut().is_some_and(|s| s.scalar().is_ok());
    let number = Number::parse(text).filter(|_| is_number);
    let number = number.ok_or_else(|| parser.error("this is no number of JSON"))?;
    parser.pass(text.len());
    Ok(number)
}

/// A function and its arguments.
fn function(parser: &mut Parser<'_>, name: &str) -> Result<Term, ParseError> {
    let start = parser.at();
    if !FUNCTIONS.contains(&name) {
        let near = suggestion(name, FUNCTIONS);
        let known = FUNCTIONS.join(", ");
        let reason = format!("there is no function `{name}`{near}; there are {known}");
        return Err(ParseError::new(start, reason));
    }
    parser.pass(name.len() + 1);
    parser.skip_space();
    let term = match name {
        "count" => Term::Operand(Operand::Count(query(parser)?)),
        "value" => Term::Operand(Operand::Only(query(parser)?)),
        "length" => Term::Operand(Operand::Length(Box::new(argument(parser)?))),
        name => {
            let text = argument(parser)?;
            parser.skip_space();
            if !parser.take(",") {
                return Err(parser.error("a `,` and an expression in quotes are missing"));
            }
            parser.skip_space();
            let is_whole = name == "match";
            let expression = match argument(parser)? {
                Operand::Literal(Literal::Text(source)) => {
                    let pattern = Pattern::of_json_path(&source, is_whole);
                    Expression::Fixed(pattern.map(Box::new))
                }
                other => Expression::Computed(other),
            };
            Term::Matches(Matching {
                text,
                expression,
                is_whole,
            })
        }
    };
    parser.skip_space();
    if !parser.take(")") {
        return Err(parser.error("a `)` is missing, or there are too many arguments"));
    }
    Ok(term)
}

/// An argument that has one value.
fn argument(parser: &mut Parser<'_>) -> Result<Operand, ParseError> {
    let start = parser.at();
    let term = parser.nested(term)?;
    operand(start, term)
}
