//! Arbitrary bytes as a command: they are refused, or encode to the same bytes.

#![no_main]

use drumfire_measure::form;
use drumfire_plan::Command;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(command) = form::decode::<Command>(bytes) {
        assert_eq!(form::encode(&command), bytes);
    }
});
