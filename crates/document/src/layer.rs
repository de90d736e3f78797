//! Parts of a document whose absent values are those of the same part elsewhere.
//!
//! Filling goes from the inside out: a request's parts are filled from its pool's, which were
//! filled from the defaults, so that each value is that of the nearest part that has it, with that
//! part's place.

use crate::Place;

/// A part of a document whose absent values are those of the same part elsewhere: a pool's settings
/// lie above the document's defaults, and a request's above its pool's.
pub trait Layer {
    /// Takes the values of `below` that are absent here.
    fn fill(&mut self, below: &Self);
    /// The place at which the value of a key was written, if it was.
    fn place(&self, key: &str) -> Option<&Place>;
}
