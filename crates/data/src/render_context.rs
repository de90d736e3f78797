//! The call and the message that a template is rendered for, and the state of its random numbers.

use crate::Random;
use drumfire_plan::{DataError, RequestContext, VariableId};

/// The place of values that belong to the whole message, such as its UUID; the places of
/// expressions count from 0.
const OWN: u64 = u64::MAX;

/// The call and the message that a template is rendered for.
#[derive(Clone, Debug)]
pub struct RenderContext {
    pub(crate) call: RequestContext,
    /// The number of the message within the call.
    pub(crate) message: u64,
    /// Which of the call's renderings it is: messages with the same number share random values.
    pass: u64,
    /// Which expression of the template is rendered.
    place: u64,
    random: Option<Random>,
}

impl RenderContext {
    /// The `message`-th message of a call. Those with the same `pass` share random values.
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

    /// The value of a variable of the user.
    pub(crate) fn kept(&self, variable: VariableId) -> Result<&str, DataError> {
        match &self.call.variables {
            Some(variables) => variables.get(variable),
            None => Err(DataError::new("no step has set the variable")),
        }
    }

    /// Whether a variable of the user has a value.
    pub(crate) fn has(&self, variable: VariableId) -> bool {
        let variables = self.call.variables.as_ref();
        variables.is_some_and(|variables| variables.is_set(variable))
    }

    /// Moves on to an expression, whose random values do not depend on those of others.
    pub(crate) fn enter(&mut self, place: u64) {
        self.place = place;
        self.random = None;
    }

    /// Where the present expression draws its random numbers.
    pub(crate) fn random(&mut self) -> &mut Random {
        let (call, pass, place) = (&self.call, self.pass, self.place);
        self.random
            .get_or_insert_with(|| Random::new(call.seed, call.number, pass, place))
    }

    /// Random numbers that are the same wherever the message asks for them.
    pub(crate) const fn own(&self) -> Random {
        Random::new(self.call.seed, self.call.number, self.pass, OWN)
    }
}
