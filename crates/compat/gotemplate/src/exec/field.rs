//! Fields of maps and structures, and methods of times and versions.

use super::{Executed, State};
use crate::ast::{Place, Term, TermKind};
use crate::function::{NativeFunction, Signature};
use crate::methods::methods;
use crate::value::{Entry, Value};

impl<'t> State<'t, '_> {
    /// `(pipe).field…`
    pub(super) fn chain(
        &mut self,
        (term, base, fields): (&'t Term, &'t Term, &'t [Box<str>]),
        arguments: &'t [Term],
        last: Option<Value>,
        dot: &Value,
    ) -> Executed<Value> {
        self.at = Some(Place::Term(term));
        if matches!(base.kind, TermKind::Nil) {
            return Err(self.error(format!("indirection through explicit nil in {term}")));
        }
        self.at = Some(Place::Term(base));
        let value = self.bare(base, dot)?;
        self.fields((value, fields), (term, arguments), last, dot)
    }

    /// Evaluates a path of fields. Only the last one may be a method with arguments.
    pub(super) fn fields(
        &mut self,
        (mut value, fields): (Value, &'t [Box<str>]),
        (term, arguments): (&'t Term, &'t [Term]),
        last: Option<Value>,
        dot: &Value,
    ) -> Executed<Value> {
        let Some((final_field, path)) = fields.split_last() else {
            return Ok(value);
        };
        let mut seen = Seen::Itself;
        for field in path {
            let next = self.field((&value, field, seen), (term, &[]), None, dot)?;
            seen = Seen::through(&value);
            value = next;
        }
        self.field((&value, final_field, seen), (term, arguments), last, dot)
    }

    fn field(
        &mut self,
        (value, name, seen): (&Value, &'t str, Seen),
        (term, arguments): (&'t Term, &'t [Term]),
        last: Option<Value>,
        dot: &Value,
    ) -> Executed<Value> {
        let has_arguments = !arguments.is_empty() || last.is_some();
        let found = match value {
            Value::Missing => return Ok(Value::Missing),
            Value::Nil => {
                return Err(self.error(format!("nil pointer evaluating interface {{}}.{name}")));
            }
            Value::Map(_) if has_arguments => {
                return Err(self.error(format!("{name} is not a method but has arguments")));
            }
            Value::Map(map) => return Ok(map.value(name).unwrap_or(Value::Missing)),
            Value::Object(object) => object.field(name),
            Value::Time(_) | Value::Version(_) | Value::Int(..) => {
                if let Some((signature, method)) = method_of(value, name) {
                    let place = Place::Term(term);
                    return self.method(
                        (value, name),
                        (signature, method),
                        place,
                        (arguments, last, dot),
                    );
                }
                None
            }
            _ => None,
        };
        match found {
            Some(_) if has_arguments => Err(self.error(format!(
                "{name} has arguments but cannot be invoked as function"
            ))),
            Some(found) => Ok(found),
            None => {
                let type_name = match seen {
                    Seen::Itself => value.type_name(),
                    Seen::Interface => "interface {}",
                };
                Err(self.error(format!("can't evaluate field {name} in type {type_name}")))
            }
        }
    }

    /// Calls a method with its receiver as the first argument.
    fn method(
        &mut self,
        (value, name): (&Value, &'t str),
        (signature, method): (&str, NativeFunction),
        place: Place<'t>,
        (arguments, last, dot): (&'t [Term], Option<Value>, &Value),
    ) -> Executed<Value> {
        let signature = Signature::parse(signature);
        self.check_count(name, &signature, arguments, last.is_some())?;
        let from = self.arguments.len();
        self.arguments.push(value.clone());
        self.collect(&signature, arguments, last, dot)?;
        self.call_native(name, method, from, place)
    }
}

/// The static type of a value in Go: an element of a map of interfaces is an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seen {
    Itself,
    Interface,
}

impl Seen {
    /// The static type of this value's fields.
    fn through(value: &Value) -> Self {
        match value {
            Value::Map(map) if map.entry() == Entry::Any => Self::Interface,
            _ => Self::Itself,
        }
    }
}

/// The signature and body of a value's method.
fn method_of(value: &Value, name: &str) -> Option<(&'static str, NativeFunction)> {
    let mut rows = methods(value).iter();
    let (_, signature, method) = rows.find(|(row, ..)| *row == name)?;
    Some((signature, *method))
}
