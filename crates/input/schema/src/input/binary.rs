//! Already encoded data.

use crate::json;
use drumfire_plan::DataError;
use prost_reflect::MessageDescriptor;

/// The messages in a sequence of bytes: delimited by their lengths if all bytes can be read in this
/// form, otherwise a single message.
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

/// The pieces after their lengths; `None` if the bytes have another form or are empty.
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
