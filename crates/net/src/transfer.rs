//! The results of attempts that a driver makes on a connection: they never wait.

use drumfire_units::Nanos;

/// The result of an attempt to receive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    /// This many bytes, at the buffer's start; `drained` when there are no more for now.
    Bytes {
        /// How many; at least 1.
        length: usize,
        /// Whether a further attempt would find nothing.
        drained: bool,
        /// When the last segment of them arrived, by the kernel's stamp; `None` where that is not
        /// asked for, or the socket does not give it. Never later than the present.
        arrived: Option<Nanos>,
    },
    /// The peer has finished sending.
    End,
    /// Nothing for now; readiness will follow.
    Nothing,
}

/// The result of an attempt to open a connection or to secure it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Done.
    Done,
    /// Under way; readiness will follow.
    Pending,
}
