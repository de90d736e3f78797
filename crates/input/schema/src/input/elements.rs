//! Finds the elements of an array without parsing them, so that each may contain expressions.

use super::program::Program;
use crate::json;
use drumfire_data::{JsonPlace, Piece, RenderContext, Template};
use drumfire_plan::{DataError, RequestContext};
use prost_reflect::MessageDescriptor;
use std::cell::Cell;

thread_local! {
    /// The text of the message being rendered, kept to reuse its allocation.
    static TEXT: Cell<String> = const { Cell::new(String::new()) };
}

/// The source of one message.
#[derive(Debug)]
pub(super) enum Element {
    /// A message that does not vary.
    Fixed(Vec<u8>),
    /// A message that is rendered directly if possible, or otherwise as text.
    Templated {
        template: Template,
        program: Option<Program>,
    },
}

impl Element {
    /// An element; `first` is the first call, for which the element must give a message.
    fn new(
        descriptor: &MessageDescriptor,
        template: Template,
        first: &RequestContext,
    ) -> Result<Self, DataError> {
        let pieces = template.pieces().unwrap_or_default();
        if let [Piece::Text(text)] = pieces {
            let mut bytes = Vec::new();
            json::encode(descriptor, text, &mut bytes)?;
            json::check_names(descriptor, text)?;
            return Ok(Self::Fixed(bytes));
        }
        let mut text = String::new();
        let mut context = RenderContext::new(first.clone(), 0, 0);
        // What can't be rendered is reported when the call is tried.
        if template.render_with(&mut context, &mut text).is_ok() {
            json::check_names(descriptor, &text)?;
        }
        // A text that its reader refuses with any values, such as one with two of a choice, needs
        // no program.
        let program = Program::compile(descriptor, pieces).filter(|_| {
            let mut context = RenderContext::new(first.clone(), 0, 0);
            as_text(
                &template,
                descriptor,
                &mut context,
                &mut String::new(),
                &mut Vec::new(),
            )
            .is_ok()
        });
        Ok(Self::Templated { template, program })
    }

    /// Appends the message.
    pub(super) fn render(
        &self,
        descriptor: &MessageDescriptor,
        context: &mut RenderContext,
        out: &mut Vec<u8>,
    ) -> Result<(), DataError> {
        let (template, program) = match self {
            Self::Fixed(bytes) => {
                out.extend_from_slice(bytes);
                return Ok(());
            }
            Self::Templated { template, program } => (template, program),
        };
        let mut text = TEXT.take();
        let rendered = match program {
            Some(program) => program.render(template, context, &mut text, out),
            None => Ok(false),
        };
        let rendered = match rendered {
            Ok(false) => as_text(template, descriptor, context, &mut text, out),
            other => other.map(drop),
        };
        TEXT.set(text);
        rendered
    }
}

/// Renders a template's text and encodes it.
fn as_text(
    template: &Template,
    descriptor: &MessageDescriptor,
    context: &mut RenderContext,
    text: &mut String,
    out: &mut Vec<u8>,
) -> Result<(), DataError> {
    text.clear();
    template.render_with(context, text)?;
    json::encode(descriptor, text, out)
}

/// The elements of a JSON array; `None` if the text is not an array.
pub(super) fn of_text(text: &str) -> Result<Option<Vec<&str>>, DataError> {
    let Some(cuts) = cuts(&[text]) else {
        return Ok(None);
    };
    let mut elements = Vec::with_capacity(cuts.len() - 1);
    for pair in cuts.windows(2) {
        elements.push(&text[pair[0].at + 1..pair[1].at]);
    }
    check(
        &elements
            .iter()
            .map(|text| text.trim().is_empty())
            .collect::<Vec<_>>(),
    )?;
    Ok(Some(elements))
}

