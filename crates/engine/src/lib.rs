//! Moves bytes for a Plan on time and makes Samples.
