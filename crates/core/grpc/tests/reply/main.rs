//! Replies as a server may send them, valid and invalid: how each call ends, with every split.

mod allocation;
mod bombs;
mod cases;
mod compression;
mod exchange;
