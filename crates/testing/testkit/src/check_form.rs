//! Checks the properties of every stored form.

use drumfire_measure::form::{self, Form};
use std::fmt;

/// Checks the form of a value: decoding gives the value back; no prefix of its bytes decodes; and
/// after flipping any bit, the bytes are refused or are the canonical encoding of another value.
///
/// # Panics
/// If a property does not hold.
pub fn check_form<T: Form + PartialEq + fmt::Debug>(value: &T) {
    let bytes = form::encode(value);
    assert_eq!(form::decode::<T>(&bytes).as_ref(), Ok(value));
    for end in 0..bytes.len() {
        let part = form::decode::<T>(&bytes[..end]);
        assert!(part.is_err(), "cut at {end}: {part:?}");
    }
    for at in 0..bytes.len() {
        for bit in 0..8 {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1 << bit;
            if let Ok(other) = form::decode::<T>(&flipped) {
                assert_eq!(form::encode(&other), flipped, "bit {bit} of byte {at}");
            }
        }
    }
}
