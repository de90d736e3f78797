//! A stream as the reader sees it, in slices.

use drumfire_sse::{Ending, Event, Reader, TooLong};

/// An event without its stamp.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) kind: String,
    pub(crate) data: String,
    pub(crate) id: String,
    pub(crate) retry: Option<u64>,
}

impl From<Event<'_>> for Seen {
    fn from(event: Event<'_>) -> Self {
        Self {
            kind: event.kind.to_owned(),
            data: event.data.to_owned(),
            id: event.id.to_owned(),
            retry: event.retry,
        }
    }
}

/// What a stream was: its events with their stamps, and its end.
pub(crate) type Stream = (Vec<(Seen, u64)>, Result<Ending, TooLong>);

/// Reads slices, whose stamps are their numbers.
pub(crate) fn read<'s>(reader: &mut Reader, slices: impl IntoIterator<Item = &'s [u8]>) -> Stream {
    let mut events = Vec::new();
    for (stamp, slice) in (0..).zip(slices) {
        let pushed = reader.push(slice, stamp, |event| {
            events.push((event.into(), event.stamp));
        });
        if let Err(error) = pushed {
            return (events, Err(error));
        }
    }
    let ending = reader.finish(|event| events.push((event.into(), event.stamp)));
    assert_eq!(reader.events(), events.len() as u64);
    (events, Ok(ending))
}

/// The events of a stream in slices, without their stamps.
pub(crate) fn events<'s>(
    slices: impl IntoIterator<Item = &'s [u8]>,
) -> (Vec<Seen>, Result<Ending, TooLong>) {
    let (events, ending) = read(&mut Reader::new(1 << 20), slices);
    (events.into_iter().map(|(event, _)| event).collect(), ending)
}
