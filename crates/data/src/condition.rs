//! Conditions: `total > 0 and status == 'paid'`.
//!
//! All values that a user keeps are texts; a column of a feed may be `true`, `false` or `null`, which
//! equal the texts that are so written. Where both sides of a comparison are numbers they are
//! compared as numbers, exactly where they are decimal, and else as texts: what a response gave as
//! `200` equals 200 and `'200'`. A variable without a value equals nothing, and is below and above
//! nothing. Whatever needs more than comparing and counting is computed by a
//! template first, into a variable.

use crate::expression::Simple;
use crate::number::Number;
use crate::template::{TemplateError, check_variable};
use crate::{RenderContext, Sources, escape_json};
use drumfire_plan::{DataError, RequestContext, VariableId};
use minijinja::Value as Cell;
use minijinja::value::ValueKind;
use std::borrow::Cow;
use std::cmp::Ordering;
use std::sync::Arc;

mod lexer;

use lexer::{Lexer, Token};

/// How deep parentheses, `not` and signs may be nested.
const DEPTH_MAX: u32 = 32;
/// A condition is at most this long, in bytes.
pub const CONDITION_MAX: usize = 4_096;

/// A condition of a scenario's steps.
#[derive(Clone, Debug)]
pub struct Condition {
    root: Node,
    sources: Arc<Sources>,
    /// The feeds whose columns it reads.
    feeds: Vec<usize>,
    /// Sets its random values apart from those of requests and of other steps.
    pass: u64,
}

/// An expression.
#[derive(Clone, Debug)]
enum Node {
    /// A text or a number as it was written.
    Literal(String),
    /// Something that a template can name, with its number among those of the condition.
    Named(Simple, u64),
    /// A feed and a column of it.
    Cell(usize, usize),
    Truth(bool),
    Null,
    Defined(VariableId),
    /// Whether the row has the column.
    HasCell(usize, usize),
    Not(Box<Self>),
    Both(Operator, Box<[Self; 2]>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Or,
    And,
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Contains,
    In,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

/// What an expression comes to.
enum Value<'a> {
    Text(Cow<'a, str>),
    Number(Number),
    Truth(bool),
    Null,
    /// A variable without a value, or a column that the row lacks.
    Nothing,
}

impl Condition {
    /// Reads a condition, in double braces or without; `pass` sets its random values apart, as a
    /// [`crate::SetValue`]'s step does.
    ///
    /// # Errors
    /// What keeps it from being one, with the place in words.
    pub fn compile(text: &str, step: u32, sources: &Arc<Sources>) -> Result<Self, TemplateError> {
        let inside = text.trim();
        let braces = inside
            .strip_prefix("{{")
            .and_then(|rest| rest.strip_suffix("}}"));
        let inside = braces.unwrap_or(inside).trim();
        if inside.len() > CONDITION_MAX {
            let message = format!("a condition has at most {CONDITION_MAX} bytes");
            return Err(TemplateError(message));
        }
        let mut parser = Parser {
            lexer: Lexer::new(inside),
            sources,
            depth: 0,
            named: 0,
            feeds: Vec::new(),
        };
        let root = parser.or()?;
        if let Some(token) = parser.lexer.next()? {
            return Err(parser.lexer.unexpected(&token));
        }
        Ok(Self {
            root,
            feeds: parser.feeds,
            sources: Arc::clone(sources),
            pass: crate::set_value::pass_of(step),
        })
    }

    /// For how many iterations its feeds have rows, when one is gone through once.
    #[must_use]
    pub fn count(&self) -> Option<u64> {
        self.sources.count(&self.feeds)
    }

    fn value<'a>(
        &'a self,
        node: &'a Node,
        context: &'a RenderContext,
    ) -> Result<Value<'a>, DataError> {
        Ok(match node {
            Node::Literal(text) => Value::Text(text.as_str().into()),
            Node::Truth(truth) => Value::Truth(*truth),
            Node::Null => Value::Null,
            Node::Cell(feed, column) => {
                Value::of_cell(&self.sources.value(*feed, *column, &context.call)?)
            }
            Node::Named(Simple::Kept(variable), _) => match context.kept(*variable) {
                Ok(text) => Value::Text(text.into()),
                Err(_) => Value::Nothing,
            },
            Node::Named(simple, place) => {
                let mut context = context.clone();
                context.enter(*place);
                let mut text = String::new();
                simple.render(&mut context, &self.sources, &mut text)?;
                Value::Text(text.into())
            }
            Node::Defined(variable) => Value::Truth(context.has(*variable)),
            Node::HasCell(feed, column) => {
                let cell = self.sources.value(*feed, *column, &context.call)?;
                Value::Truth(!cell.is_undefined())
            }
            Node::Not(inner) => Value::Truth(!self.value(inner, context)?.is_true()),
            Node::Both(operator, sides) => self.both(*operator, sides, context)?,
        })
    }

