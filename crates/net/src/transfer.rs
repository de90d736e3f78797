//! The results of attempts that a driver makes on a connection: they never wait.

/// The result of an attempt to receive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    /// This many bytes, at the buffer's start; `drained` when there are no more for now.
    Bytes {
        /// How many; at least 1.
        length: usize,
        /// Whether a further attempt would find nothing.
        drained: bool,
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
