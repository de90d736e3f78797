//! Replies as a server may send them, good and bad: how each call ends, whatever the cuts.

mod allocation;
mod bombs;
mod cases;
mod compression;
mod exchange;
