//! Schemas, their messages and their replies, as one program.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod allocation;
mod editions;
mod files;
mod fixture;
mod hostile;
mod input;
mod messages;
mod reflection;
mod replies;
mod wild;
