//! Extractors, which take values from a response.

use crate::answer::AnswerPart;
use crate::cookie;
use crate::digest::Algorithm;
use crate::excerpt::excerpt;
use crate::html::{self, CssSelector};
use crate::json::JsonPath;
use crate::pattern::Pattern;
use crate::pick::{Occurrence, push, write_text};
use crate::xml::XPath;
use crate::{NoValue, ParseError};
use drumfire_plan::{Response, ValueForm, suggestion};
use drumfire_units::Nanos;
use std::fmt;

/// Takes a text from a response.
///
/// An extractor is written as a kind and its argument:
///
/// | | takes |
/// |---|---|
/// | `json $.token` | the value at a path (RFC 9535, whole): a string without its quotes, a number with the digits that it has, an object or array as compact JSON |
/// | `xml //order/@id` | the text of a node, by an XPath 1.0 expression, or the expression's value; a name matches in every namespace, so prefixes are left out |
/// | `css a.next`, `css a.next @href` | the text of an element of an HTML body, with single blanks, or an attribute of it |
/// | `html //a/@href` | the same as `xml` of an HTML body, whose parts that XML can't name are left out |
/// | `regex /id=(\d+)/` | the first group of a regular expression's match in the body, or the match where it has no group; the flags `i`, `m` and `s` may follow |
/// | `header Location` | a header field |
/// | `cookie session` | the value that a response gives to a cookie; with several values, the last, which is the one that remains |
/// | `status` | the status |
/// | `body`, `body 100` | the decoded body, or the beginning of it, of at most 100 bytes |
/// | `size` | the number of bytes of the decoded body |
/// | `time` | the response time in seconds |
/// | `answer` | the visible text of a language model's answer |
/// | `answer message` | the answer as JSON messages of its interface, for the next turn |
/// | `answer calls` | the tools that the answer calls, as a JSON list of `id`, `name` and `arguments` |
/// | `fnv1a64`, `xxh3`, `sha256` | a digest of the decoded body in hexadecimal |
///
/// With several values, the extractor takes the first. `json#2`, `json#last`, `json#count` and
/// `json#all` (a JSON array) select others, and `json#maybe` is an empty text without a value. The
/// same suffixes apply to `xml`, `css`, `html`, `regex`, `header` and `cookie`.
#[derive(Clone, Debug)]
pub struct Extractor {
    text: Box<str>,
    source: Source,
    pick: Occurrence,
}

/// The source of a value.
#[derive(Clone, Debug)]
enum Source {
    Json(JsonPath),
    Xml(Box<XPath>),
    Css(Box<CssSelector>),
    Html(Box<XPath>),
    Regex(Pattern),
    Header(Box<str>),
    Cookie(Box<str>),
    Status,
    Body { length_max: usize },
    Size,
    Time,
    Digest(Algorithm),
    Answer(AnswerPart),
}

/// The kinds of extractors.
const KINDS: [&str; 15] = [
    "json", "xml", "css", "html", "regex", "header", "cookie", "status", "body", "size", "time",
    "answer", "fnv1a64", "xxh3", "sha256",
];

/// The advice on a path without the kind of its source.
fn bare_path(text: &str) -> Option<String> {
    let kind = match text {
        text if text.starts_with("$.") || text.starts_with("$[") => "json",
        text if text.starts_with("//") => "xml",
        text if text.starts_with("$") && text.len() == 1 => "json",
        _ => return None,
    };
    Some(format!("write the kind of the path: `{kind} {text}`"))
}

impl Extractor {
    /// Whether the value is the response time.
    pub(crate) const fn is_time(&self) -> bool {
        matches!(self.source, Source::Time)
    }

