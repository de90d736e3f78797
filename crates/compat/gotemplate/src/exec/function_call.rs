//! Calls of functions.

use super::{Executed, State};
use crate::ast::{Place, Term};
use crate::call::Call;
use crate::fault::Fault;
use crate::format;
use crate::function::{Body, NativeFunction, Parameter, Signature};
use crate::value::Value;

impl<'t> State<'t, '_> {
    /// Calls a function of the program; `last` is the value piped into the call.
    pub(super) fn function(
        &mut self,
        (name, index): (&'t str, usize),
        place: Place<'t>,
        arguments: &'t [Term],
        last: Option<Value>,
        dot: &Value,
    ) -> Executed<Value> {
        self.step()?;
        let function = &self.program.functions[index];
        self.check_count(name, &function.signature, arguments, last.is_some())?;
        match &function.body {
            Body::And => self.short_circuit(ShortCircuit::AtFalse, arguments, last, dot),
            Body::Or => self.short_circuit(ShortCircuit::AtTrue, arguments, last, dot),
            Body::CallValue => self.call_value(place, arguments, last, dot),
            Body::Native(native) => {
                let from = self.arguments.len();
                self.collect(&function.signature, arguments, last, dot)?;
                self.call_native(name, *native, from, place)
            }
            Body::Custom(custom) => {
                let from = self.arguments.len();
                self.collect(&function.signature, arguments, last, dot)?;
                self.call_any(name, from, place, |call, arguments| custom(call, arguments))
            }
        }
    }

    pub(super) fn check_count(
        &self,
        name: &str,
        signature: &Signature,
        arguments: &[Term],
        piped: bool,
    ) -> Executed<()> {
        let got = arguments.len() + usize::from(piped);
        let want = signature.fixed.len();
        if signature.variadic.is_some() && got < want {
            let got = arguments.len();
            return Err(self.error(format!(
                "wrong number of args for {name}: want at least {want} got {got}"
            )));
        }
        if signature.variadic.is_none() && got != want {
            return Err(self.error(format!(
                "wrong number of args for {name}: want {want} got {got}"
            )));
        }
        Ok(())
    }

    /// Pushes the arguments onto the argument stack.
    pub(super) fn collect(
        &mut self,
        signature: &Signature,
        arguments: &'t [Term],
        last: Option<Value>,
        dot: &Value,
    ) -> Executed<()> {
        for (n, term) in arguments.iter().enumerate() {
            let parameter = signature.parameter(n).unwrap_or(Parameter::Any);
            let value = self.argument(term, parameter, dot)?;
            self.arguments.push(value);
        }
        if let Some(value) = last {
            let parameter = signature.parameter(arguments.len());
            let value = self.validated(value, parameter.unwrap_or(Parameter::Any))?;
            self.arguments.push(value);
        }
        Ok(())
    }

    pub(super) fn call_native(
        &mut self,
        name: &str,
        native: NativeFunction,
        from: usize,
        place: Place<'t>,
    ) -> Executed<Value> {
        self.call_any(name, from, place, native)
    }

    /// Calls with the arguments on the stack from index `from`, and pops them.
    fn call_any(
        &mut self,
        name: &str,
        from: usize,
        place: Place<'t>,
        body: impl FnOnce(&mut Call<'_>, &[Value]) -> Result<Value, Fault>,
    ) -> Executed<Value> {
        let mut call = Call {
            env: self.env,
            budget: &mut self.budget,
        };
        let result = body(&mut call, &self.arguments[from..]);
        self.arguments.truncate(from);
        result.map_err(|fault| {
            self.at = Some(place);
            self.error(format!("error calling {name}: {fault}"))
        })
    }

    fn short_circuit(
        &mut self,
        stop: ShortCircuit,
        arguments: &'t [Term],
        last: Option<Value>,
        dot: &Value,
    ) -> Executed<Value> {
        let mut value = Value::Missing;
        for term in arguments {
            value = self.argument(term, Parameter::Reflected, dot)?;
            if value.is_true() == (stop == ShortCircuit::AtTrue) {
                return Ok(value);
            }
        }
        Ok(last.unwrap_or(value))
    }

    /// `call f …`, which always fails: no template value is a function.
    fn call_value(
        &mut self,
        place: Place<'t>,
        arguments: &'t [Term],
        last: Option<Value>,
        dot: &Value,
    ) -> Executed<Value> {
        let mut callee = None;
        for term in arguments {
            let value = self.argument(term, Parameter::Reflected, dot)?;
            callee.get_or_insert_with(|| (value, term.to_string()));
        }
        let (value, name) = match (callee, last) {
            (Some(callee), _) => callee,
            (None, Some(last)) => {
                let name = format::print_or_note(&last);
                (last, name)
            }
            (None, None) => (Value::Missing, String::new()),
        };
        self.at = Some(place);
        if value.is_nil() {
            return Err(self.error("error calling call: call of nil"));
        }
        let type_name = value.type_name();
        Err(self.error(format!(
            "error calling call: non-function {name} of type {type_name}"
        )))
    }
}

/// The truth value at which `and` or `or` stops.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ShortCircuit {
    AtFalse,
    AtTrue,
}
