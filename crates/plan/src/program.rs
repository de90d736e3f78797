//! Programs: the steps of one iteration of a user.

use crate::{Choice, DataError, RequestContext};
use drumfire_units::Nanos;
use std::fmt;
use std::sync::Arc;

/// The steps of one iteration of a user.
#[derive(Clone, Debug)]
pub enum Program {
    /// One request of the pool's list, which the arrival's number chooses.
    Requests(Choice),
    /// These steps, one after the other. At least one is a request.
    Steps(Arc<[Step]>),
}

/// One step.
#[derive(Clone, Debug)]
pub enum Step {
    /// Sends a request, and waits for the exchange's end.
    Request {
        /// Its number in the pool's list, from 0.
        request: u32,
        /// What its failure means for the iteration.
        on_failure: OnFailure,
        /// The variables whose values are taken from its response. When it has failed, those have
        /// none.
        takes: Arc<[VariableId]>,
    },
    /// Waits.
    Pause(Pause),
    /// Keeps a value for later steps of the iteration.
    Set {
        /// Where.
        variable: VariableId,
        /// The value.
        value: Arc<dyn Value>,
    },
}

/// What the failure of a request means for its iteration, which has failed in any case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnFailure {
    /// The next step follows.
    #[default]
    Continue,
    /// The iteration is over.
    EndIteration,
}

/// How long a user waits: evenly distributed from the shortest to the longest time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pause {
    /// The shortest.
    pub from: Nanos,
    /// The longest; not below the shortest.
    pub to: Nanos,
}

impl Pause {
    /// The pause that a random number of 64 bits stands for.
    #[must_use]
    pub fn drawn(self, bits: u64) -> Nanos {
        let span = u128::from(self.to.0.saturating_sub(self.from.0)) + 1;
        Nanos(self.from.0 + ((u128::from(bits) * span) >> 64) as u64)
    }
}

/// A place among a user's variables, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VariableId(pub u16);

/// A value that a step computes: a function of the request's context, whose number is that of the
/// iteration's next request. Its random numbers must differ from those of that request.
pub trait Value: Send + Sync + fmt::Debug {
    /// Appends it as text.
    ///
    /// # Errors
    /// When it can't be rendered; a request that reads it then fails with blame on the plan.
    fn render(&self, request: &RequestContext, out: &mut String) -> Result<(), DataError>;
}

/// The variables of a user: texts, or the reasons why there is none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variables(Vec<Result<String, DataError>>);

impl Variables {
    /// This many, all empty.
    #[must_use]
    pub fn new(count: usize) -> Self {
        Self(vec![Ok(String::new()); count])
    }

    /// Empties all; the memory stays.
    pub fn clear(&mut self) {
        for value in &mut self.0 {
            match value {
                Ok(text) => text.clear(),
                Err(_) => *value = Ok(String::new()),
            }
        }
    }

    /// The text of a variable.
    ///
    /// # Errors
    /// When its value could not be rendered.
    pub fn get(&self, id: VariableId) -> Result<&str, DataError> {
        match self.0.get(usize::from(id.0)) {
            Some(Ok(text)) => Ok(text),
            Some(Err(error)) => Err(error.clone()),
            None => Err(DataError("there is no such variable".to_owned())),
        }
    }

    /// Gives a variable a text, or the reason why it has none; its memory is used again.
    pub fn set(&mut self, id: VariableId, rendered: Result<&str, DataError>) {
        match (self.0.get_mut(usize::from(id.0)), rendered) {
            (Some(Ok(text)), Ok(rendered)) => {
                text.clear();
                text.push_str(rendered);
            }
            (Some(value), rendered) => *value = rendered.map(str::to_owned),
            (None, _) => {}
        }
    }
}

impl Default for Program {
    fn default() -> Self {
        Self::Requests(Choice::default())
    }
}

impl Program {
    /// The steps; none where an iteration is one request.
    #[must_use]
    pub fn steps(&self) -> &[Step] {
        match self {
            Self::Requests(_) => &[],
            Self::Steps(steps) => steps,
        }
    }

    /// How many arrivals go through a list of `requests` once; 1 where an iteration has steps.
    #[must_use]
    pub fn round(&self, requests: usize) -> u64 {
        match self {
            Self::Requests(choice) => choice.round(requests as u64),
            Self::Steps(_) => 1,
        }
    }

    /// Whether an iteration is something else than one request, with books of its own.
    #[must_use]
    pub const fn has_steps(&self) -> bool {
        matches!(self, Self::Steps(_))
    }

    /// How many variables the steps set or take.
    #[must_use]
    pub fn variables(&self) -> usize {
        let highest = |step: &Step| match step {
            Step::Set { variable, .. } => Some(variable.0),
            Step::Request { takes, .. } => takes.iter().map(|variable| variable.0).max(),
            Step::Pause(_) => None,
        };
        let numbers = self.steps().iter().filter_map(highest);
        numbers.max().map_or(0, |highest| usize::from(highest) + 1)
    }

    /// How many requests an iteration sends that goes through to the end.
    #[must_use]
    pub fn requests(&self) -> u64 {
        match self {
            Self::Requests(_) => 1,
            Self::Steps(steps) => {
                let is_request = |step: &&Step| matches!(step, Step::Request { .. });
                steps.iter().filter(is_request).count() as u64
            }
        }
    }

    /// The first request among the steps; `None` where there is none, or an iteration is one
    /// request.
    #[must_use]
    pub fn first_request(&self) -> Option<u32> {
        self.steps().iter().find_map(|step| match step {
            Step::Request { request, .. } => Some(*request),
            Step::Pause(_) | Step::Set { .. } => None,
        })
    }

    /// Whether the first request is due together with its iteration: no pause is before it.
    #[must_use]
    pub fn begins_with_request(&self) -> bool {
        let first = self.steps().iter();
        let mut first = first.filter(|step| !matches!(step, Step::Set { .. }));
        !matches!(first.next(), Some(Step::Pause(_)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_reach_both_their_ends() {
        let pause = Pause {
            from: Nanos(10),
            to: Nanos(12),
        };
        assert_eq!(pause.drawn(0), Nanos(10));
        assert_eq!(pause.drawn(1 << 63), Nanos(11));
        assert_eq!(pause.drawn(u64::MAX), Nanos(12));
        let whole = Pause {
            from: Nanos(0),
            to: Nanos(u64::MAX),
        };
        assert_eq!(whole.drawn(u64::MAX), Nanos(u64::MAX));
        let one = Pause {
            from: Nanos(5),
            to: Nanos(5),
        };
        assert_eq!(one.drawn(u64::MAX), Nanos(5));
    }

    #[test]
    fn variables_hold_texts_and_errors_until_they_are_cleared() {
        let mut variables = Variables::new(2);
        let (one, two, three) = (VariableId(0), VariableId(1), VariableId(2));
        variables.set(one, Err(DataError("no row".to_owned())));
        variables.set(two, Ok("a"));
        variables.set(three, Ok("nowhere"));
        assert_eq!(variables.get(one), Err(DataError("no row".to_owned())));
        assert_eq!(variables.get(two), Ok("a"));
        assert!(variables.get(three).is_err());
        variables.set(one, Ok("b"));
        assert_eq!(variables.get(one), Ok("b"));
        variables.clear();
        assert_eq!((variables.get(one), variables.get(two)), (Ok(""), Ok("")));
    }
}
