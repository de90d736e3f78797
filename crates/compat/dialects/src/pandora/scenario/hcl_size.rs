//! The maximum size of an HCL expression's value, computed before the expression is evaluated.
//!
//! A local value that refers to another one twice doubles its size, and thirty such lines make a
//! gigabyte. The library evaluates an expression as a whole, so its bound is computed first
//! ([`Sizes::upper_bound`]), from the sizes of the values that it refers to ([`Sizes::declare`]).
//! The bound is never too small, and close for ordinary files: only the results of functions are
//! assumed to be as large as all their arguments together.

use hcl::expr::{ObjectKey, Operation, Traversal, TraversalOperator};
use hcl::template::{Directive, Element, Template};
use hcl::{Expression, Value};
use std::collections::HashMap;

/// The maximum size of all expression values of a file together, in bytes.
const BYTES_MAX: u64 = 64 << 20;
/// The bytes of any value in addition to its text.
const VALUE_BYTES: u64 = 32;

/// A value's size, or an upper bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Size {
    bytes: u64,
    /// The number of its elements, if it is a list or a map.
    elements: u64,
    /// The size of the largest element.
    largest: u64,
}

/// The sizes of the values that expressions may refer to.
#[derive(Debug, Default)]
pub(super) struct Sizes {
    locals: HashMap<String, Size>,
    /// The variables of the loops around an expression, the innermost last.
    loops: Vec<(String, Size)>,
    /// The bytes of all values so far.
    spent: u64,
}

impl Size {
    /// A value of this many bytes with unknown elements.
    const fn of_bytes(bytes: u64) -> Self {
        Self {
            bytes,
            elements: bytes / VALUE_BYTES,
            largest: bytes,
        }
    }

    /// A list or a map of elements of these sizes.
    fn of_elements(sizes: impl Iterator<Item = u64>) -> Self {
        let empty = Self {
            bytes: VALUE_BYTES,
            elements: 0,
            largest: 0,
        };
        sizes.fold(empty, |all, bytes| Self {
            bytes: all.bytes.saturating_add(bytes),
            elements: all.elements + 1,
            largest: all.largest.max(bytes),
        })
    }

    fn of_value(value: &Value) -> Self {
        match value {
            Value::Array(values) => {
                Self::of_elements(values.iter().map(|value| Self::of_value(value).bytes))
            }
            Value::Object(entries) => Self::of_elements(
                entries
                    .iter()
                    .map(|(key, value)| key.len() as u64 + Self::of_value(value).bytes),
            ),
            Value::String(text) => Self::of_bytes(VALUE_BYTES + text.len() as u64),
            _ => Self::of_bytes(VALUE_BYTES),
        }
    }
}

impl Sizes {
    /// Declares a local value.
    pub(super) fn declare(&mut self, name: &str, value: &Value) {
        self.locals.insert(name.to_owned(), Size::of_value(value));
    }

    /// Adds a value to the total of the file.
    pub(super) fn spend(&mut self, value: &Value) {
        self.spent = self.spent.saturating_add(Size::of_value(value).bytes);
    }

    /// An upper bound of an expression's value.
    ///
    /// # Errors
    /// If the value or an intermediate value could be too large.
    pub(super) fn upper_bound(&mut self, expression: &Expression) -> Result<Size, String> {
        let size = match expression {
            Expression::String(text) => Size::of_bytes(VALUE_BYTES + text.len() as u64),
            Expression::Array(list) => {
                let sizes = list.iter().map(|of| Ok(self.upper_bound(of)?.bytes));
                Size::of_elements(sizes.collect::<Result<Vec<_>, String>>()?.into_iter())
            }
            Expression::Object(entries) => {
                let mut sizes = Vec::with_capacity(entries.len());
                for (key, value) in entries {
                    let key = match key {
                        ObjectKey::Expression(key) => self.upper_bound(key)?.bytes,
                        name => name.to_string().len() as u64,
                    };
                    sizes.push(key.saturating_add(self.upper_bound(value)?.bytes));
                }
                Size::of_elements(sizes.into_iter())
            }
            Expression::TemplateExpr(template) => {
                let template = Template::from_expr(template).map_err(|error| error.to_string())?;
                match template.elements() {
                    // A single interpolation gives the value itself instead of a text.
                    [Element::Interpolation(single)] => self.upper_bound(&single.expr)?,
                    _ => self.template(&template)?,
                }
            }
            Expression::Variable(name) => self.variable(name.as_str()),
            Expression::Traversal(traversal) => self.traversal(traversal)?,
            Expression::FuncCall(call) => {
                let given = self.sum(call.args.iter())?;
                match call.name.name.as_str() {
                    // A text may be split into as many parts as it has letters.
                    "split" => Size::of_bytes(given.saturating_mul(1 + VALUE_BYTES)),
                    _ => Size::of_bytes(given.saturating_add(VALUE_BYTES)),
                }
            }
            Expression::Parenthesis(inner) => self.upper_bound(inner)?,
            Expression::Conditional(choice) => {
                self.upper_bound(&choice.cond_expr)?;
                let (yes, no) = (
                    self.upper_bound(&choice.true_expr)?,
                    self.upper_bound(&choice.false_expr)?,
                );
                Size::of_bytes(yes.bytes.max(no.bytes))
            }
            Expression::Operation(operation) => {
                match &**operation {
                    Operation::Unary(one) => self.upper_bound(&one.expr)?,
                    Operation::Binary(two) => {
                        self.upper_bound(&two.lhs_expr)?;
                        self.upper_bound(&two.rhs_expr)?
                    }
                };
                Size::of_bytes(VALUE_BYTES)
            }
            Expression::ForExpr(each) => {
                let names = [Some(&each.value_var), each.key_var.as_ref()];
                let made = [Some(&each.value_expr), each.key_expr.as_ref()];
                let made: Vec<&Expression> = made.into_iter().flatten().collect();
                self.repeated(&each.collection_expr, names, |sizes| {
                    if let Some(condition) = &each.cond_expr {
                        sizes.upper_bound(condition)?;
                    }
                    sizes.sum(made.into_iter())
                })?
            }
            _ => Size::of_bytes(VALUE_BYTES),
        };
        self.bounded(size)
    }

