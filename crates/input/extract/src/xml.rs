//! Values of an XML text, by their XPath 1.0 expression. Only this file uses the library.

mod names;

use crate::excerpt::excerpt;
use crate::pick::{Occurrence, write_text};
use crate::{NoValue, ParseError};
use drumfire_plan::suggestion;
use std::borrow::Cow;
use std::fmt;
use uppsala::{Document, Parser, QName, XPathEvaluator, XPathValue, XmlError};

/// The maximum length of an expression, in bytes.
const LENGTH_MAX: usize = 1024;
/// The maximum nesting depth of elements.
const DEPTH_MAX: u32 = 128;
/// The maximum number of nodes that one evaluation visits, including those in predicates.
const VISITS_MAX: usize = 500_000;
/// The maximum number of attributes of one element, because the library compares each with all
/// earlier ones. They are counted by their `=` since the last `<`, which is not allowed in an
/// attribute.
const ATTRIBUTES_MAX: usize = 2000;
/// The maximum number of tags, comments and attributes in a body, counted by their `<` and `=`. In
/// the tree, each takes about 200 bytes, which is many times its length in the body.
const MARKS_MAX: usize = 500_000;

/// XPath's functions and node tests (XPath 1.0, sections 2.3 and 4), and other names that may
/// precede a parenthesis.
const FUNCTIONS: [&str; 35] = [
    "last",
    "position",
    "count",
    "local-name",
    "namespace-uri",
    "name",
    "string",
    "concat",
    "starts-with",
    "contains",
    "substring-before",
    "substring-after",
    "substring",
    "string-length",
    "normalize-space",
    "translate",
    "boolean",
    "not",
    "true",
    "false",
    "lang",
    "number",
    "sum",
    "floor",
    "ceiling",
    "round",
    "text",
    "node",
    "comment",
    "processing-instruction",
    "and",
    "or",
    "div",
    "mod",
    "id",
];

/// An expression that is evaluated on bodies. Names are compared without their prefixes.
pub(crate) struct XPath {
    text: Box<str>,
    evaluator: XPathEvaluator,
}

impl XPath {
    /// Parses an expression.
    pub(crate) fn parse(text: &str) -> Result<Self, ParseError> {
        if text.is_empty() {
            return Err(ParseError::new(0, "write an XPath: `xml //order/@id`"));
        }
        if text.len() > LENGTH_MAX {
            return Err(ParseError::new(0, "an XPath has at most 1,024 bytes"));
        }
        check_names(text)?;
        let this = Self {
            text: names::unambiguous(text).into(),
            evaluator: XPathEvaluator::new().with_max_node_visits(VISITS_MAX),
        };
        // Mistakes in the expression itself show with any document.
        let sample = this.evaluate("<a/>", |_, _| Ok(()));
        sample.map_err(|none| ParseError::new(0, none.to_string()))?;
        Ok(this)
    }

    /// Appends the selected values: the texts of nodes, or the single value of an expression
    /// without nodes.
    pub(crate) fn write(
        &self,
        pick: Occurrence,
        body: &[u8],
        out: &mut String,
    ) -> Result<(), NoValue> {
        let body = body.strip_prefix("\u{feff}".as_bytes()).unwrap_or(body);
        let text = std::str::from_utf8(body).map_err(|error| {
            let at = error.valid_up_to();
            NoValue::unreadable(format!("the body is not UTF-8 at byte {at}"))
        })?;
        check_marks(body)?;
        self.evaluate(text, |document, value| {
            let mut gather = pick.gather(out);
            let values = match value {
                XPathValue::NodeSet(mut nodes) => {
                    // Nodes may be nested, so only one text is read.
                    if pick == Occurrence::Last {
                        nodes.drain(..nodes.len().saturating_sub(1));
                    }
                    let single = |node| XPathValue::NodeSet(vec![node]);
                    nodes.into_iter().map(single).collect()
                }
                single => vec![single],
            };
            for value in values {
                let flow = gather.offer(|form, out| {
                    write_text(&value.to_string_value(document), form, out);
                    Ok(())
                });
                if flow?.is_break() {
                    break;
                }
            }
            gather.finish(|| NoValue::missing("the body has no such node"))
        })
    }

