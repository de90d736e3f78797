//! The results of a driver's attempts on a connection, which never wait.

use drumfire_units::Nanos;

/// The result of an attempt to receive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    /// This many bytes, at the buffer's start; `drained` if there are no more for now.
    Bytes {
        /// The number of bytes; at least 1.
        length: usize,
        /// Whether a further attempt would find nothing.
        drained: bool,
        /// When the last segment of them arrived, by the kernel's time stamp; `None` if stamps are
        /// not requested, or the socket does not support them. Never in the future.
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
    /// In progress; readiness will follow.
    Pending,
}
