//! The contract of a layer: it decodes one coding of a body, step by step.
//!
//! The decoder calls `step` with the layer's unread input and with an empty output buffer. A step
//! that neither reads nor writes, although it has input, means that the input is after the end of
//! the coded body. A layer that returns [`Invalid`] is not called again.

/// The result of one step of a layer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Step {
    /// The number of input bytes read.
    pub(crate) read: usize,
    /// The number of output bytes written.
    pub(crate) written: usize,
}

/// The error of a layer with invalid input. The decoder adds the coding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Invalid;
