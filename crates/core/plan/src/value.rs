//! Values and conditions that steps of a program compute from a request's context.

use crate::{DataError, RequestContext, ValueForm};
use std::fmt;

/// A value that a step computes from a request's context. The number of that request is the number
/// of the iteration's next request. The value's random numbers must differ from those of that
/// request.
pub trait Value: Send + Sync + fmt::Debug {
    /// Appends the value as text, and returns its type.
    ///
    /// # Errors
    /// If the value cannot be rendered. A request that reads it then fails with blame on the plan.
    fn render(&self, request: &RequestContext, out: &mut String) -> Result<ValueForm, DataError>;
}

/// Whether a group of steps runs: a function of the request's context, as for [`Value`].
pub trait Condition: Send + Sync + fmt::Debug {
    /// Whether the steps run.
    ///
    /// # Errors
    /// If the condition cannot be computed. The iteration then fails with blame on the plan.
    fn holds(&self, request: &RequestContext) -> Result<bool, DataError>;
}
