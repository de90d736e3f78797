//! The program `drumfire`.
fn main() {}
