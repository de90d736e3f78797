//! Parts of a document that take their absent values from a lower part.
//!
//! Parts are filled from the outside in: a pool's parts from the defaults, then a request's parts
//! from its pool. Each value therefore comes from the nearest part that has it, with the place in
//! that part.

use crate::Place;

/// A part of a document that takes its absent values from a lower part: a pool's settings override
/// the document's defaults, and a request's override its pool's.
pub trait Layer {
    /// Takes the values of `below` that are absent in `self`.
    fn fill(&mut self, below: &Self);
    /// The place where the value of a key was written, if it was.
    fn place(&self, key: &str) -> Option<&Place>;
}