    /// Parses an extractor.
    ///
    /// # Errors
    /// The position of the first mistake, and the correction.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        let start = text.len() - text.trim_start().len();
        if let Some(path) = bare_path(text.trim()) {
            return Err(ParseError::new(start, path));
        }
        let head_end = text[start..].find(char::is_whitespace);
        let head_end = head_end.map_or(text.len(), |length| start + length);
        let (kind, picked) = match text[start..head_end].split_once('#') {
            None => (&text[start..head_end], None),
            Some((kind, picked)) => (kind, Some(picked)),
        };
        let rest = &text[head_end..];
        let argument_at = head_end + rest.len() - rest.trim_start().len();
        let argument = rest.trim();
        let in_argument = |error: ParseError| error.behind(argument_at);
        let source = match kind {
            "json" => Source::Json(JsonPath::parse(argument).map_err(in_argument)?),
            "xml" => Source::Xml(Box::new(XPath::parse(argument).map_err(in_argument)?)),
            "css" => {
                let selector = CssSelector::parse(argument).map_err(in_argument)?;
                Source::Css(Box::new(selector))
            }
            "html" => Source::Html(Box::new(XPath::parse(argument).map_err(in_argument)?)),
            "regex" => Source::Regex(Pattern::parse(argument).map_err(in_argument)?),
            "header" => Source::Header(header_name(argument).map_err(in_argument)?),
            "cookie" => Source::Cookie(cookie_name(argument).map_err(in_argument)?),
            "body" => Source::Body {
                length_max: length_max(argument).map_err(in_argument)?,
            },
            "answer" => Source::Answer(AnswerPart::parse(argument).map_err(in_argument)?),
            kind => {
                let source = plain(kind).map_err(|error| error.behind(start))?;
                if !argument.is_empty() {
                    let reason = format!("`{kind}` takes no argument");
                    return Err(ParseError::new(argument_at, reason));
                }
                source
            }
        };
        let pick = match picked {
            None => source.usual_pick(),
            Some(picked) if source.may_be_many() => {
                Occurrence::parse(picked).map_err(|error| error.behind(start + kind.len()))?
            }
            Some(_) => {
                let reason =
                    format!("a response has only one `{kind}`; remove the `#` and what follows it");
                return Err(ParseError::new(start + kind.len(), reason));
            }
        };
        let text = text.trim().into();
        Ok(Self { text, source, pick })
    }

    /// The header field that the extractor reads, in lower case.
    #[must_use]
    pub fn header(&self) -> Option<&str> {
        match &self.source {
            Source::Header(name) => Some(name),
            Source::Cookie(_) => Some(cookie::FIELD),
            _ => None,
        }
    }

    /// Whether the extractor reads the body.
    #[must_use]
    pub const fn reads_body(&self) -> bool {
        match self.source {
            Source::Json(_)
            | Source::Xml(_)
            | Source::Css(_)
            | Source::Html(_)
            | Source::Regex(_)
            | Source::Body { .. }
            | Source::Size
            | Source::Digest(_) => true,
            Source::Header(_)
            | Source::Cookie(_)
            | Source::Status
            | Source::Time
            | Source::Answer(_) => false,
        }
    }

    /// Whether the extractor reads the text of an answer.
    #[must_use]
    pub const fn reads_answer(&self) -> bool {
        matches!(self.source, Source::Answer(_))
    }

    /// Appends the value of the response, and returns its type. JSON's values keep JSON's types;
    /// status, size, time and `#count` are numbers, `#all` is a list; all others are texts.
    ///
    /// # Errors
    /// If the response lacks the value, with what it has instead; `out` is then unchanged.
    pub fn extract(&self, response: &Response<'_>, out: &mut String) -> Result<ValueForm, NoValue> {
        let start = out.len();
        let written = self.write(response, out);
        if written.is_err() {
            out.truncate(start);
        }
        written
    }

    /// The bytes of the value, if the value is an unmodified part of the body.
    pub(crate) fn bytes<'a>(&self, response: &Response<'a>) -> Option<&'a [u8]> {
        match self.source {
            Source::Body { length_max } => Some(beginning(response.body, length_max)),
            _ => None,
        }
    }

    fn write(&self, response: &Response<'_>, out: &mut String) -> Result<ValueForm, NoValue> {
        let body = response.body;
        match &self.source {
            Source::Json(path) => return path.write(self.pick, body, out),
            Source::Xml(path) => path.write(self.pick, body, out)?,
            Source::Css(selector) => selector.write(self.pick, body, out)?,
            Source::Html(path) => {
                let xml = html::as_xml(body)?;
                path.write(self.pick, xml.as_bytes(), out)?;
            }
            Source::Regex(pattern) => pattern.write(self.pick, body, out)?,
            Source::Header(name) => self.write_header(name, response, out)?,
            Source::Cookie(name) => self.write_cookie(name, response, out)?,
            Source::Body { length_max } => {
                out.push_str(as_text(beginning(body, *length_max), "the body")?);
            }
            Source::Status => push(out, response.status),
            Source::Size => push(out, body.len()),
            Source::Time => push(out, Seconds(response.time)),
            Source::Digest(algorithm) => algorithm.write(body, out),
            Source::Answer(part) => {
                let missing = "the response is not an answer; read it as one, as in `read: chat`";
                let answer = response.answer.ok_or_else(|| NoValue::missing(missing))?;
                return Ok(part.write(answer, out));
            }
        }
        Ok(match self.source {
            Source::Status | Source::Size | Source::Time => ValueForm::Json,
            _ => self.pick.form_of_texts(),
        })
    }

    fn write_header(
        &self,
        name: &str,
        response: &Response<'_>,
        out: &mut String,
    ) -> Result<(), NoValue> {
        let values = response.fields.values(name);
        self.write_texts(values, "the field", out, || {
            NoValue::missing("the response has no such field")
        })
    }

    fn write_cookie(
        &self,
        name: &str,
        response: &Response<'_>,
        out: &mut String,
    ) -> Result<(), NoValue> {
        let values = cookie::values(response.fields, name);
        self.write_texts(values, "the cookie", out, || {
            match cookie::names(response.fields).next() {
                None => NoValue::missing("the response sets no cookies"),
                Some(other) => {
                    let other = excerpt(other);
                    NoValue::missing(format!("the response sets other cookies, such as {other}"))
                }
            }
        })
    }

    fn write_texts<'a>(
        &self,
        values: impl Iterator<Item = &'a [u8]>,
        noun: &str,
        out: &mut String,
        absent: impl FnOnce() -> NoValue,
    ) -> Result<(), NoValue> {
        let mut gather = self.pick.gather(out);
        for value in values {
            let flow = gather.offer(|form, out| {
                write_text(as_text(value, noun)?, form, out);
                Ok(())
            });
            if flow?.is_break() {
                break;
            }
        }
        gather.finish(absent)
    }
}

