//! Arbitrary text as a load: no panic, and errors that point into the text.

#![no_main]

use drumfire_plan::Sequence;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match text.parse::<Sequence>() {
        Ok(sequence) => assert!(!sequence.0.is_empty()),
        Err(error) => {
            assert!(error.at <= text.len(), "{error:?}");
            assert!(text.is_char_boundary(error.at), "{error:?}");
            assert!(!error.message.is_empty());
        }
    }
});
