//! The bytes of array buffers.

use rquickjs::{ArrayBuffer, Value};

/// A copy of the bytes of an array buffer; `None` if the value is something else or is detached.
#[must_use]
pub fn buffer_bytes(value: &Value<'_>) -> Option<Vec<u8>> {
    let buffer = ArrayBuffer::from_value(value.clone())?;
    let bytes = buffer.as_raw()?;
    // SAFETY: the buffer is alive and attached, and no code of the script runs until the bytes are copied.
    Some(unsafe { bytes.as_ref() }.to_vec())
}
