//! What a document compiles to, and every mistake with its place.

mod broken;
mod expected;
mod loads;
mod scenario;
