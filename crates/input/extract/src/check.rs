//! The rules for a value.

use crate::ParseError;
use crate::number::Number;
use crate::pattern::Pattern;
use crate::relation::Relation;
use drumfire_plan::suggestion;
use drumfire_units::{ByteSize, Nanos};
use memchr::memmem;
use std::fmt;

/// A rule for a value.
///
/// | | accepts a value |
/// |---|---|
/// | `contains TEXT` | that contains the text |
/// | `equals TEXT` | that is equal to the text, byte for byte |
/// | `matches /regex/` | in which the expression matches |
/// | `not contains TEXT`, `not equals …`, `not matches …` | for which the rule without `not` fails |
/// | `<500ms`, `<=10kB`, `>1.5`, `>=1`, `=200` or `200`, `!=0` | which is a number in that relation; a time counts as seconds, a size as bytes |
/// | `exists`, `missing` | that is present, or absent |
#[derive(Clone, Debug)]
pub struct Check {
    text: Box<str>,
    rule: Rule,
    is_negated: bool,
}

#[derive(Clone, Debug)]
enum Rule {
    Contains(Box<memmem::Finder<'static>>),
    Equals(Box<str>),
    Matches(Box<Pattern>),
    Compares(Relation, Number),
    Exists,
    Missing,
}

/// The words with which a check may begin.
const WORDS: [&str; 6] = ["contains", "equals", "matches", "exists", "missing", "not"];
/// The words that `not` may precede.
const NEGATABLE: [&str; 3] = ["contains", "equals", "matches"];

impl Check {
    /// Parses a check.
    ///
    /// # Errors
    /// The position of the first mistake, and the correction.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        let start = text.len() - text.trim_start().len();
        let trimmed = text.trim();
        let (word, rest) = first_word(trimmed);
        let is_negated = word == "not";
        let rule = if is_negated {
            let at = start + trimmed.len() - rest.len();
            let (word, argument) = first_word(rest);
            if !NEGATABLE.contains(&word) {
                let near = suggestion(word, NEGATABLE);
                let reason = format!("write `contains`, `equals` or `matches` after `not`{near}");
                return Err(ParseError::new(at, reason));
            }
            worded(word, argument).map_err(|e| e.behind(at + rest.len() - argument.len()))?
        } else if WORDS.contains(&word) {
            worded(word, rest).map_err(|e| e.behind(start + trimmed.len() - rest.len()))?
        } else {
            compares(trimmed).map_err(|error| error.behind(start))?
        };
        Ok(Self {
            text: trimmed.into(),
            rule,
            is_negated,
        })
    }

    /// Parses a bound of a time, such as `<500ms`.
    ///
    /// # Errors
    /// The position of the first mistake, and the correction.
    pub fn parse_time(text: &str) -> Result<Self, ParseError> {
        let Written {
            relation,
            limit,
            at,
        } = relation_and_limit(text.trim());
        if matches!(relation, Relation::Equal | Relation::Unequal) {
            let meant = limit.parse::<Nanos>().map_or("500ms", |_| limit);
            let shown = text.trim().escape_debug();
            let reason =
                format!("`{shown}` is not a bound on a time; write one such as `<{meant}`");
            return Err(ParseError::new(0, reason));
        }
        let time = limit.parse::<Nanos>();
        time.map_err(|error| ParseError::new(at, error.to_string()))?;
        Self::parse(text)
    }

    /// Parses a bound of a size, such as `<10kB`, or a size, such as `=1000`.
    ///
    /// # Errors
    /// The position of the first mistake, and the correction.
    pub fn parse_size(text: &str) -> Result<Self, ParseError> {
        let Written { limit, at, .. } = relation_and_limit(text.trim());
        let size = limit.parse::<ByteSize>();
        size.map_err(|error| ParseError::new(at, error.to_string()))?;
        Self::parse(text)
    }

    /// Whether the check accepts a value that is present.
    #[must_use]
    pub fn holds(&self, value: &[u8]) -> bool {
        let holds = match &self.rule {
            Rule::Contains(finder) => finder.find(value).is_some(),
            Rule::Equals(text) => value == text.as_bytes(),
            Rule::Matches(pattern) => pattern.is_match(value),
            Rule::Compares(relation, limit) => {
                let number = std::str::from_utf8(value).ok().map(str::trim);
                let number = number.and_then(Number::parse);
                let order = number.and_then(|number| number.compare(*limit));
                order.is_some_and(|order| relation.holds(order))
            }
            Rule::Exists => true,
            Rule::Missing => false,
        };
        holds != self.is_negated
    }

    /// Whether the value must be absent.
    #[must_use]
    pub const fn wants_none(&self) -> bool {
        matches!(self.rule, Rule::Missing)
    }
}

impl fmt::Display for Check {
    /// Prints the check as it was written.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// A text's first word, and the text after the blanks that follow it.
fn first_word(text: &str) -> (&str, &str) {
    match text.split_once(char::is_whitespace) {
        Some((word, rest)) => (word, rest.trim_start()),
        None => (text, ""),
    }
}

/// A rule that begins with a word.
fn worded(word: &str, argument: &str) -> Result<Rule, ParseError> {
    let rule = match word {
        "contains" if argument.is_empty() => {
            return Err(ParseError::new(0, "write a text after `contains`"));
        }
        "contains" => {
            let finder = memmem::Finder::new(argument).into_owned();
            return Ok(Rule::Contains(Box::new(finder)));
        }
        "equals" => return Ok(Rule::Equals(argument.into())),
        "matches" => return Ok(Rule::Matches(Box::new(Pattern::parse(argument)?))),
        "exists" => Rule::Exists,
        _ => Rule::Missing,
    };
    if !argument.is_empty() {
        return Err(ParseError::new(0, format!("`{word}` takes no argument")));
    }
    Ok(rule)
}

/// A relation as it is written, and the text after it.
struct Written<'a> {
    relation: Relation,
    limit: &'a str,
    /// The position of the limit; 0 without a sign before it.
    at: usize,
}

/// A relation and a limit; a limit without a relation or after `=` must be equal to the value.
fn relation_and_limit(text: &str) -> Written<'_> {
    let equal = || Some((Relation::Equal, text.strip_prefix('=')?));
    let stripped = Relation::strip(text).or_else(equal);
    let (relation, limit) = stripped.unwrap_or((Relation::Equal, text));
    let limit = limit.trim_start();
    Written {
        relation,
        limit,
        at: text.len() - limit.len(),
    }
}

/// A relation and a number, or only a number.
fn compares(text: &str) -> Result<Rule, ParseError> {
    let Written {
        relation,
        limit,
        at,
    } = relation_and_limit(text);
    if let Some(number) = Number::parse_limit(limit) {
        return Ok(Rule::Compares(relation, number));
    }
    let limit_shown: String = limit.chars().take(40).collect();
    let limit_shown = limit_shown.escape_debug();
    if at > 0 {
        let reason = format!("`{limit_shown}` is not a number, time (500ms) or size (10kB)");
        return Err(ParseError::new(at, reason));
    }
    let (word, _) = first_word(text);
    let near = suggestion(word, WORDS);
    let reason = format!(
        "`{limit_shown}` is not a check{near}; write `equals …`, `contains …`, `matches /…/`, \
         `exists`, `missing` or a relation such as `<10`"
    );
    Err(ParseError::new(0, reason))
}
