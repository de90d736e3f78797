//! The call and the message that a template is rendered for, and the state of its random numbers.

use crate::{Random, typed};
use drumfire_plan::{DataError, RequestContext, ValueForm, VariableId};
use minijinja::Value;

/// The place of values that belong to the whole message, such as its UUID. Expressions have places
/// from 0.
const OWN: u64 = u64::MAX;

/// The call and the message that a template is rendered for.
#[derive(Clone, Debug)]
pub struct RenderContext {
    pub(crate) call: RequestContext,
    /// The number of the message within the call.
    pub(crate) message: u64,
    /// The number of the rendering within the call: renderings with one number share random values.
    pass: u64,
    /// The place of the expression that is rendered.
    place: u64,
    random: Option<Random>,
}

impl RenderContext {
    /// The context of the `message`-th message of a call. Contexts with the same `pass` share random
    /// values.
    #[must_use]
    pub const fn new(call: RequestContext, message: u64, pass: u64) -> Self {
        Self {
            call,
            message,
            pass,
            place: 0,
            random: None,
        }
    }

    /// The context, with an empty one left in its place.
    pub(crate) fn take(&mut self) -> Self {
        let empty = Self::new(RequestContext::default(), 0, 0);
        std::mem::replace(self, empty)
    }

    /// The text of a variable of the user.
    pub(crate) fn kept(&self, variable: VariableId) -> Result<&str, DataError> {
        match &self.call.variables {
            Some(variables) => variables.get(variable),
            None => Err(DataError::new("no step has set the variable")),
        }
    }

    /// The type of a variable of the user.
    pub(crate) fn form(&self, variable: VariableId) -> ValueForm {
        let variables = self.call.variables.as_ref();
        variables.map_or(ValueForm::Text, |variables| variables.form(variable))
    }

    /// The value of a variable of the user.
    pub(crate) fn value(&self, variable: VariableId) -> Result<Value, DataError> {
        let text = self.kept(variable)?;
        Ok(typed::value(text, self.form(variable)))
    }

    /// Moves to an expression, whose random values do not depend on other expressions.
    pub(crate) fn enter(&mut self, place: u64) {
        self.place = place;
        self.random = None;
    }

    /// The random numbers of the current expression.
    pub(crate) fn random(&mut self) -> &mut Random {
        let (call, pass, place) = (&self.call, self.pass, self.place);
        self.random
            .get_or_insert_with(|| Random::new(call.seed, call.number, pass, place))
    }

    /// The random numbers of the whole message.
    pub(crate) const fn own(&self) -> Random {
        Random::new(self.call.seed, self.call.number, self.pass, OWN)
    }
}
