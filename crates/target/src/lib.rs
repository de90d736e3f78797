//! The built-in server to fire at.
