//! Data that is encoded already.

use crate::json;
use drumfire_plan::DataError;
use prost_reflect::MessageDescriptor;

/// The messages in a sequence of bytes: delimited by their lengths if all of it can be read so,
/// otherwise one.
pub(super) fn messages(
    descriptor: &MessageDescriptor,
    bytes: &[u8],
) -> Result<Vec<Vec<u8>>, DataError> {
    if let Some(messages) = delimited(bytes)
        && messages
            .iter()
            .all(|message| json::decode(descriptor, message).is_ok())
    {
        return Ok(messages.into_iter().map(<[u8]>::to_vec).collect());
    }
    json::decode(descriptor, bytes)?;
    Ok(vec![bytes.to_vec()])
}

/// The pieces of bytes that are lengths and pieces; `None` when they are not, or are nothing.
fn delimited(mut bytes: &[u8]) -> Option<Vec<&[u8]>> {
    let mut messages = Vec::new();
    while !bytes.is_empty() {
        let length = prost::encoding::decode_varint(&mut bytes).ok()?;
        let (message, rest) = bytes.split_at_checked(usize::try_from(length).ok()?)?;
        messages.push(message);
        bytes = rest;
    }
    (!messages.is_empty()).then_some(messages)
}
