//! Tidy checks.
fn main() {}
