//! A template compiled into a message's encoding: constant bytes, and values between them.
//!
//! If a template has expressions only inside the strings of its JSON, the structure of the message
//! is known before the run. Calls then need not render, parse and convert a text:
//!
//! ```text
//! {"id": "{{ request_number }}", "who": {"name": "user {{ uuid }}"}, "n": 7}
//!     ──►  value(tag 1) · nested(tag 2, value(tag 1)) · bytes
//! ```
//!
//! All other cases (a rendered value that is not plain for its field, a field with a special JSON
//! form) fall back to the text, so both ways give the same message or the same error.

mod compile;
mod scalar;
#[cfg(test)]
mod tests;

use drumfire_data::{Escaping, Expression, Piece, RenderContext, Template};
use drumfire_plan::DataError;
use prost_reflect::MessageDescriptor;
use scalar::PlainScalar;

/// The steps that build a message.
#[derive(Debug)]
pub(super) struct Program {
    steps: Vec<Step>,
}

#[derive(Debug)]
enum Step {
    /// Encoded constant fields.
    Bytes(Vec<u8>),
    /// A nested message: its tag, its length, its fields.
    Nested { tag: Vec<u8>, steps: Vec<Self> },
    /// A field whose value contains expressions.
    Value(Value),
}

#[derive(Debug)]
struct Value {
    tag: Vec<u8>,
    scalar: PlainScalar,
    /// What to do with the default value.
    zero: Zero,
    /// The text of the value.
    fragments: Vec<Fragment>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Zero {
    Written,
    LeftOut,
}

#[derive(Debug)]
enum Fragment {
    Text(String),
    Expression(Expression),
}

impl Program {
    /// Compiles a template's pieces; `None` if the template must be rendered as text.
    pub(super) fn compile(descriptor: &MessageDescriptor, pieces: &[Piece]) -> Option<Self> {
        let steps = compile::steps(descriptor, pieces)?;
        Some(Self { steps })
    }

    /// Appends the message, using `text` as scratch space. Returns `Ok(false)`, with nothing
    /// appended, if this message must be rendered as text.
    pub(super) fn render(
        &self,
        template: &Template,
        context: &mut RenderContext,
        text: &mut String,
        out: &mut Vec<u8>,
    ) -> Result<bool, DataError> {
        let start = out.len();
        let mut making = Making {
            template,
            context,
            text,
            out,
        };
        match making.steps(&self.steps) {
            Ok(true) => Ok(true),
            other => {
                out.truncate(start);
                other
            }
        }
    }
}

/// A message under construction.
struct Making<'a> {
    template: &'a Template,
    context: &'a mut RenderContext,
    text: &'a mut String,
    out: &'a mut Vec<u8>,
}

impl Making<'_> {
    /// Executes all steps; returns `Ok(false)` if one is impossible. The compiler has bounded their
    /// nesting depth.
    fn steps(&mut self, steps: &[Step]) -> Result<bool, DataError> {
        for step in steps {
            let taken = match step {
                Step::Bytes(bytes) => {
                    self.out.extend_from_slice(bytes);
                    true
                }
                Step::Nested { tag, steps } => {
                    self.out.extend_from_slice(tag);
                    let start = open(self.out);
                    let taken = self.steps(steps)?;
                    close(self.out, start);
                    taken
                }
                Step::Value(value) => self.value(value)?,
            };
            if !taken {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn value(&mut self, value: &Value) -> Result<bool, DataError> {
        self.text.clear();
        for fragment in &value.fragments {
            match fragment {
                Fragment::Text(text) => self.text.push_str(text),
                Fragment::Expression(expression) => {
                    let start = self.text.len();
                    let escaping = self
                        .template
                        .evaluate(expression, self.context, self.text)?;
                    // The text is already escaped, so its value is known only after parsing it as
                    // JSON.
                    let special = |byte: u8| byte < 0x20 || byte == b'"' || byte == b'\\';
                    if escaping == Escaping::Done && self.text[start..].bytes().any(special) {
                        return Ok(false);
                    }
                }
            }
        }
        let start = self.out.len();
        self.out.extend_from_slice(&value.tag);
        Ok(match value.scalar.write(self.text, self.out) {
            None => false,
            Some(scalar::Written::Zero) if value.zero == Zero::LeftOut => {
                self.out.truncate(start);
                true
            }
            Some(_) => true,
        })
    }
}

/// Reserves one byte for a length, and returns the position of the counted bytes.
fn open(out: &mut Vec<u8>) -> usize {
    out.push(0);
    out.len()
}

/// Writes the length of the bytes appended since `start`; a long length moves them.
fn close(out: &mut Vec<u8>, start: usize) {
    let mut length = out.len() - start;
    if length < 0x80 {
        out[start - 1] = length as u8;
        return;
    }
    let mut varint = [0u8; 10];
    let mut size = 0;
    while length >= 0x80 {
        varint[size] = length as u8 | 0x80;
        length >>= 7;
        size += 1;
    }
    varint[size] = length as u8;
    out[start - 1] = varint[0];
    out.splice(start..start, varint[1..=size].iter().copied());
}
