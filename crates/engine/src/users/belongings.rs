//! The state that a user keeps from one request to the next, lent to the exchange of each.

use drumfire_cookies::Jar;
use drumfire_plan::Variables;
use std::sync::Arc;

/// The state that a user keeps.
#[derive(Debug, Default)]
pub(crate) struct Belongings {
    /// The values of the iteration; `None` where its program sets none.
    pub(crate) variables: Option<Arc<Variables>>,
    /// The cookies; `None` where the pool keeps none.
    pub(crate) jar: Option<Box<Jar>>,
}
