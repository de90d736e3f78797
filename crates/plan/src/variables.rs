//! The values that a user keeps for later steps of an iteration.

use crate::DataError;

/// The index of a user's variable, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VariableId(pub u16);

/// The variables of a user: texts, or the reasons why a text is missing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variables(Vec<Variable>);

/// One variable.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Variable {
    /// The text, in reused memory.
    text: String,
    state: State,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum State {
    /// No step has set the variable in this iteration.
    #[default]
    Unset,
    Set,
    Failed(DataError),
}

impl Variables {
    /// Creates this number of unset variables.
    #[must_use]
    pub fn new(count: usize) -> Self {
        Self(vec![Variable::default(); count])
    }

    /// Unsets all variables; keeps the memory.
    pub fn clear(&mut self) {
        for variable in &mut self.0 {
            variable.state = State::Unset;
        }
    }

    /// Copies the variables of `others` that have no text here.
    pub fn fill(&mut self, others: &Self) {
        for (variable, other) in self.0.iter_mut().zip(&others.0) {
            if variable.state != State::Set {
                variable.clone_from(other);
            }
        }
    }

    /// Whether a variable has a text.
    #[must_use]
    pub fn is_set(&self, id: VariableId) -> bool {
        let variable = self.0.get(usize::from(id.0));
        variable.is_some_and(|variable| variable.state == State::Set)
    }

    /// The text of a variable.
    ///
    /// # Errors
    /// If no step has set the variable, or its value could not be rendered.
    pub fn get(&self, id: VariableId) -> Result<&str, DataError> {
        let failed = |why: &str| Err(DataError::new(why));
        match self.0.get(usize::from(id.0)) {
            Some(variable) => match &variable.state {
                State::Set => Ok(&variable.text),
                State::Unset => failed("no step of this iteration has set the variable"),
                State::Failed(error) => Err(error.clone()),
            },
            None => failed("unknown variable"),
        }
    }

    /// Sets the text of a variable, or the reason why it is missing.
    pub fn set(&mut self, id: VariableId, rendered: Result<&str, DataError>) {
        let Some(variable) = self.0.get_mut(usize::from(id.0)) else {
            return;
        };
        variable.state = match rendered {
            Ok(text) => {
                variable.text.clear();
                variable.text.push_str(text);
                State::Set
            }
            Err(error) => State::Failed(error),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::{VariableId, Variables};
    use crate::DataError;

    #[test]
    fn variables_hold_texts_and_errors_until_they_are_cleared() {
        let mut variables = Variables::new(2);
        let (one, two, three) = (VariableId(0), VariableId(1), VariableId(2));
        variables.set(one, Err(DataError::new("no row")));
        variables.set(two, Ok("text"));
        variables.set(three, Ok("nowhere"));
        assert_eq!(variables.get(one), Err(DataError::new("no row")));
        assert_eq!(variables.get(two), Ok("text"));
        assert_eq!(
            (variables.is_set(one), variables.is_set(two)),
            (false, true)
        );
        assert!(variables.get(three).is_err() && !variables.is_set(three));
        variables.set(one, Ok("other"));
        assert_eq!(variables.get(one), Ok("other"));
        variables.clear();
        for id in [one, two] {
            let error = variables.get(id).expect_err("it is unset");
            assert!(error.words.contains("no step of this iteration"), "{error}");
            assert!(!variables.is_set(id));
        }
    }
}
