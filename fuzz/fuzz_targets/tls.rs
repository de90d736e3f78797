//! Arbitrary bytes as the script of a server that cuts, mixes and corrupts TLS records, and of a
//! client that reads and writes in between: no panic, the text of an honest server arrives, and
//! only a dishonest server makes the connection fail.
//!
//! The test code is shared with `crates/core/net/tests/tls`, where random numbers drive it.

#![no_main]
#![expect(dead_code, reason = "the tests that share these files use more of them")]

#[path = "../../crates/core/net/tests/tls/hostile.rs"]
mod hostile;
#[path = "../../crates/core/net/tests/tls/peer.rs"]
mod peer;
#[path = "../../crates/core/net/tests/tls/pen.rs"]
mod pen;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| hostile::run(bytes));
