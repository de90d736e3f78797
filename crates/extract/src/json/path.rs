//! JSON paths (RFC 9535) as they are written.

use crate::ParseError;
use std::fmt;

/// More bytes than this are no path.
const LENGTH_MAX: usize = 1024;

/// A path from the root of a text.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Path {
    pub(super) segments: Vec<Segment>,
}

/// Goes from a value to values within it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Segment {
    /// Whether it also looks at everything within the value.
    pub(super) descends: bool,
    pub(super) selectors: Vec<Selector>,
}

/// Picks members or elements of a value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Selector {
    /// The member with this name.
    Name(Box<str>),
    /// The element with this index; a negative one counts from the end.
    Index(i64),
    /// All members or elements.
    Wildcard,
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => write!(f, "'{}'", name.escape_debug()),
            Self::Index(index) => write!(f, "{index}"),
            Self::Wildcard => f.write_str("*"),
        }
    }
}

impl Path {
    /// Whether it leads to one value at most.
    pub(super) fn is_singular(&self) -> bool {
        self.segments.iter().all(|segment| {
            !segment.descends
                && matches!(
                    segment.selectors[..],
                    [Selector::Name(_) | Selector::Index(_)]
                )
        })
    }

    /// Reads a path.
    pub(super) fn parse(text: &str) -> Result<Self, ParseError> {
        if text.len() > LENGTH_MAX {
            return Err(ParseError::new(0, "a path has at most 1,024 bytes"));
        }
        if !text.starts_with('$') {
            let given = text.trim_start_matches('.').escape_debug();
            let reason = format!("a JSON path starts with `$`: write `$.{given}`");
            return Err(ParseError::new(0, reason));
        }
        let mut parser = Parser { text, at: 1 };
        let segments = parser.segments()?;
        if parser.at < text.len() {
            return Err(parser.error("a path goes on with `.name`, `['name']` or `[0]`"));
        }
        Ok(Self { segments })
    }
}

/// A place in a path.
struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl Parser<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn take(&mut self, text: &str) -> bool {
        let is_here = self.rest().starts_with(text);
        if is_here {
            self.at += text.len();
        }
        is_here
    }

    fn skip_space(&mut self) {
        let rest = self.rest();
        let length = rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len();
        self.at += length;
    }

    fn error(&self, reason: impl Into<String>) -> ParseError {
        ParseError::new(self.at, reason)
    }

    fn segments(&mut self) -> Result<Vec<Segment>, ParseError> {
        let mut segments = Vec::new();
        loop {
            let start = self.at;
            self.skip_space();
            let descends = self.take("..");
            let selectors = if self.take("[") {
                self.bracketed()?
            } else if descends || self.take(".") {
                vec![self.shorthand()?]
            } else {
                self.at = start;
                return Ok(segments);
            };
            segments.push(Segment {
                descends,
                selectors,
            });
        }
    }

    /// `name` or `*`, behind a dot.
    fn shorthand(&mut self) -> Result<Selector, ParseError> {
        if self.take("*") {
            return Ok(Selector::Wildcard);
        }
        let is_name = |c: char| c == '_' || !c.is_ascii() || c.is_ascii_alphanumeric();
        let rest = self.rest();
        let length = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
        let name: Box<str> = rest[..length].into();
        if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(self.error("a name, `*` or `[` follows a dot; an index is `[0]`"));
        }
        if rest[length..].starts_with('-') {
            self.at += length;
            return Err(self.error("a name with `-` is written in quotes: `['first-name']`"));
        }
        self.at += length;
        Ok(Selector::Name(name))
    }

    /// Selectors between brackets, behind the opening one.
    fn bracketed(&mut self) -> Result<Vec<Selector>, ParseError> {
        let mut selectors = Vec::new();
        loop {
            self.skip_space();
            selectors.push(self.selector()?);
            self.skip_space();
            if self.take("]") {
                return Ok(selectors);
            }
            if !self.take(",") {
                return Err(self.error("a `]` is missing, or a `,` before the next selector"));
            }
        }
    }

    fn selector(&mut self) -> Result<Selector, ParseError> {
        if self.take("*") {
            return Ok(Selector::Wildcard);
        }
        if self.rest().starts_with(['\'', '"']) {
            return Ok(Selector::Name(self.quoted()?.into()));
        }
        if let Some(index) = self.integer()? {
            return Ok(Selector::Index(index));
        }
        Err(self.error("write a name in quotes, an index or `*`"))
    }

    /// A whole number between -(2^53 - 1) and 2^53 - 1, without zeros before it.
    fn integer(&mut self) -> Result<Option<i64>, ParseError> {
        let rest = self.rest();
        let signs = usize::from(rest.starts_with('-'));
        let digits = rest[signs..].bytes().take_while(u8::is_ascii_digit).count();
        if signs + digits == 0 {
            return Ok(None);
        }
        let number = &rest[..signs + digits];
        let is_plain = number == "0" || !number[signs..].starts_with('0');
        let value = number.parse::<i64>().ok();
        let value = value.filter(|n| is_plain && n.unsigned_abs() < 1 << 53);
        let Some(value) = value else {
            return Err(self.error("an index is a whole number such as 0, 12 or -1"));
        };
        self.at += number.len();
        Ok(Some(value))
    }

    /// A text in single or double quotes, with JSON's escapes.
    fn quoted(&mut self) -> Result<String, ParseError> {
        let start = self.at;
        let quote = if self.take("'") { '\'' } else { '"' };
        self.at = start + 1;
        let mut text = String::new();
        loop {
            let Some(c) = self.rest().chars().next() else {
                return Err(ParseError::new(
                    start,
                    format!("a closing {quote} is missing"),
                ));
            };
            match c {
                c if c == quote => {
                    self.at += 1;
                    return Ok(text);
                }
                '\\' => {
                    let escaped = &self.rest()[1..];
                    let own_quote = escaped.starts_with(quote);
                    let other_quote = escaped.starts_with(['\'', '"']) && !own_quote;
                    let found = if own_quote {
                        Some((quote, 1))
                    } else {
                        super::text::escape(escaped).filter(|_| !other_quote)
                    };
                    let Some((c, length)) = found else {
                        return Err(self.error("no such escape; JSON's are right here"));
                    };
                    text.push(c);
                    self.at += 1 + length;
                }
                c if c < ' ' => {
                    return Err(self.error("a control character is written as an escape"));
                }
                c => {
                    text.push(c);
                    self.at += c.len_utf8();
                }
            }
        }
    }
}
