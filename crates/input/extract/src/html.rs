//! Values of an HTML text, by CSS selectors. Only this file and the files below it use the library.

mod as_xml;
mod bounded;
mod page;

pub(crate) use as_xml::as_xml;
pub use page::{Page, PageNode, PageSelector};

use crate::pick::{Occurrence, write_text};
use crate::{NoValue, ParseError};
use bounded::{ELEMENTS_MAX, parse};
use scraper::{ElementRef, Selector};
use std::borrow::Cow;

/// The maximum length of a selector, in bytes.
const LENGTH_MAX: usize = 1024;
/// The maximum number of elements of a text if the selector looks at siblings or into elements,
/// because each element may be compared with every other.
const COMPARED_MAX: usize = 5000;

/// A selector, and the part of an element that is taken.
#[derive(Clone, Debug)]
pub(crate) struct CssSelector {
    selector: Selector,
    attribute: Option<Box<str>>,
    elements_max: usize,
}

impl CssSelector {
    /// Parses a selector; a final `@name` takes an attribute.
    pub(crate) fn parse(text: &str) -> Result<Self, ParseError> {
        if text.len() > LENGTH_MAX {
            return Err(ParseError::new(0, "a selector has at most 1,024 bytes"));
        }
        let last = text.rsplit_once(char::is_whitespace);
        let (selector, attribute) = match last {
            Some((selector, last)) if last.starts_with('@') => {
                (selector.trim_end(), Some(&last[1..]))
            }
            _ => (text, None),
        };
        if selector.is_empty() || selector.starts_with('@') {
            let reason = "write a selector: `css a.next`, or `css a.next @href`";
            return Err(ParseError::new(0, reason));
        }
        let attribute = match attribute {
            None => None,
            Some(name) if is_name(name) => Some(name.to_ascii_lowercase().into()),
            Some(_) => {
                let reason = "write the name of an attribute after the `@`: `css a @href`";
                return Err(ParseError::new(text.len() - 1, reason));
            }
        };
        let elements_max = if selector.contains('~') || selector.contains(":has") {
            COMPARED_MAX
        } else {
            ELEMENTS_MAX
        };
        let selector = Selector::parse(selector).map_err(|_| explain(selector))?;
        Ok(Self {
            selector,
            attribute,
            elements_max,
        })
    }

    /// Appends the selected elements: their texts with single blanks, or an attribute of the
    /// elements that have it.
    pub(crate) fn write(
        &self,
        pick: Occurrence,
        body: &[u8],
        out: &mut String,
    ) -> Result<(), NoValue> {
        let text = text_of(body)?;
        let document = parse(text, self.elements_max)?;
        let mut elements = 0;
        let values = document.select(&self.selector).filter(|element| {
            elements += 1;
            let wanted = self.attribute.as_deref();
            wanted.is_none_or(|name| element.value().attr(name).is_some())
        });
        let mut gather = pick.gather(out);
        let mut offer = |element| {
            gather.offer(|form, out| {
                write_text(&self.value(element), form, out);
                Ok(())
            })
        };
        if pick == Occurrence::Last {
            // Elements may be nested, so only one text is read.
            if let Some(last) = values.last() {
                let _ = offer(last)?;
            }
        } else {
            for element in values {
                if offer(element)?.is_break() {
                    break;
                }
            }
        }
        gather.finish(|| {
            NoValue::missing(match elements {
                0 => String::from("the body has no such element"),
                n => format!("there are {n} such elements, without the attribute"),
            })
        })
    }

    /// The value of an element.
    fn value<'a>(&self, element: ElementRef<'a>) -> Cow<'a, str> {
        let Some(name) = &self.attribute else {
            return Cow::Owned(visible_text(element));
        };
        Cow::Borrowed(element.value().attr(name).unwrap_or_default())
    }
}

/// A body as text.
fn text_of(body: &[u8]) -> Result<&str, NoValue> {
    std::str::from_utf8(body).map_err(|error| {
        let at = error.valid_up_to();
        NoValue::unreadable(format!("the body is not UTF-8 at byte {at}"))
    })
}

/// Whether a text is a valid name of an attribute.
fn is_name(name: &str) -> bool {
    let is_part = |c: char| !c.is_whitespace() && !c.is_control() && !"\"'<>/=@".contains(c);
    !name.is_empty() && name.chars().all(is_part)
}

/// The text of an element and its descendants; a run of blanks becomes one, as in a browser.
fn visible_text(element: ElementRef<'_>) -> String {
    let text: String = element.text().collect();
    let mut out = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

/// The mistake in a selector: the longest valid prefix shows its position.
fn explain(selector: &str) -> ParseError {
    let ends = selector.char_indices().map(|(at, _)| at).rev();
    let good = ends.filter(|at| Selector::parse(&selector[..*at]).is_ok());
    let at = good.max().unwrap_or(0);
    ParseError::new(
        at,
        "invalid CSS selector; write one such as `ul#menu > li.open a[href]`",
    )
}
