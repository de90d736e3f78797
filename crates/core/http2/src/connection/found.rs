//! The meaning of a frame, before it becomes an event that borrows the input.

use crate::ErrorCode;

/// A parsed frame's meaning. Small, because every request passes through it twice: the error of a
/// stream and the debug data of a GOAWAY stay with their owners until the event is created.
#[derive(Clone, Copy, Debug)]
pub(super) enum Found {
    Ready,
    Capacity,
    Interim {
        token: u32,
        status: u16,
    },
    Head {
        token: u32,
        status: u16,
        list: FoundList,
        end: bool,
    },
    /// This many bytes of the input, which end where the consumed input ends.
    Data {
        token: u32,
        length: u32,
        end: bool,
    },
    Trailers {
        token: u32,
        list: FoundList,
    },
    /// For the reason that [`super::shared::Shared::failure`] returns.
    StreamFailed {
        token: u32,
    },
    Unprocessed {
        token: u32,
    },
    /// With the debug data of [`super::shutdown::Shutdown`].
    GoAway {
        code: ErrorCode,
    },
    Writable {
        token: u32,
    },
    Pong {
        payload: [u8; 8],
    },
}

const _: () = assert!(size_of::<Option<Found>>() <= 16, "it fits two registers");

/// Where a block's fields are stored.
///
/// A single number, because a tag and a place are written by two stores and read by one load, which
/// waits for both (store forwarding) once for each response.
#[derive(Clone, Copy, Debug)]
pub(super) struct FoundList(u16);

impl FoundList {
    /// The list that the last decoded block has filled.
    pub(super) const DECODED: Self = Self(u16::MAX);

    /// This place in the memory.
    #[inline]
    pub(super) const fn remembered(place: u8) -> Self {
        Self(place as u16)
    }

    /// The place in the memory; `None` for the decoded list.
    #[inline]
    pub(super) fn place(self) -> Option<usize> {
        (self.0 != Self::DECODED.0).then_some(usize::from(self.0))
    }
}
