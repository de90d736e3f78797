//! Any bytes as a command: they are refused, or encode to the same bytes.

#![no_main]

use drumfire_measure::{decode_command, encode_command};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(command) = decode_command(bytes) {
        assert_eq!(encode_command(&command), bytes);
    }
});
