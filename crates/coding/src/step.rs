//! The contract of a layer: one coding of a body, undone step by step.
//!
//! The decoder calls `step` with the input that a layer has not read yet and with an empty buffer
//! for its output. A step that neither reads nor writes, although there is input, means that the
//! input lies behind the end of the coded body. A layer that reports [`Invalid`] is not called
//! again.

/// The result of one step of a layer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Step {
    /// Bytes of input that are done with.
    pub(crate) read: usize,
    /// Bytes of output that were made.
    pub(crate) written: usize,
}

/// The error of a layer whose input is not valid in its coding. The decoder adds which coding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Invalid;
