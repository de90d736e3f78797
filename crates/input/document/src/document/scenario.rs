//! Scenarios, as written.
//!
//! Steps form a tree: a branch and a loop contain steps. The compiler flattens the tree to a list
//! with a bounded length.

use super::Request;
use crate::{Count, Field, Text};

/// One step of a scenario.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Sends a request and waits for its end.
    Request(Box<RequestStep>),
    /// Waits: a time, a range of times such as `200ms..1s`, a law, or `until 5s`.
    Pause(Text),
    /// Sets variables to values or templates, one after the other.
    Set(Vec<Field>),
    /// Steps that run if a condition holds.
    If(Branch),
    /// Steps that run several times.
    Repeat(Loop),
}

/// Steps that run if a condition holds, and steps that run otherwise.
#[derive(Clone, Debug, PartialEq)]
pub struct Branch {
    /// The condition.
    pub condition: Text,
    /// The steps if the condition holds.
    pub steps: Vec<Step>,
    /// The steps otherwise.
    pub otherwise: Vec<Step>,
}

/// Steps that run several times.
#[derive(Clone, Debug, PartialEq)]
pub struct Loop {
    /// The maximum number of passes: a number, or a template.
    pub passes: Text,
    /// The variable that counts the passes from 0.
    pub index: Option<Text>,
    /// The condition that ends the loop, evaluated after each pass.
    pub until: Option<Text>,
    /// The steps.
    pub steps: Vec<Step>,
}

/// A request as a step.
#[derive(Clone, Debug, PartialEq)]
pub struct RequestStep {
    /// The request.
    pub request: Request,
    /// `continue`, `end_iteration` or `stop_user`: the effect of a failure on the iteration,
    /// optionally after `retry(TIMES)` or `retry(TIMES,REST)`.
    pub on_fail: Option<Text>,
}

impl Step {
    /// The nested steps.
    pub fn within(&self) -> impl Iterator<Item = &Self> {
        let (first, second): (&[Self], &[Self]) = match self {
            Self::If(branch) => (&branch.steps, &branch.otherwise),
            Self::Repeat(repeated) => (&repeated.steps, &[]),
            Self::Request(_) | Self::Pause(_) | Self::Set(_) => (&[], &[]),
        };
        first.iter().chain(second)
    }

    /// The requests of the step, including nested steps, in order.
    #[must_use]
    pub fn requests(&self) -> Vec<&Request> {
        match self {
            Self::Request(step) => vec![&step.request],
            _ => self.within().flat_map(Self::requests).collect(),
        }
    }
}

/// One of several scenarios.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// The name of the scenario.
    pub name: Text,
    /// The share among the scenarios; the default is 1.
    pub weight: Option<Count>,
    /// The steps of the scenario.
    pub steps: Vec<Step>,
}
