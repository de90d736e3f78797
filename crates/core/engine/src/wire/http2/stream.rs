//! The stream of one exchange: its handle, and its opening.

use crate::id::ExchangeId;
use crate::wire::{Handle, Opening};
use drumfire_http2::{Connection as Machine, EndStream, OpenError, StreamRef};

/// The number of fields of one exchange that are passed on without an allocation.
const FIELDS_INLINE: usize = 16;

/// The stream of a handle of this connection.
pub(super) const fn stream(handle: Handle) -> Option<StreamRef> {
    match handle {
        Handle::Stream(stream) => Some(stream),
        Handle::Connection => None,
    }
}

/// Opens a stream for an exchange: the prepared head, and the fields of this exchange. With
/// [`EndStream::Yes`], no body follows.
///
/// # Errors
/// If the connection has no room.
#[inline]
pub(in crate::wire) fn open(
    machine: &mut Machine,
    id: ExchangeId,
    opening: &Opening<'_>,
    end: EndStream,
) -> Result<StreamRef, OpenError> {
    let head = opening.head.http2();
    let Some(extra) = opening.extra else {
        return machine.open(id.0, head, &[], end);
    };
    let mut fields: [(&[u8], &[u8]); FIELDS_INLINE] = [(&[], &[]); FIELDS_INLINE];
    let mut count = 0;
    for (place, field) in fields.iter_mut().zip(extra.iter()) {
        *place = field;
        count += 1;
    }
    if count < FIELDS_INLINE {
        machine.open(id.0, head, &fields[..count], end)
    } else {
        let fields: Vec<(&[u8], &[u8])> = extra.iter().collect();
        machine.open(id.0, head, &fields, end)
    }
}
