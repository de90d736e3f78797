//! Scenarios as they were written.

use super::{Field, Request, Text};

/// One step of a scenario.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Sends a request and waits for its end.
    Request(Box<RequestStep>),
    /// Waits: a time, or a range of times as `200ms..1s`.
    Pause(Text),
    /// Gives variables their values, templates, one after the other.
    Set(Vec<Field>),
}

/// A request as a step.
#[derive(Clone, Debug, PartialEq)]
pub struct RequestStep {
    /// The request.
    pub request: Request,
    /// `continue` or `end_iteration`: what its failure means for the iteration.
    pub on_fail: Option<Text>,
}

impl Step {
    /// The request that it sends, if it sends one.
    #[must_use]
    pub fn request(&self) -> Option<&Request> {
        match self {
            Self::Request(step) => Some(&step.request),
            Self::Pause(_) | Self::Set(_) => None,
        }
    }
}