    fn both<'a>(
        &'a self,
        operator: Operator,
        [left, right]: &'a [Node; 2],
        context: &'a RenderContext,
    ) -> Result<Value<'a>, DataError> {
        let left = self.value(left, context)?;
        // The right side may have no value where the left side decides.
        match operator {
            Operator::Or if left.is_true() => return Ok(Value::Truth(true)),
            Operator::And if !left.is_true() => return Ok(Value::Truth(false)),
            _ => {}
        }
        let right = self.value(right, context)?;
        let order = |holds: fn(Ordering) -> bool| {
            if left.is_nothing() || right.is_nothing() {
                return Ok(false);
            }
            let order = left.as_number()?.compare(right.as_number()?);
            Ok::<_, DataError>(order.is_some_and(holds))
        };
        Ok(Value::Truth(match operator {
            Operator::Or | Operator::And => right.is_true(),
            Operator::Equal => left.equals(&right),
            Operator::Unequal => !left.equals(&right),
            Operator::Less => order(Ordering::is_lt)?,
            Operator::LessOrEqual => order(Ordering::is_le)?,
            Operator::Greater => order(Ordering::is_gt)?,
            Operator::GreaterOrEqual => order(Ordering::is_ge)?,
            Operator::Contains | Operator::In if left.is_nothing() || right.is_nothing() => false,
            Operator::Contains => left.text().contains(&*right.text()),
            Operator::In => right.text().contains(&*left.text()),
            Operator::Add
            | Operator::Subtract
            | Operator::Multiply
            | Operator::Divide
            | Operator::Remainder => {
                let (left, right) = (left.as_number()?, right.as_number()?);
                let result = match operator {
                    Operator::Add => Some(left.plus(right)),
                    Operator::Subtract => Some(left.minus(right)),
                    Operator::Multiply => Some(left.times(right)),
                    Operator::Divide => left.divided_by(right),
                    _ => left.remainder(right),
                };
                let error = || DataError::new("the condition divides by 0");
                return result.map(Value::Number).ok_or_else(error);
            }
        }))
    }
}

impl drumfire_plan::Condition for Condition {
    fn holds(&self, request: &RequestContext) -> Result<bool, DataError> {
        let context = RenderContext::new(request.clone(), 0, self.pass);
        Ok(self.value(&self.root, &context)?.is_true())
    }
}

