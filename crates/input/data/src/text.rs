//! Any template language, seen from where its text is needed.

use drumfire_plan::{DataError, RequestContext};
use std::fmt;

/// A template whose text depends on nothing but the call and the number of the message in it.
pub trait TextTemplate: Send + Sync + fmt::Debug {
    /// Appends the text for the `message`-th message of a call, from 0; metadata is rendered as
    /// that of message 0.
    ///
    /// # Errors
    /// When the template fails for this call.
    fn render(
        &self,
        call: &RequestContext,
        message: u64,
        out: &mut String,
    ) -> Result<(), DataError>;
}
