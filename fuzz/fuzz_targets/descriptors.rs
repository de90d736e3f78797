//! Arbitrary bytes as descriptors: used directly as a descriptor set and as answers of server
//! reflection, or as the script that generates files of almost the right shape. No panic if they
//! are refused, described, or used for a call and its reply.
//!
//! The test code is shared with `crates/input/schema/tests/it/wild.rs`, where random numbers drive it.

#![no_main]

#[path = "../../crates/input/schema/tests/it/wild.rs"]
mod wild;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| wild::run(bytes));