impl Value<'_> {
    /// What a column of a row holds: lists and objects are texts of JSON.
    fn of_cell(cell: &Cell) -> Self {
        match cell.kind() {
            ValueKind::Undefined => Self::Nothing,
            ValueKind::None => Self::Null,
            ValueKind::Bool => Self::Truth(cell.is_true()),
            ValueKind::String | ValueKind::Number => Self::Text(cell.to_string().into()),
            _ => {
                let mut json = String::new();
                push_json(cell, &mut json);
                Self::Text(json.into())
            }
        }
    }

    const fn is_nothing(&self) -> bool {
        matches!(self, Self::Nothing)
    }

    /// Nothing, an empty text, 0, `false` and JSON's `null` are false.
    fn is_true(&self) -> bool {
        match self {
            Self::Nothing | Self::Null => false,
            Self::Truth(truth) => *truth,
            Self::Number(number) => !number.is_zero(),
            Self::Text(text) => match Number::parse(text) {
                Some(number) => !number.is_zero(),
                None => !["", "false", "null"].contains(&&**text),
            },
        }
    }

    fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Text(text) => Cow::Borrowed(text),
            Self::Number(number) => number.to_string().into(),
            Self::Truth(truth) => truth.to_string().into(),
            Self::Null => Cow::Borrowed("null"),
            Self::Nothing => Cow::Borrowed(""),
        }
    }

    fn number(&self) -> Option<Number> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Text(text) => Number::parse(text),
            Self::Truth(_) | Self::Null | Self::Nothing => None,
        }
    }

    /// The number that it must be.
    fn as_number(&self) -> Result<Number, DataError> {
        self.number().ok_or_else(|| {
            let text = drumfire_plan::secret::excerpt(&self.text());
            DataError::new(format!(
                "the condition compares `{text}`, which is not a number"
            ))
        })
    }

    fn equals(&self, other: &Self) -> bool {
        if self.is_nothing() || other.is_nothing() {
            return false;
        }
        match (self.number(), other.number()) {
            (Some(left), Some(right)) => left.compare(right) == Some(Ordering::Equal),
            _ => self.text() == other.text(),
        }
    }
}

/// Appends a value of a row as JSON. Rows were JSON, whose depth is bounded.
fn push_json(value: &Cell, out: &mut String) {
    let items = || value.try_iter().into_iter().flatten();
    match value.kind() {
        ValueKind::String => {
            out.push('"');
            escape_json(value.as_str().unwrap_or_default(), out);
            out.push('"');
        }
        ValueKind::Map => {
            out.push('{');
            for (at, key) in items().enumerate() {
                out.push_str(if at > 0 { "," } else { "" });
                push_json(&key, out);
                out.push(':');
                push_json(&value.get_item(&key).unwrap_or_default(), out);
            }
            out.push('}');
        }
        ValueKind::Seq | ValueKind::Iterable => {
            out.push('[');
            for (at, item) in items().enumerate() {
                out.push_str(if at > 0 { "," } else { "" });
                push_json(&item, out);
            }
            out.push(']');
        }
        ValueKind::None | ValueKind::Undefined => out.push_str("null"),
        _ => out.push_str(&value.to_string()),
    }
}

/// A parser by recursive descent: `or`, `and`, `not`, a comparison, sums, products, what is alone.
struct Parser<'a> {
    lexer: Lexer<'a>,
    sources: &'a Arc<Sources>,
    depth: u32,
    named: u64,
    feeds: Vec<usize>,
}

