//! The state that a user keeps from one request to the next, lent to each exchange.
//!
//! Neither part is copied: the jar moves to the exchange and back, and the variables are shared;
//! the exchange drops its reference before the user changes them. If another worker carries out an
//! exchange, both move with it.

use drumfire_cookies::Jar;
use drumfire_plan::Variables;
use std::sync::Arc;

/// The state that a user keeps. Empty if a pool has neither variables nor cookies.
#[derive(Debug, Default)]
pub(crate) struct UserState {
    /// The values of the iteration; `None` if its program sets none.
    pub(crate) variables: Option<Arc<Variables>>,
    /// The cookies; `None` if the pool keeps none.
    pub(crate) jar: Option<Box<Jar>>,
}
