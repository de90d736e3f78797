//! Go's template language and the functions that its users know, for the dialects of Go tools.
//!
//! Must not know I/O, clocks or plans: time, randomness and variables are given.
