//! Arguments of functions: evaluation, and the check against the parameter.

use super::{Executed, State};
use crate::ast::{Place, Term, TermKind};
use crate::function::Parameter;
use crate::number::Number;
use crate::value::{Entry, IntKind, Value};

impl<'t> State<'t, '_> {
    /// The value of an operand as an argument.
    pub(super) fn argument(
        &mut self,
        term: &'t Term,
        parameter: Parameter,
        dot: &Value,
    ) -> Executed<Value> {
        self.at = Some(Place::Term(term));
        let value = match &term.kind {
            TermKind::Bool(_) | TermKind::Number(_) | TermKind::Str { .. } => {
                return self.constant_argument(term, parameter);
            }
            TermKind::Nil => return self.nil_argument(parameter),
            TermKind::Dot => dot.clone(),
            TermKind::Pipe(pipe) => self.deeper(|state| state.pipe(pipe, dot))?,
            _ => self.bare(term, dot)?,
        };
        self.validated(value, parameter)
    }

    /// The value of an operand without arguments: a field, variable, function or chain.
    pub(super) fn bare(&mut self, term: &'t Term, dot: &Value) -> Executed<Value> {
        match &term.kind {
            TermKind::Field(fields) => self.fields((dot.clone(), fields), (term, &[]), None, dot),
            TermKind::Variable { fields, .. } => {
                let value = self.variable(term)?;
                if fields.is_empty() {
                    return Ok(value);
                }
                self.fields((value, fields), (term, &[]), None, dot)
            }
            TermKind::Function { name, index } => {
                self.function((name, *index), Place::Term(term), &[], None, dot)
            }
            TermKind::Chain(base, fields) => self.chain((term, base, fields), &[], None, dot),
            TermKind::Pipe(pipe) => self.deeper(|state| state.pipe(pipe, dot)),
            TermKind::Dot => Ok(dot.clone()),
            TermKind::Bool(value) => Ok(Value::Bool(*value)),
            TermKind::Number(number) => self.number(number),
            TermKind::Str { text, .. } => Ok(Value::from(&**text)),
            TermKind::Nil => Ok(Value::Nil),
        }
    }

    fn nil_argument(&self, parameter: Parameter) -> Executed<Value> {
        match parameter {
            Parameter::Any | Parameter::Map | Parameter::Version => Ok(Value::Nil),
            Parameter::Reflected => Ok(Value::Missing),
            other => Err(self.error(format!("cannot assign nil to {}", other.type_name()))),
        }
    }

    /// A constant as an argument; takes the type of its parameter, if possible.
    fn constant_argument(&self, term: &'t Term, parameter: Parameter) -> Executed<Value> {
        let expected = match (parameter, &term.kind) {
            (Parameter::Any | Parameter::Reflected, TermKind::Number(number)) => {
                return self.number(number);
            }
            (
                Parameter::Any | Parameter::Reflected | Parameter::Str,
                TermKind::Str { text, .. },
            ) => {
                return Ok(Value::from(&**text));
            }
            (Parameter::Any | Parameter::Reflected | Parameter::Bool, TermKind::Bool(value)) => {
                return Ok(Value::Bool(*value));
            }
            (Parameter::Int, TermKind::Number(Number { int: Some(n), .. })) => {
                return Ok(Value::int(*n));
            }
            (Parameter::Int64, TermKind::Number(Number { int: Some(n), .. })) => {
                return Ok(Value::int64(*n));
            }
            (Parameter::Duration, TermKind::Number(Number { int: Some(n), .. })) => {
                return Ok(Value::Int(IntKind::Duration, *n));
            }
            (Parameter::Float, TermKind::Number(Number { float: Some(n), .. })) => {
                return Ok(Value::Float(*n));
            }
            (Parameter::Bool, _) => "bool",
            (Parameter::Float, _) => "float",
            (Parameter::Int | Parameter::Int64 | Parameter::Duration, _) => "integer",
            (Parameter::Str, _) => "string",
            (other, _) => {
                let name = other.type_name();
                return Err(self.error(format!("can't handle {term} for arg of type {name}")));
            }
        };
        Err(self.error(format!("expected {expected}; found {term}")))
    }

    /// A value as an argument; an error if its type is not the parameter's.
    pub(super) fn validated(&self, value: Value, parameter: Parameter) -> Executed<Value> {
        let value = match (parameter, value) {
            (Parameter::Float, Value::Whole(number)) => Value::Float(number as f64),
            (Parameter::Int, Value::Whole(number)) => Value::int(number),
            (Parameter::Int64, Value::Whole(number)) => Value::int64(number),
            (_, value) => value,
        };
        let fits = match (parameter, &value) {
            (Parameter::Reflected, _) => true,
            (Parameter::Any | Parameter::Map | Parameter::Version, Value::Missing) => {
                return Ok(Value::Nil);
            }
            (_, Value::Missing) => {
                let name = parameter.type_name();
                return Err(self.error(format!("invalid value; expected {name}")));
            }
            (Parameter::Any, _)
            | (Parameter::Bool, Value::Bool(_))
            | (Parameter::Float, Value::Float(_))
            | (Parameter::Int, Value::Int(IntKind::Int, _))
            | (Parameter::Int64, Value::Int(IntKind::Int64, _))
            | (Parameter::Duration, Value::Int(IntKind::Duration, _))
            | (Parameter::Str, Value::Str(_))
            | (Parameter::Time, Value::Time(_))
            | (Parameter::Version, Value::Version(_)) => true,
            (Parameter::Map, Value::Map(map)) => map.entry() == Entry::Any,
            _ => false,
        };
        if fits {
            return Ok(value);
        }
        let expected = parameter.type_name();
        let got = match &value {
            Value::Nil => "interface {}",
            other => other.type_name(),
        };
        Err(self.error(format!(
            "wrong type for value; expected {expected}; got {got}"
        )))
    }
}
