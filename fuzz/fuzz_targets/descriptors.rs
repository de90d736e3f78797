//! Any bytes as descriptors: taken as they are for a descriptor set and for answers of a server's
//! reflection, or as the script that makes files of nearly the right shape. No panic, whether they
//! are refused, described, or used for a call and its reply.
//!
//! The machinery is that of `crates/schema/tests/it/wild.rs`, where random numbers drive it.

#![no_main]

#[path = "../../crates/schema/tests/it/wild.rs"]
mod wild;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| wild::run(bytes));