impl Parser<'_> {
    fn or(&mut self) -> Result<Node, TemplateError> {
        self.row(Self::and, |token| match token {
            Token::Name("or") => Some(Operator::Or),
            _ => None,
        })
    }

    fn and(&mut self) -> Result<Node, TemplateError> {
        self.row(Self::not, |token| match token {
            Token::Name("and") => Some(Operator::And),
            _ => None,
        })
    }

    fn not(&mut self) -> Result<Node, TemplateError> {
        if self.lexer.peek()? != Some(Token::Name("not")) {
            return self.comparison();
        }
        self.lexer.next()?;
        let inner = self.nested(Self::not)?;
        Ok(Node::Not(Box::new(inner)))
    }

    fn comparison(&mut self) -> Result<Node, TemplateError> {
        let left = self.sum()?;
        let Some(token) = self.lexer.peek()? else {
            return Ok(left);
        };
        let operator = match token {
            Token::Sign("==") => Operator::Equal,
            Token::Sign("!=") => Operator::Unequal,
            Token::Sign("<") => Operator::Less,
            Token::Sign("<=") => Operator::LessOrEqual,
            Token::Sign(">") => Operator::Greater,
            Token::Sign(">=") => Operator::GreaterOrEqual,
            Token::Name("contains") => Operator::Contains,
            Token::Name("in") => Operator::In,
            Token::Name("is") => return self.defined(&left),
            _ => return Ok(left),
        };
        self.lexer.next()?;
        let right = self.sum()?;
        Ok(Node::Both(operator, Box::new([left, right])))
    }

    /// `is defined`, or `is not defined`, behind a name.
    fn defined(&mut self, left: &Node) -> Result<Node, TemplateError> {
        self.lexer.next()?;
        let is_not = self.lexer.peek()? == Some(Token::Name("not"));
        if is_not {
            self.lexer.next()?;
        }
        let defined = match (self.lexer.next()?, left) {
            (Some(Token::Name("defined")), Node::Named(Simple::Kept(variable), _)) => {
                Node::Defined(*variable)
            }
            (Some(Token::Name("defined")), Node::Cell(feed, column)) => {
                Node::HasCell(*feed, *column)
            }
            _ => {
                let message = "write `is` between a variable of the scenario, or a column of a \
                               feed, and `defined` or `not defined`; to test for null, write `x == \
                               null`";
                return Err(TemplateError(message.to_owned()));
            }
        };
        Ok(match is_not {
            true => Node::Not(Box::new(defined)),
            false => defined,
        })
    }

    fn sum(&mut self) -> Result<Node, TemplateError> {
        self.row(Self::product, |token| match token {
            Token::Sign("+") => Some(Operator::Add),
            Token::Sign("-") => Some(Operator::Subtract),
            _ => None,
        })
    }

    fn product(&mut self) -> Result<Node, TemplateError> {
        self.row(Self::alone, |token| match token {
            Token::Sign("*") => Some(Operator::Multiply),
            Token::Sign("/") => Some(Operator::Divide),
            Token::Sign("%") => Some(Operator::Remainder),
            _ => None,
        })
    }

    /// A text, a number, a name, a call, or a condition in parentheses.
    fn alone(&mut self) -> Result<Node, TemplateError> {
        let Some(token) = self.lexer.next()? else {
            let message =
                "the condition ends where a value is expected; write one such as `total > 0`";
            return Err(TemplateError(message.to_owned()));
        };
        match token {
            Token::Text(text) => Ok(Node::Literal(text)),
            Token::Number(number) => Ok(Node::Literal(number.to_owned())),
            Token::Sign("-") => {
                let zero = Node::Literal("0".to_owned());
                let inner = self.nested(Self::alone)?;
                Ok(Node::Both(Operator::Subtract, Box::new([zero, inner])))
            }
            Token::Sign("(") => {
                let inner = self.nested(Self::or)?;
                match self.lexer.next()? {
                    Some(Token::Sign(")")) => Ok(inner),
                    _ => Err(TemplateError("a parenthesis is not closed".to_owned())),
                }
            }
            Token::Name("true" | "True") => Ok(Node::Truth(true)),
            Token::Name("false" | "False") => Ok(Node::Truth(false)),
            Token::Name("none" | "None") => Ok(Node::Null),
            // A word of JSON, and not of the template language, in which it may be a name.
            Token::Name("null") if !self.sources.has("null") => Ok(Node::Null),
            Token::Name(name) => self.named(name),
            Token::Sign(_) => Err(self.lexer.unexpected(&token)),
        }
    }

    /// Whatever a template can name without its interpreter.
    fn named(&mut self, name: &str) -> Result<Node, TemplateError> {
        let place = self.named;
        self.named += 1;
        let text = match self.lexer.arguments()? {
            Some(arguments) => format!("{name}({arguments})"),
            None => {
                // Whether it has a value may be asked before any step sets it, as in the first pass
                // of a loop.
                if let Some(variable) = self.sources.declared(name)
                    && self.lexer.peek()? == Some(Token::Name("is"))
                {
                    return Ok(Node::Named(Simple::Kept(variable), place));
                }
                check_variable(name, self.sources)?;
                if let Some((feed, column)) = self.sources.column(name) {
                    self.feeds.push(feed);
                    return Ok(Node::Cell(feed, column));
                }
                name.to_owned()
            }
        };
        let simple = Simple::parse(&text, self.sources);
        simple
            .map(|simple| Node::Named(simple, place))
            .ok_or_else(|| {
                TemplateError(format!(
                    "`{}` can't be used in a condition; `set` a variable to it first",
                    text.escape_debug()
                ))
            })
    }

    /// Operands with operators of the same rank between them.
    fn row(
        &mut self,
        mut operand: impl FnMut(&mut Self) -> Result<Node, TemplateError>,
        operator: impl Fn(&Token<'_>) -> Option<Operator>,
    ) -> Result<Node, TemplateError> {
        let mut left = operand(self)?;
        // A long row makes a tree as deep as it has operators.
        for _ in 0..=DEPTH_MAX {
            let Some(found) = self.lexer.peek()?.and_then(|token| operator(&token)) else {
                return Ok(left);
            };
            self.lexer.next()?;
            let right = operand(self)?;
            left = Node::Both(found, Box::new([left, right]));
        }
        Err(too_deep())
    }

    /// One level deeper.
    fn nested(
        &mut self,
        parse: impl FnOnce(&mut Self) -> Result<Node, TemplateError>,
    ) -> Result<Node, TemplateError> {
        if self.depth == DEPTH_MAX {
            return Err(too_deep());
        }
        self.depth += 1;
        let node = parse(self);
        self.depth -= 1;
        node
    }
}

