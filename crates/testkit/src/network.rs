//! The way between client and server.

use crate::Law;
use drumfire_units::Nanos;

/// How long bytes are under way, in each direction. Order is kept.
#[derive(Clone, Debug)]
pub struct Network {
    pub(crate) up: Law,
    pub(crate) down: Law,
}

impl Network {
    /// A network that takes no time.
    #[must_use]
    pub fn instant() -> Self {
        Self {
            up: Law::NONE,
            down: Law::NONE,
        }
    }

    /// This long in each direction.
    #[must_use]
    pub fn each_way(time: Nanos) -> Self {
        Self {
            up: Law::Const(time),
            down: Law::Const(time),
        }
    }

    /// Different laws to the server and from it.
    #[must_use]
    pub fn ways(up: Law, down: Law) -> Self {
        Self { up, down }
    }
}
