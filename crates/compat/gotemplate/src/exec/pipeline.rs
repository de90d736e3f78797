//! Pipelines and their commands.

use super::{Executed, State};
use crate::ast::{Command, Pipe, Place, Target, Term, TermKind};
use crate::number::Number;
use crate::value::Value;

impl<'t> State<'t, '_> {
    /// The value of a pipeline, which is also assigned to the pipeline's variables.
    pub(super) fn pipe(&mut self, pipe: &'t Pipe, dot: &Value) -> Executed<Value> {
        self.at = Some(Place::Pipe(pipe));
        let mut value = None;
        for command in &pipe.commands {
            let next = match self.command(command, dot, value)? {
                Value::Nil => Value::Missing,
                next => next,
            };
            value = Some(next);
        }
        let value = value.unwrap_or(Value::Missing);
        for target in &pipe.targets {
            self.assign(target, value.clone())?;
        }
        Ok(value)
    }

    pub(super) fn assign(&mut self, target: &'t Target, value: Value) -> Executed<()> {
        let Some(slot) = target.slot else {
            return Err(self.error(format!("undefined variable: {}", target.name)));
        };
        self.slots[self.slots_from + slot] = value;
        Ok(())
    }

    /// The value of a command; `last` is the value of the previous command.
    fn command(
        &mut self,
        command: &'t Command,
        dot: &Value,
        last: Option<Value>,
    ) -> Executed<Value> {
        let first = &command.terms[0];
        let arguments = &command.terms[1..];
        match &first.kind {
            TermKind::Field(fields) => {
                self.at = Some(Place::Term(first));
                self.fields((dot.clone(), fields), (first, arguments), last, dot)
            }
            TermKind::Chain(base, fields) => {
                self.chain((first, base, fields), arguments, last, dot)
            }
            TermKind::Function { name, index } => {
                self.at = Some(Place::Term(first));
                let place = Place::Command(command);
                self.function((name, *index), place, arguments, last, dot)
            }
            TermKind::Pipe(pipe) => {
                self.no_function(first, arguments, &last)?;
                self.deeper(|state| state.pipe(pipe, dot))
            }
            TermKind::Variable { fields, .. } => {
                self.at = Some(Place::Term(first));
                let value = self.variable(first)?;
                if fields.is_empty() {
                    self.no_function(first, arguments, &last)?;
                    return Ok(value);
                }
                self.fields((value, fields), (first, arguments), last, dot)
            }
            _ => {
                self.at = Some(Place::Term(first));
                self.no_function(first, arguments, &last)?;
                self.constant(first, dot)
            }
        }
    }

    fn constant(&self, term: &'t Term, dot: &Value) -> Executed<Value> {
        match &term.kind {
            TermKind::Bool(value) => Ok(Value::Bool(*value)),
            TermKind::Dot => Ok(dot.clone()),
            TermKind::Number(number) => self.number(number),
            TermKind::Str { text, .. } => Ok(Value::from(&**text)),
            _ => Err(self.error("nil is not a command")),
        }
    }

    /// A number without a required type: `int`, unless it is written as a float.
    pub(super) fn number(&self, number: &Number) -> Executed<Value> {
        match (number.float, number.int) {
            (Some(float), _) if number.is_float_by_itself() => Ok(Value::Float(float)),
            (_, Some(int)) => Ok(Value::int(int)),
            _ => Err(self.error(format!("{} overflows int", number.text))),
        }
    }

    pub(super) fn variable(&self, term: &'t Term) -> Executed<Value> {
        match &term.kind {
            TermKind::Variable {
                slot: Some(slot), ..
            } => Ok(self.slots[self.slots_from + slot].clone()),
            TermKind::Variable { name, .. } => {
                Err(self.error(format!("undefined variable: {name}")))
            }
            _ => Ok(Value::Missing),
        }
    }

    fn no_function(&self, term: &Term, arguments: &[Term], last: &Option<Value>) -> Executed<()> {
        if arguments.is_empty() && last.is_none() {
            return Ok(());
        }
        Err(self.error(format!("can't give argument to non-function {term}")))
    }
}