fn too_deep() -> TemplateError {
    TemplateError(format!(
        "a condition can chain or nest at most {DEPTH_MAX} operators"
    ))
}

#[cfg(test)]
mod tests {
    use super::Condition;
    use crate::{Feed, Order, Sources};
    use drumfire_plan::{Condition as _, RequestContext, VariableId, Variables};
    use std::sync::Arc;

    fn sources() -> Arc<Sources> {
        let mut sources = Sources::new();
        let feed =
            Feed::from_csv(b"name,age\nAda,36\n", &crate::CsvForm::default()).expect("a feed");
        sources.add("people", feed, Order::InTurn).expect("a name");
        let feed = b"[{\"yes\": true, \"no\": false, \"null\": null, \"tags\": [\"a\", 1]},
                      {\"yes\": 1, \"no\": \"x\", \"null\": 2, \"tags\": [], \"more\": 3}]";
        let feed = Feed::from_json(feed).expect("a feed");
        sources.add("flags", feed, Order::InTurn).expect("a name");
        for name in ["total", "status", "unset", "never", "taken"] {
            sources.declare(name).expect("a name");
        }
        let ids = [0, 1, 2, 4].map(VariableId).into_iter();
        Arc::new(ids.fold(sources, |sources, id| sources.with_set(id)))
    }

    fn holds(text: &str) -> Result<bool, String> {
        let compiled = Condition::compile(text, 3, &sources());
        let condition = compiled.map_err(|error| error.to_string())?;
        let mut variables = Variables::new(5);
        variables.set(VariableId(4), Ok("null"));
        variables.set(VariableId(0), Ok("12.50"));
        variables.set(VariableId(1), Ok("200"));
        let context = RequestContext {
            iteration: 9,
            variables: Some(Arc::new(variables)),
            ..RequestContext::default()
        };
        condition.holds(&context).map_err(|error| error.to_string())
    }

    #[test]
    fn conditions_compare_numbers_and_texts() {
        for (text, expected) in [
            ("{{ total > 0 }}", true),
            ("total > 12.5 or total == 12.5", true),
            ("status == 200 and status == '200'", true),
            ("status != \"2e2\"", false),
            ("people.name == 'Ada' and not people.age < 36", true),
            ("people.name == 'ada'", false),
            ("iteration % 10 == 9", true),
            ("-(2 - 5) * 4 / 3 == 4", true),
            ("1 / 3 * 3 == 1", true),
            ("18446744073709551615 == 18446744073709551614", false),
            ("status contains '0' and 'd' in people.name", true),
            ("unset is defined", false),
            ("unset is not defined and total is defined", true),
            ("never is defined or not (never is not defined)", false),
            (
                "unset == 1 or unset < 1 or unset >= 1 or unset or unset in 'a'",
                false,
            ),
            ("unset != 1 and not unset", true),
            ("'' or '0' or 'null' or 'false' or false or 0.0", false),
            ("'it\\'s' == \"it's\"", true),
            ("'007' == '7'", false),
            ("true == 'true'", true),
            ("random_int(1, 6) >= 1 and random_int(7, 9) > 6", true),
            ("uuid != new_uuid()", true),
        ] {
            assert_eq!(holds(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn truths_and_null_are_what_they_are() {
        for (text, expected) in [
            ("flags.yes", true),
            ("not flags.no and flags.no == false", true),
            ("flags.yes == true and flags.yes == 'true'", true),
            ("flags.yes != flags.no", true),
            ("flags.null", false),
            ("flags.null == null and flags.null == none", true),
            ("flags.null != null", false),
            ("flags.null == false", false),
            ("flags.tags contains 'a' and 'b' in flags.tags", false),
            ("flags.tags == '[\"a\",1]'", true),
            ("flags.more or flags.more == null or flags.more < 5", false),
            ("flags.more is defined", false),
            ("flags.null is defined and flags.more is not defined", true),
            ("taken == null and not taken and taken == flags.null", true),
            ("unset == null", false),
            ("unset != null", true),
        ] {
            assert_eq!(holds(text), Ok(expected), "{text}");
        }
        let error = holds("flags.null < 3").expect_err("null is no number");
        assert!(error.contains("compares `null`"), "{error}");
    }

    #[test]
    fn what_has_no_value_is_an_error_of_the_plan() {
        for (text, part) in [
            ("unset + 1 == 1", "which is not a number"),
            ("people.name < 3", "compares `Ada`, which is not a number"),
            ("1 / (status - 200) > 1", "divides by 0"),
            ("5 % 0 == 1", "divides by 0"),
        ] {
            let error = holds(text).expect_err(text);
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn mistakes_are_said_in_words() {
        let deep = format!("{}1{}", "(".repeat(100), ")".repeat(100));
        let long = format!("1{}", " + 1".repeat(100));
        let huge = format!("'{}'", "x".repeat(5_000));
        for (text, part) in [
            ("", "ends where a value is expected"),
            ("total >", "ends where a value is expected"),
            ("total = 1", "write =="),
            ("a && b", "no variable `a`"),
            ("total && status", "write `and`"),
            ("total | int > 3", "can't have filters"),
            ("!total", "write `not`"),
            ("total > 0)", "unexpected `)`"),
            ("(total > 0", "not closed"),
            ("'a", "the closing quote of a string is missing"),
            ("'a\\n' == 1", "backslash"),
            ("tota > 1", "did you mean `total`"),
            ("people.nam == 1", "no column `nam`"),
            ("never == 1", "read before any step sets it"),
            (
                "connection + 'ä",
                "the closing quote of a string is missing",
            ),
            ("iteration is defined", "write `is` between"),
            ("1x > 2", "`1x` is not a number"),
            ("choose([1]) == 1", "`set` a variable to it first"),
            (&deep, "chain or nest at most"),
            (&long, "chain or nest at most"),
            (&huge, "at most 4096 bytes"),
        ] {
            let error = holds(text).expect_err(text);
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
