//! Server-sent events, as the HTML standard reads them (section 9.2, "Server-sent events").
//!
//! Knows the framing of an event stream. Must not know I/O, clocks, HTTP, plans, or what an event
//! means. Start reading at [`Reader`].
//!
//! A [`Reader`] receives slices of a body, cut anywhere, and passes on each event that a slice
//! completes. The events are the same for every way of cutting. Each slice has a stamp, such as its
//! number or the time of its arrival, and an event has the stamp of the slice that completed its
//! data:
//!
//! ```
//! use drumfire_sse::{Ending, Reader};
//!
//! let mut reader = Reader::new(1024);
//! let mut seen = Vec::new();
//! for (stamp, slice) in [&b"data: a\r"[..], b"\ndata: b\n", b"\n"].into_iter().enumerate() {
//!     reader.push(slice, stamp as u64, |event| {
//!         seen.push((event.data.to_owned(), event.stamp));
//!     })?;
//! }
//! assert_eq!(seen, [("a\nb".to_owned(), 1)]);
//! assert_eq!(reader.finish(|_event| ()), Ending::Whole);
//! # Ok::<(), drumfire_sse::TooLong>(())
//! ```
//!
//! Reading allocates nothing once the buffers have the size of an event, and no buffer exceeds the
//! reader's limit by more than a factor of three.

mod balance;
mod event;
mod reader;

pub use event::{Ending, Event, TooLong, is_done};
pub use reader::Reader;
