//! The result of compiling a document, and every mistake with its place.

mod broken;
mod expected;
mod llm;
mod loads;
mod scenario;
