//! Functions of a request's context that the steps of a program compute.

use crate::{DataError, RequestContext};
use std::fmt;

/// A value that a step computes: a function of the request's context, whose number is the number of
/// the iteration's next request. Its random numbers must differ from that request's.
pub trait Value: Send + Sync + fmt::Debug {
    /// Appends the value as text.
    ///
    /// # Errors
    /// If rendering fails. A request that reads the value then fails with blame on the plan.
    fn render(&self, request: &RequestContext, out: &mut String) -> Result<(), DataError>;
}

/// Whether a group of steps runs: a function of the request's context, like [`Value`].
pub trait Condition: Send + Sync + fmt::Debug {
    /// Whether the condition holds.
    ///
    /// # Errors
    /// If a value that it compares is missing. The iteration then fails with blame on the plan.
    fn holds(&self, request: &RequestContext) -> Result<bool, DataError>;
}
