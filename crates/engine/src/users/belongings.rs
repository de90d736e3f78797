//! The state that a user keeps from one request to the next, lent to the exchange of each.
//!
//! Neither part is copied for that: the jar moves to the exchange and back, and the variables are
//! shared, with the exchange letting go of its reference before the user changes them. Where an
//! exchange is carried out by another worker, both travel with it.

use drumfire_cookies::Jar;
use drumfire_plan::Variables;
use std::sync::Arc;

/// The state that a user keeps. Empty where a pool has neither variables nor cookies.
#[derive(Debug, Default)]
pub(crate) struct Belongings {
    /// The values of the iteration; `None` where its program sets none.
    pub(crate) variables: Option<Arc<Variables>>,
    /// The cookies; `None` where the pool keeps none.
    pub(crate) jar: Option<Box<Jar>>,
}