    fn bounded(&self, size: Size) -> Result<Size, String> {
        match self.spent.saturating_add(size.bytes) > BYTES_MAX {
            true => Err("the values of its expressions would take more than 64 MiB".to_owned()),
            false => Ok(size),
        }
    }

    fn sum<'e>(
        &mut self,
        mut expressions: impl Iterator<Item = &'e Expression>,
    ) -> Result<u64, String> {
        expressions.try_fold(0_u64, |sum, of| {
            Ok(sum.saturating_add(self.upper_bound(of)?.bytes))
        })
    }

    /// The bound of a loop's result over a collection, from the bound of one pass.
    fn repeated(
        &mut self,
        collection: &Expression,
        names: [Option<&hcl::Identifier>; 2],
        pass: impl FnOnce(&mut Self) -> Result<u64, String>,
    ) -> Result<Size, String> {
        let over = self.upper_bound(collection)?;
        let before = self.loops.len();
        let element = Size::of_bytes(over.largest.saturating_add(VALUE_BYTES));
        let names = names.into_iter().flatten();
        self.loops
            .extend(names.map(|name| (name.as_str().to_owned(), element)));
        let pass = pass(self);
        self.loops.truncate(before);
        let bytes = over
            .elements
            .saturating_mul(pass?.saturating_add(VALUE_BYTES));
        Ok(Size::of_bytes(bytes.saturating_add(VALUE_BYTES)))
    }

    /// The bound of a template's text.
    fn template(&mut self, template: &Template) -> Result<Size, String> {
        let mut bytes = VALUE_BYTES;
        for element in template.elements() {
            let more = match element {
                Element::Literal(text) => text.len() as u64,
                Element::Interpolation(inner) => self.upper_bound(&inner.expr)?.bytes,
                Element::Directive(directive) => match &**directive {
                    Directive::If(choice) => {
                        self.upper_bound(&choice.cond_expr)?;
                        let yes = self.template(&choice.true_template)?.bytes;
                        let no = choice.false_template.as_ref();
                        let no = no.map(|no| self.template(no)).transpose()?;
                        yes.max(no.map_or(0, |no| no.bytes))
                    }
                    Directive::For(each) => {
                        let names = [Some(&each.value_var), each.key_var.as_ref()];
                        let pass = |sizes: &mut Self| Ok(sizes.template(&each.template)?.bytes);
                        self.repeated(&each.collection_expr, names, pass)?.bytes
                    }
                },
            };
            bytes = bytes.saturating_add(more);
            self.bounded(Size::of_bytes(bytes))?;
        }
        Ok(Size::of_bytes(bytes))
    }

    fn variable(&self, name: &str) -> Size {
        let inner = self.loops.iter().rfind(|(known, _)| known == name);
        match inner {
            Some((_, size)) => *size,
            None if name == "local" => Size::of_elements(self.locals.values().map(|of| of.bytes)),
            None => Size::of_bytes(VALUE_BYTES),
        }
    }

    fn traversal(&mut self, traversal: &Traversal) -> Result<Size, String> {
        for operator in &traversal.operators {
            if let TraversalOperator::Index(place) = operator {
                self.upper_bound(place)?;
            }
        }
        if let (Expression::Variable(root), [TraversalOperator::GetAttr(name), rest @ ..]) =
            (&traversal.expr, traversal.operators.as_slice())
            && root.as_str() == "local"
            && !self.loops.iter().any(|(known, _)| known == "local")
        {
            let size = self.locals.get(name.as_str()).copied();
            let size = size.unwrap_or(Size::of_bytes(VALUE_BYTES));
            return Ok(match rest {
                [] => size,
                _ => Size::of_bytes(size.bytes.saturating_add(VALUE_BYTES)),
            });
        }
        let whole = self.upper_bound(&traversal.expr)?;
        Ok(Size::of_bytes(whole.bytes.saturating_add(VALUE_BYTES)))
    }
}
