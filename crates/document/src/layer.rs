//! Parts of a document whose absent values are those of the same part elsewhere.

use crate::Place;

/// A part of a document whose absent values are those of the same part elsewhere: a pool's settings
/// lie above the document's defaults, and a request's above its pool's.
pub trait Layer {
    /// Takes the values of `below` that are absent here.
    fn fill(&mut self, below: &Self);
    /// Where the value of a key was written, if it was.
    fn place(&self, key: &str) -> Option<&Place>;
}
