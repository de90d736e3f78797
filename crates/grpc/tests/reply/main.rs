//! Replies as a server may send them, good and bad: how each call ends, in every cut.

mod allocation;
mod bombs;
mod cases;
mod compression;
mod exchange;