/// The elements of a template for one message or an array of messages; `None` if their number is
/// unknown before rendering.
pub(super) fn of_template(
    descriptor: &MessageDescriptor,
    template: &Template,
    first_call: &RequestContext,
) -> Result<Option<Vec<Element>>, DataError> {
    let Some(pieces) = template.pieces() else {
        return Ok(None);
    };
    // An expression represents text that is neither white space nor a bracket.
    let texts: Vec<&str> = pieces
        .iter()
        .map(|piece| match piece {
            Piece::Text(text) => text.as_str(),
            Piece::Expression(_) => EXPRESSION,
        })
        .collect();
    let first = texts
        .iter()
        .map(|text| text.trim_start())
        .find(|text| !text.is_empty());
    if !first.is_some_and(|text| text.starts_with('[')) {
        // A value that begins with an expression may be an array after rendering.
        let object = first.is_some_and(|text| text.starts_with('{'));
        let single =
            || Element::new(descriptor, template.clone(), first_call).map(|element| vec![element]);
        return object.then(single).transpose();
    }
    let Some(cuts) = cuts(&texts) else {
        return Ok(None);
    };
    let lists: Vec<Vec<Piece>> = cuts
        .windows(2)
        .map(|pair| between(pieces, pair[0], pair[1]))
        .collect();
    check(&lists.iter().map(|list| is_empty(list)).collect::<Vec<_>>())?;
    let elements = (1..).zip(lists).map(|(n, list)| {
        Element::new(descriptor, template.with_pieces(list), first_call)
            .map_err(|error| super::in_element(n, error))
    });
    elements.collect::<Result<_, _>>().map(Some)
}

/// The replacement of an expression in the search for elements.
const EXPRESSION: &str = "x";

/// A position in a list of texts.
#[derive(Clone, Copy, Debug)]
struct ListPosition {
    text: usize,
    at: usize,
}

/// The positions of the opening bracket, the commas and the closing bracket of an outermost array.
/// `None` without an array, or if the text continues before or after it.
fn cuts(texts: &[&str]) -> Option<Vec<ListPosition>> {
    let mut cuts = Vec::new();
    let mut place = JsonPlace::default();
    let mut depth = 0u32;
    let mut ended = false;
    for (text, content) in texts.iter().enumerate() {
        for (at, byte) in content.bytes().enumerate() {
            let inside = place.in_string();
            place.step(byte);
            if inside {
                continue;
            }
            let cut = match (depth, byte) {
                (_, b' ' | b'\t' | b'\r' | b'\n') => false,
                _ if ended => return None,
                (0, b'[') => true,
                (0, _) => return None,
                (1, b',' | b']') => true,
                _ => false,
            };
            match byte {
                b'[' | b'{' => depth += 1,
                b']' | b'}' => depth -= 1,
                _ => {}
            }
            // White space after the end is allowed.
            ended |= depth == 0 && byte == b']';
            if cut {
                cuts.push(ListPosition { text, at });
            }
        }
    }
    ended.then_some(cuts)
}

/// The pieces between two cuts.
fn between(pieces: &[Piece], from: ListPosition, to: ListPosition) -> Vec<Piece> {
    let mut list = Vec::new();
    for (index, piece) in pieces.iter().enumerate().take(to.text + 1).skip(from.text) {
        let Piece::Text(text) = piece else {
            list.push(piece.clone());
            continue;
        };
        let start = if index == from.text { from.at + 1 } else { 0 };
        let end = if index == to.text { to.at } else { text.len() };
        if start < end {
            list.push(Piece::Text(text[start..end].to_owned()));
        }
    }
    list
}

fn is_empty(list: &[Piece]) -> bool {
    let blank = |piece: &Piece| matches!(piece, Piece::Text(text) if text.trim().is_empty());
    list.iter().all(blank)
}

/// Refuses empty arrays and empty elements.
fn check(empty: &[bool]) -> Result<(), DataError> {
    match (empty.len(), empty.iter().position(|&empty| empty)) {
        (1, Some(_)) => Err(DataError::new("the data is an empty array")),
        (_, Some(at)) => Err(DataError::new(format!(
            "element {} of the data is missing",
            at + 1
        ))),
        (_, None) => Ok(()),
    }
}
