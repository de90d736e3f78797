//! Scenarios as they were written.
//!
//! Steps form a tree: a branch and a loop hold steps of their own. The compiler makes a flat list
//! of it, whose length is bounded.

use super::Request;
use crate::{Count, Field, Text};

/// One step of a scenario.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Sends a request and waits for its end.
    Request(Box<RequestStep>),
    /// Waits: a time, a range of times as `200ms..1s`, a law, or `until 5s`.
    Pause(Text),
    /// Gives variables their values, templates, one after the other.
    Set(Vec<Field>),
    /// Steps that are gone through where a condition holds.
    If(Branch),
    /// Steps that are gone through several times.
    Repeat(Loop),
}

/// Steps that are gone through where a condition holds, and others where it does not.
#[derive(Clone, Debug, PartialEq)]
pub struct Branch {
    /// The condition.
    pub condition: Text,
    /// The steps where it holds.
    pub steps: Vec<Step>,
    /// The steps where it does not.
    pub otherwise: Vec<Step>,
}

/// Steps that are gone through several times.
#[derive(Clone, Debug, PartialEq)]
pub struct Loop {
    /// The largest number of passes: a number, or a template of one.
    pub passes: Text,
    /// The variable that counts the passes, from 0.
    pub index: Option<Text>,
    /// The condition that ends it, asked after each pass.
    pub until: Option<Text>,
    /// The steps.
    pub steps: Vec<Step>,
}

/// A request as a step.
#[derive(Clone, Debug, PartialEq)]
pub struct RequestStep {
    /// The request.
    pub request: Request,
    /// `continue`, `end_iteration` or `stop_user`: the meaning of its failure for the iteration,
    /// behind `retry(TIMES)` or `retry(TIMES,REST)` perhaps.
    pub on_fail: Option<Text>,
}

impl Step {
    /// The steps within it.
    pub fn within(&self) -> impl Iterator<Item = &Self> {
        let (first, second): (&[Self], &[Self]) = match self {
            Self::If(branch) => (&branch.steps, &branch.otherwise),
            Self::Repeat(repeated) => (&repeated.steps, &[]),
            Self::Request(_) | Self::Pause(_) | Self::Set(_) => (&[], &[]),
        };
        first.iter().chain(second)
    }

    /// The requests that it sends, with those of the steps within it, in their order.
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
    /// Its name.
    pub name: Text,
    /// Its share among the scenarios; 1 where it is absent.
    pub weight: Option<Count>,
    /// Its steps.
    pub steps: Vec<Step>,
}
