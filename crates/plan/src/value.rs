//! Functions of a request's context that steps of a program compute.

use crate::{DataError, RequestContext};
use std::fmt;

/// A value that a step computes: a function of the request's context, whose number is that of the
/// iteration's next request. Its random numbers must differ from those of that request.
pub trait Value: Send + Sync + fmt::Debug {
    /// Appends it as text.
    ///
    /// # Errors
    /// When it can't be rendered; a request that reads it then fails with blame on the plan.
    fn render(&self, request: &RequestContext, out: &mut String) -> Result<(), DataError>;
}

/// Whether steps are gone through: a function of the request's context, as [`Value`] is.
pub trait Condition: Send + Sync + fmt::Debug {
    /// Whether it holds.
    ///
    /// # Errors
    /// When what it compares has no value; the iteration then fails with blame on the plan.
    fn holds(&self, request: &RequestContext) -> Result<bool, DataError>;
}
