//! The values that a user keeps for later steps of an iteration.

use crate::DataError;

/// The index of a user's variable, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VariableId(pub u16);

/// The type of a value that is kept as text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ValueForm {
    /// A text.
    #[default]
    Text,
    /// A number, `true`, `false`, `null`, a list or an object; the text is its JSON.
    Json,
}

/// The variables of a user: values, or the reasons for their absence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variables(Vec<Variable>);

/// A variable. A new value reuses the memory of the text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Variable {
    text: String,
    form: ValueForm,
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
    /// Creates `count` variables without values.
    #[must_use]
    pub fn new(count: usize) -> Self {
        Self(vec![Variable::default(); count])
    }

    /// Removes all values and keeps the memory.
    pub fn clear(&mut self) {
        for variable in &mut self.0 {
            variable.state = State::Unset;
        }
    }

    /// Copies the values of `others` to the variables without a value.
    pub fn fill(&mut self, others: &Self) {
        for (variable, other) in self.0.iter_mut().zip(&others.0) {
            if variable.state != State::Set {
                variable.clone_from(other);
            }
        }
    }

    /// Whether a variable has a value.
    #[must_use]
    pub fn is_set(&self, id: VariableId) -> bool {
        let variable = self.0.get(usize::from(id.0));
        variable.is_some_and(|variable| variable.state == State::Set)
    }

    /// The type of a variable's value; a text if the variable has no value.
    #[must_use]
    pub fn form(&self, id: VariableId) -> ValueForm {
        let variable = self.0.get(usize::from(id.0));
        variable.map_or(ValueForm::Text, |variable| variable.form)
    }

    /// The text of a variable's value.
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

    /// Sets a variable to a text, or to the reason for its absence.
    pub fn set(&mut self, id: VariableId, rendered: Result<&str, DataError>) {
        self.set_as(id, ValueForm::Text, rendered);
    }

    /// Sets a variable to a value of type `form`, or to the reason for its absence.
    pub fn set_as(&mut self, id: VariableId, form: ValueForm, rendered: Result<&str, DataError>) {
        let Some(variable) = self.0.get_mut(usize::from(id.0)) else {
            return;
        };
        variable.form = form;
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
    use super::{ValueForm, VariableId, Variables};
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
        assert_eq!(variables.form(one), ValueForm::Text);
        variables.set_as(one, ValueForm::Json, Ok("7"));
        assert_eq!(
            (variables.get(one), variables.form(one)),
            (Ok("7"), ValueForm::Json)
        );
        variables.set(one, Ok("7"));
        assert_eq!(variables.form(one), ValueForm::Text);
        variables.clear();
        for id in [one, two] {
            let error = variables.get(id).expect_err("it is unset");
            assert!(error.words.contains("no step of this iteration"), "{error}");
            assert!(!variables.is_set(id));
        }
    }
}
