//! HTTP/2 and HPACK, client side, sans-IO: bytes in, events out (RFC 9113, RFC 7541).
//!
//! Knows frames, streams, flow control and header compression. Must not know I/O, clocks or plans.
//! Start reading at [`Connection`]. Every response is read strictly, and nothing is tolerated
//! silently. Everything that a peer sends, or makes us send, is limited ([`Limits`]).
//!
//! The head of a request is prepared once ([`Head`]) and used by every connection:
//!
//! ```
//! use drumfire_http2::{Connection, EndStream, Event, Head, Indexing, Settings};
//!
//! let field = |name: &'static str, value: &'static str| {
//!     (name.as_bytes(), value.as_bytes(), Indexing::Allowed)
//! };
//! let head = Head::new([
//!     field(":method", "GET"),
//!     field(":scheme", "http"),
//!     field(":authority", "localhost"),
//!     field(":path", "/"),
//! ])?;
//! let mut connection = Connection::new(&Settings::default());
//! // The server's SETTINGS; `output` contains our answer.
//! let step = connection.handle_input(&[0, 0, 0, 4, 0, 0, 0, 0, 0])?;
//! assert!(matches!(step.event, Event::Ready));
//! let stream = connection.open(7, &head, &[], EndStream::Yes)?;
//! connection.output_sent(connection.output().len());
//! // HEADERS with END_STREAM: `:status: 204` from the static table.
//! let step = connection.handle_input(&[0, 0, 1, 1, 5, 0, 0, 0, 1, 0x89])?;
//! assert!(matches!(step.event, Event::Head { token: 7, status: 204, end: true, .. }));
//! # let _ = stream;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Once warm, a request and its response allocate nothing: a stream's id is an index into a slab of
//! streams, a request's header block is stored as bytes, and a response's block that was read
//! before is recognised by its bytes.

mod connection;
mod error;
mod event;
mod frame;
mod head;
mod headers;
pub mod hpack;
mod limits;
mod memory;
mod output;
mod response;
mod sniff;
mod stream;
mod streams;

pub use connection::{Connection, Whole};
pub use error::{Error, ErrorCode, NotHttp2, StreamError};
pub use event::{Event, Step};
pub use head::{Head, HeadError};
pub use headers::Headers;
pub use hpack::Indexing;
pub use limits::{LimitKind, Limits, Settings};
pub use stream::{EndStream, OpenError, StreamGone, StreamRef};
