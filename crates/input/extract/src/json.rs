//! Values of a JSON text, by their path (RFC 9535).

mod children;
mod cursor;
mod grammar;
mod path;
mod scan;
mod text;
mod walk;

use crate::excerpt::excerpt;
use crate::pick::{Form, Occurrence};
use crate::{NoValue, ParseError};
use children::{Children, find, find_one};
use drumfire_plan::{ValueForm, secret};
use path::{Path, PathSegment, Selector};
use scan::{BrokenJson, Scanner};
use std::ops::ControlFlow;
use walk::Walk;

/// The maximum number of existing names that a message about a missing name lists.
const NAMES_SHOWN: usize = 4;

/// A path that is searched in bodies.
#[derive(Clone, Debug)]
pub(crate) struct JsonPath {
    path: Path,
    is_singular: bool,
}

impl JsonPath {
    /// Parses a path.
    pub(crate) fn parse(text: &str) -> Result<Self, ParseError> {
        let path = grammar::parse(text)?;
        let is_singular = path.is_singular();
        Ok(Self { path, is_singular })
    }

    /// Appends the picked values of the body, and returns the type of the result.
    pub(crate) fn write(
        &self,
        pick: Occurrence,
        body: &[u8],
        out: &mut String,
    ) -> Result<ValueForm, NoValue> {
        let mut scanner = Scanner::new(body)?;
        let root = scanner.position();
        let mut gather = pick.gather(out);
        let mut value = scanner.clone();
        let mut is_text = pick == Occurrence::Maybe;
        let mut visit = |at: usize| {
            gather.offer(|form, out| {
                value.go_to(at);
                is_text = form == Form::Plain && value.peek() == Some(b'"');
                text::write(&mut value, form, out)?;
                Ok(value.check_behind(at == root)?)
            })
        };
        let flow = if self.is_singular {
            visit_one(&self.path.segments, &mut scanner, &mut visit)
        } else {
            Walk::new(&mut scanner, root, &mut visit).follow(root, &self.path.segments)
        };
        let _ = flow?;
        gather.finish(|| self.absent(body))?;
        Ok(match is_text {
            true => ValueForm::Text,
            false => ValueForm::Json,
        })
    }

    fn steps(&self) -> impl Iterator<Item = &Selector> {
        self.path.segments.iter().flat_map(|s| &s.selectors)
    }

    /// The reason why a readable body lacks the value.
    fn absent(&self, body: &[u8]) -> NoValue {
        if !self.is_singular {
            return NoValue::missing("the body has no such value");
        }
        match self.explain(body) {
            Ok(reason) => NoValue::missing(reason),
            Err(broken) => broken.into(),
        }
    }

    /// How far the path leads, and the content instead of its next step.
    fn explain(&self, body: &[u8]) -> Result<String, BrokenJson> {
        let mut scanner = Scanner::new(body)?;
        let mut at = scanner.position();
        let mut place = String::from("$");
        for selector in self.steps() {
            let Some(value) = find(&mut scanner, at, selector)? else {
                let instead = if secret::is_secret(&place) {
                    String::from("whose value may be a secret")
                } else {
                    describe(&mut scanner, at)?
                };
                return Ok(format!("there is no {selector} in `{place}`, {instead}"));
            };
            at = value;
            place.push_str(&format!("[{selector}]").replace('`', ""));
        }
        Ok(String::from("the body has no such value"))
    }
}

/// Visits the single value of the segments.
fn visit_one(
    segments: &[PathSegment],
    scanner: &mut Scanner<'_>,
    visit: &mut dyn FnMut(usize) -> walk::Flow,
) -> walk::Flow {
    let root = scanner.position();
    match find_one(segments, scanner, root)? {
        Some(at) => visit(at),
        None => Ok(ControlFlow::Continue(())),
    }
}

/// A short description of the value at `at`.
fn describe(scanner: &mut Scanner<'_>, at: usize) -> Result<String, BrokenJson> {
    let mut children = Children::scan(scanner, at);
    if children.are_elements() {
        let count = children.count(scanner)?;
        return Ok(format!("an array of {count}"));
    }
    if !children.are_members() {
        let start = scanner.position();
        scanner.skip_value()?;
        let value = excerpt(scanner.bytes(start, scanner.position()));
        return Ok(format!("which is {value}"));
    }
    let mut names = Vec::new();
    while let Some(child) = children.next(scanner)? {
        if names.len() == NAMES_SHOWN {
            names.push(String::from("…"));
            break;
        }
        names.push(excerpt(child.name));
    }
    Ok(if names.is_empty() {
        String::from("an empty object")
    } else {
        format!("which has {}", names.join(", "))
    })
}
