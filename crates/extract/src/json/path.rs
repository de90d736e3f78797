//! JSON paths (RFC 9535) as they are written.

use super::filter::Filter;
use crate::ParseError;
use std::fmt;

/// More bytes than this are no path.
const LENGTH_MAX: usize = 1024;
/// Parentheses and filters within one another.
const DEPTH_MAX: usize = 32;

/// A path from the root of a text.
#[derive(Clone, Debug)]
pub(super) struct Path {
    pub(super) segments: Vec<Segment>,
}

/// Goes from a value to values within it.
#[derive(Clone, Debug)]
pub(super) struct Segment {
    /// Whether it also looks at everything within the value.
    pub(super) descends: bool,
    pub(super) selectors: Vec<Selector>,
}

/// Picks members or elements of a value.
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
    /// Those of the members or elements of which it holds.
    Filter(Box<Filter>),
}

/// Every `step`-th element from `start` to before `end`; what is negative counts from the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slice {
    start: Option<i64>,
    end: Option<i64>,
    step: i64,
}

impl Slice {
    /// The indices in an array of `length` (RFC 9535, section 2.3.4.2).
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
        let mut next = Some(start).filter(|_| step != 0 && length > 0);
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
    /// Whether it leads to one value at most.
    pub(super) fn is_singular(&self) -> bool {
        is_singular(&self.segments)
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
        let mut parser = Parser {
            text,
            at: 1,
            depth: 0,
        };
        let segments = parser.segments()?;
        if parser.at < text.len() {
            return Err(parser.error("a path goes on with `.name`, `['name']` or `[0]`"));
        }
        Ok(Self { segments })
    }
}

/// Whether the segments lead to one value at most.
pub(super) fn is_singular(segments: &[Segment]) -> bool {
    segments.iter().all(|segment| {
        !segment.descends
            && matches!(
                segment.selectors[..],
                [Selector::Name(_) | Selector::Index(_)]
            )
    })
}

/// A place in a path.
pub(super) struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl<'a> Parser<'a> {
    pub(super) const fn at(&self) -> usize {
        self.at
    }

    pub(super) fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// Passes what was read of the rest.
    pub(super) const fn pass(&mut self, length: usize) {
        self.at += length;
    }

    /// Back to a place, where blanks were passed in vain.
    pub(super) const fn go_to(&mut self, at: usize) {
        self.at = at;
    }

    /// Reads something that may hold another of its kind.
    pub(super) fn nested<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, ParseError>,
    ) -> Result<T, ParseError> {
        if self.depth == DEPTH_MAX {
            return Err(self.error("this is nested deeper than 32 levels"));
        }
        self.depth += 1;
        let inner = read(self);
        self.depth -= 1;
        inner
    }

    pub(super) fn take(&mut self, text: &str) -> bool {
        let is_here = self.rest().starts_with(text);
        if is_here {
            self.at += text.len();
        }
        is_here
    }

    pub(super) fn skip_space(&mut self) {
        let rest = self.rest();
        let length = rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len();
        self.at += length;
    }

    pub(super) fn error(&self, reason: impl Into<String>) -> ParseError {
        ParseError::new(self.at, reason)
    }

    pub(super) fn segments(&mut self) -> Result<Vec<Segment>, ParseError> {
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
        if self.take("?") {
            let filter = self.nested(Filter::parse)?;
            return Ok(Selector::Filter(Box::new(filter)));
        }
        let start = self.integer()?;
        let behind = self.at;
        self.skip_space();
        if self.take(":") {
            return Ok(Selector::Slice(self.slice(start)?));
        }
        self.at = behind;
        start.map(Selector::Index).ok_or_else(|| {
            self.error("write a name in quotes, an index, a slice, `*` or a filter `?…`")
        })
    }

    /// The rest of a slice, behind its first `:`.
    fn slice(&mut self, start: Option<i64>) -> Result<Slice, ParseError> {
        self.skip_space();
        let end = self.integer()?;
        self.skip_space();
        let step = if self.take(":") {
            self.skip_space();
            self.integer()?
        } else {
            None
        };
        let step = step.unwrap_or(1);
        Ok(Slice { start, end, step })
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
    pub(super) fn quoted(&mut self) -> Result<String, ParseError> {
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
