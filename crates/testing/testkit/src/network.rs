//! The network between client and server.

use crate::Law;
use drumfire_units::Nanos;

/// The transit time of bytes in each direction. Bytes stay in order.
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

    /// A network with this transit time in each direction.
    #[must_use]
    pub fn each_way(time: Nanos) -> Self {
        Self {
            up: Law::Const(time),
            down: Law::Const(time),
        }
    }

    /// A network with separate laws for the two directions.
    #[must_use]
    pub fn ways(up: Law, down: Law) -> Self {
        Self { up, down }
    }
}