    fn evaluate(
        &self,
        text: &str,
        read: impl FnOnce(&Document<'_>, XPathValue) -> Result<(), NoValue>,
    ) -> Result<(), NoValue> {
        // Without namespaces, an undeclared prefix is not an error; without entities, no text can
        // expand.
        let parser = Parser::with_namespace_aware(false)
            .with_max_depth(DEPTH_MAX)
            .with_forbid_entities(true);
        let mut document = parser.parse(text).map_err(|error| {
            let error = excerpt(error.to_string().as_bytes());
            NoValue::unreadable(format!("the body is not XML: {error}"))
        })?;
        strip_prefixes(&mut document);
        document.prepare_xpath();
        let value = self
            .evaluator
            .evaluate(&document, document.root(), &self.text);
        let value = value.map_err(|error| {
            let text = match error {
                XmlError::XPath(error) => error.message,
                error => error.to_string(),
            };
            let error = excerpt(text.as_bytes());
            NoValue::unreadable(format!("the XPath can't be evaluated: {error}"))
        })?;
        read(&document, value)
    }
}

impl Clone for XPath {
    fn clone(&self) -> Self {
        Self {
            text: self.text.clone(),
            evaluator: XPathEvaluator::new().with_max_node_visits(VISITS_MAX),
        }
    }
}

impl fmt::Debug for XPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "XPath({})", self.text)
    }
}

/// Refuses prefixes, which would match nothing, and unknown functions, which the library refuses
/// only when a document reaches them.
fn check_names(text: &str) -> Result<(), ParseError> {
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let at = text.len() - rest.len();
        if matches!(c, '\'' | '"') {
            let closing = rest[1..].find(c);
            let length =
                closing.ok_or_else(|| ParseError::new(at, format!("a closing {c} is missing")))?;
            rest = &rest[length + 2..];
            continue;
        }
        let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
        let length = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
        let (name, behind) = rest.split_at(length);
        if let Some(axis) = behind.strip_prefix("::") {
            rest = axis;
        } else if behind.starts_with(':') {
            let reason = "leave out the prefix: a name matches in every namespace; to require a \
                          prefix, write `*[name()='soap:Body']`";
            return Err(ParseError::new(at, reason));
        } else if !name.is_empty()
            && behind.trim_start().starts_with('(')
            && !FUNCTIONS.contains(&name)
        {
            let near = suggestion(name, FUNCTIONS);
            let reason = format!("XPath 1.0 has no function `{name}`{near}");
            return Err(ParseError::new(at, reason));
        } else {
            rest = &rest[length.max(c.len_utf8())..];
        }
    }
    Ok(())
}

/// Refuses a body with too many tags, or with too many attributes in one tag.
fn check_marks(body: &[u8]) -> Result<(), NoValue> {
    let (mut attributes, mut marks) = (0_usize, 0_usize);
    for byte in body {
        match byte {
            b'<' => attributes = 0,
            b'=' => attributes += 1,
            _ => continue,
        }
        marks += 1;
        if attributes > ATTRIBUTES_MAX {
            let reason = "the body has more than 2,000 attributes in a tag, or `=` in a text";
            return Err(NoValue::unreadable(reason));
        }
        if marks > MARKS_MAX {
            let reason = "the body has more than 500,000 tags and attributes";
            return Err(NoValue::unreadable(reason));
        }
    }
    Ok(())
}

/// Replaces qualified names by local names.
fn strip_prefixes(document: &mut Document<'_>) {
    for node in document.descendants(document.root()) {
        let Some(element) = document.element_mut(node) else {
            continue;
        };
        strip_prefix(&mut element.name);
        for attribute in &mut element.attributes {
            strip_prefix(&mut attribute.name);
        }
    }
}

fn strip_prefix(name: &mut QName<'_>) {
    let Some(colon) = name.local_name.find(':') else {
        return;
    };
    if name.local_name.starts_with("xmlns:") {
        return;
    }
    let (prefix, local) = match &name.local_name {
        Cow::Borrowed(text) => (text[..colon].into(), text[colon + 1..].into()),
        Cow::Owned(text) => {
            let (prefix, local) = (text[..colon].to_owned(), text[colon + 1..].to_owned());
            (Cow::Owned(prefix), Cow::Owned(local))
        }
    };
    name.prefix = Some(prefix);
    name.local_name = local;
}
