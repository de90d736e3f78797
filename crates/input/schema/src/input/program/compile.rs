//! Compiles a template: its JSON is parsed with marks instead of expressions.

use super::scalar::PlainScalar;
use super::{Fragment, Step, Value, Zero};
use crate::json::{self, field, is_special};
use drumfire_data::{Expression, Piece};
use prost::encoding::{WireType, encode_key};
use prost_reflect::{FieldDescriptor, Kind, MessageDescriptor};
use serde_json::{Map, Value as Json};

/// The beginning and the end of a mark: characters for private use. A text that already contains
/// them is not compiled. Between them is the expression's number.
const MARK: (char, char) = ('\u{e000}', '\u{e001}');
/// The beginning of an escape of such a character, in lower case.
const MARK_ESCAPE: &str = "\\ue00";

/// The steps for a template's pieces; `None` if the template must be rendered as text.
pub(super) fn steps(descriptor: &MessageDescriptor, pieces: &[Piece]) -> Option<Vec<Step>> {
    let (text, expressions) = marked(pieces)?;
    let Json::Object(object) = serde_json::from_str(&text).ok()? else {
        return None;
    };
    let mut compiler = ProgramCompiler {
        expressions,
        used: 0,
    };
    let steps = compiler.message(descriptor, &object)?;
    // In an object, a repeated name hides its first value.
    (compiler.used == compiler.expressions.len()).then_some(steps)
}

/// The template's text with marks, and the expressions by number; `None` if an expression is
/// outside a string.
fn marked(pieces: &[Piece]) -> Option<(String, Vec<Expression>)> {
    let mut text = String::new();
    let mut expressions = Vec::new();
    for piece in pieces {
        match piece {
            Piece::Text(part) => {
                let own = part.contains([MARK.0, MARK.1]);
                if own || part.to_ascii_lowercase().contains(MARK_ESCAPE) {
                    return None;
                }
                text.push_str(part);
            }
            Piece::Expression(expression) if expression.in_string() => {
                text.push_str(&format!("{}{}{}", MARK.0, expressions.len(), MARK.1));
                expressions.push(expression.clone());
            }
            Piece::Expression(_) => return None,
        }
    }
    Some((text, expressions))
}

struct ProgramCompiler {
    expressions: Vec<Expression>,
    /// The number of expressions with a known position.
    used: usize,
}

impl ProgramCompiler {
    /// The fields of a message, in the order of their numbers, as encoders write them. The JSON
    /// parser has bounded the depth.
    fn message(
        &mut self,
        descriptor: &MessageDescriptor,
        object: &Map<String, Json>,
    ) -> Option<Vec<Step>> {
        if is_special(descriptor) || object.keys().any(|key| key.contains(MARK.0)) {
            return None;
        }
        let mut fields = Vec::with_capacity(object.len());
        for (name, value) in object {
            fields.push((field(descriptor, name)?, name, value));
        }
        fields.sort_by_key(|(field, ..)| field.number());
        let mut steps = Vec::new();
        for (field, name, value) in fields {
            if has_mark(value) {
                self.field(&field, value, &mut steps)?;
            } else {
                standing(descriptor, name, value, &mut steps)?;
            }
        }
        Some(steps)
    }

    /// A field whose value contains a mark.
    fn field(
        &mut self,
        field: &FieldDescriptor,
        value: &Json,
        steps: &mut Vec<Step>,
    ) -> Option<()> {
        match value {
            Json::Object(entries) if field.is_map() => {
                let kind = field.kind();
                let entry = kind.as_message()?;
                for (key, value) in entries {
                    let pair = Map::from_iter([
                        ("key".to_owned(), Json::String(key.clone())),
                        ("value".to_owned(), value.clone()),
                    ]);
                    let steps_of_entry = self.message(entry, &pair)?;
                    steps.push(nested(field, steps_of_entry));
                }
            }
            Json::Array(list) if field.is_list() => {
                for value in list {
                    if has_mark(value) {
                        self.element(field, value, Zero::Written, steps)?;
                    } else {
                        let list = Json::Array(vec![value.clone()]);
                        standing(field.parent_message(), field.name(), &list, steps)?;
                    }
                }
            }
            _ if field.is_list() || field.is_map() => return None,
            value => {
                let zero = if field.supports_presence() {
                    Zero::Written
                } else {
                    Zero::LeftOut
                };
                self.element(field, value, zero, steps)?;
            }
        }
        Some(())
    }

    /// A value with a mark, of a field or of a list. The numbers of a list are written
    /// individually, which every parser accepts, packed or not.
    fn element(
        &mut self,
        field: &FieldDescriptor,
        value: &Json,
        zero: Zero,
        steps: &mut Vec<Step>,
    ) -> Option<()> {
        match (field.kind(), value) {
            (Kind::Message(inner), Json::Object(object)) if !field.is_group() => {
                let inner = self.message(&inner, object)?;
                steps.push(nested(field, inner));
            }
            (kind, Json::String(text)) => {
                let scalar = PlainScalar::from_kind(&kind)?;
                let tag = tag(field.number(), scalar.wire_type());
                let fragments = self.fragments(text)?;
                steps.push(Step::Value(Value {
                    tag,
                    scalar,
                    zero,
                    fragments,
                }));
            }
            _ => return None,
        }
        Some(())
    }

    /// A string's text, with expressions instead of its marks.
    fn fragments(&mut self, text: &str) -> Option<Vec<Fragment>> {
        let mut fragments = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once(MARK.0) {
            let (number, after) = after.split_once(MARK.1)?;
            if !before.is_empty() {
                fragments.push(Fragment::Text(before.to_owned()));
            }
            let number: usize = number.parse().ok()?;
            fragments.push(Fragment::Expression(self.expressions.get(number)?.clone()));
            self.used += 1;
            rest = after;
        }
        if !rest.is_empty() {
            fragments.push(Fragment::Text(rest.to_owned()));
        }
        Some(fragments)
    }
}

/// An encoded field without marks.
fn standing(
    descriptor: &MessageDescriptor,
    name: &str,
    value: &Json,
    steps: &mut Vec<Step>,
) -> Option<()> {
    let object = Map::from_iter([(name.to_owned(), value.clone())]);
    let mut bytes = Vec::new();
    json::encode(descriptor, &Json::Object(object).to_string(), &mut bytes).ok()?;
    match steps.last_mut() {
        Some(Step::Bytes(before)) => before.extend_from_slice(&bytes),
        _ => steps.push(Step::Bytes(bytes)),
    }
    Some(())
}

fn nested(field: &FieldDescriptor, steps: Vec<Step>) -> Step {
    let tag = tag(field.number(), WireType::LengthDelimited);
    Step::Nested { tag, steps }
}

fn tag(number: u32, wire_type: WireType) -> Vec<u8> {
    let mut tag = Vec::new();
    encode_key(number, wire_type, &mut tag);
    tag
}

/// Whether a value, or a name inside it, contains a mark.
fn has_mark(value: &Json) -> bool {
    match value {
        Json::String(text) => text.contains(MARK.0),
        Json::Array(list) => list.iter().any(has_mark),
        Json::Object(map) => map
            .iter()
            .any(|(key, value)| key.contains(MARK.0) || has_mark(value)),
        Json::Null | Json::Bool(_) | Json::Number(_) => false,
    }
}
