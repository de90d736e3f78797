//! Content codings, bounded.