impl fmt::Display for Extractor {
    /// Prints the extractor as it was written.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Source {
    /// The default selection.
    const fn usual_pick(&self) -> Occurrence {
        match self {
            Self::Cookie(_) => Occurrence::Last,
            _ => Occurrence::FIRST,
        }
    }

    /// Whether a response may have several values.
    const fn may_be_many(&self) -> bool {
        matches!(
            self,
            Self::Json(_)
                | Self::Xml(_)
                | Self::Css(_)
                | Self::Html(_)
                | Self::Regex(_)
                | Self::Header(_)
                | Self::Cookie(_)
        )
    }
}

/// A kind without an argument.
fn plain(kind: &str) -> Result<Source, ParseError> {
    Ok(match kind {
        "status" => Source::Status,
        "size" => Source::Size,
        "time" => Source::Time,
        "fnv1a64" => Source::Digest(Algorithm::Fnv1a64),
        "xxh3" => Source::Digest(Algorithm::Xxh3),
        "sha256" => Source::Digest(Algorithm::Sha256),
        "" => {
            return Err(ParseError::new(
                0,
                format!("write one of {}", KINDS.join(", ")),
            ));
        }
        other => {
            let near = suggestion(other, KINDS);
            let near = if near.is_empty() {
                format!("; the kinds are {}", KINDS.join(", "))
            } else {
                near
            };
            let other = other.escape_debug();
            return Err(ParseError::new(
                0,
                format!("unknown kind of value `{other}`{near}"),
            ));
        }
    })
}

/// The name of a header field in lower case (RFC 9110, section 5.6.2).
fn header_name(name: &str) -> Result<Box<str>, ParseError> {
    check_token(name, "a header field, such as `header Location`")?;
    Ok(name.to_ascii_lowercase().into())
}

fn cookie_name(name: &str) -> Result<Box<str>, ParseError> {
    check_token(name, "a cookie, such as `cookie session`")?;
    Ok(name.into())
}

fn check_token(name: &str, noun: &str) -> Result<(), ParseError> {
    let is_token = |b: &u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(b);
    if name.is_empty() {
        return Err(ParseError::new(0, format!("name {noun}")));
    }
    match name.bytes().position(|b| !is_token(&b)) {
        None => Ok(()),
        Some(at) => Err(ParseError::new(
            at,
            format!("this is not allowed in the name of {noun}"),
        )),
    }
}

/// The maximum number of bytes of the body to take; all by default.
fn length_max(text: &str) -> Result<usize, ParseError> {
    if text.is_empty() {
        return Ok(usize::MAX);
    }
    let given = text.parse().ok().filter(|n| *n > 0);
    given.ok_or_else(|| ParseError::new(0, "write how many bytes of the body: `body 100`"))
}

/// At most `length_max` bytes, without cutting a character.
fn beginning(body: &[u8], length_max: usize) -> &[u8] {
    let is_inside = |at: usize| body.get(at).is_some_and(|b| b & 0xc0 == 0x80);
    let mut end = body.len().min(length_max);
    // A character has at most three bytes after its first.
    for _ in 0..3 {
        end -= usize::from(end > 0 && is_inside(end));
    }
    &body[..end]
}

fn as_text<'a>(bytes: &'a [u8], noun: &str) -> Result<&'a str, NoValue> {
    std::str::from_utf8(bytes).map_err(|error| {
        let at = error.valid_up_to();
        NoValue::unreadable(format!("{noun} is not UTF-8 at byte {at}"))
    })
}

/// A time in seconds, without trailing zeros.
struct Seconds(Nanos);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SECOND: u64 = 1_000_000_000;
        let (whole, mut fraction) = (self.0.0 / SECOND, self.0.0 % SECOND);
        write!(f, "{whole}")?;
        if fraction == 0 {
            return Ok(());
        }
        let mut width = 9;
        while fraction.is_multiple_of(10) {
            fraction /= 10;
            width -= 1;
        }
        write!(f, ".{fraction:0width$}")
    }
}
