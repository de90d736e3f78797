//! HTTP/1.1, client side, sans-IO: bytes of responses in, events out; heads of requests to bytes.
//!
//! Knows RFC 9112 and the parts of RFC 9110 that framing a message needs. Must not know sockets,
//! clocks or plans. Start reading at [`Machine`].
//!
//! A [`Machine`] is small, because a worker may have thousands of them; [`Shared`] contains
//! everything that they can share.
//!
//! Every response is read strictly; the few deviations that are tolerated have names ([`Notice`])
//! and are reported with the response's end. Everything that a peer sends is limited ([`Limits`]).
//!
//! A [`Machine`] is one connection; all machines of a worker use one [`Shared`]:
//!
//! ```
//! use drumfire_http1::{Event, Machine, Persistence, RequestKind, Shared};
//!
//! let mut shared = Shared::default();
//! let mut machine = Machine::new();
//! machine.send(RequestKind::Normal, Persistence::KeepAlive);
//! let mut input: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
//! let end = loop {
//!     let step = machine.handle_input(input, &mut shared)?;
//!     input = &input[step.consumed..];
//!     if let Event::End(end) = step.event {
//!         break end;
//!     }
//! };
//! assert!(end.status == 200 && end.body_bytes == 2 && end.reusable);
//! # Ok::<(), drumfire_http1::Error>(())
//! ```
//!
//! Reading allocates nothing once a worker is warm. Three readers handle heads, each of them the
//! heads that the previous one leaves: a memory of recent heads (`shared`), httparse (`head`), and
//! drumfire's own strict reader (`scan`), whose verdict is the specification.

mod chunked;
mod error;
mod event;
mod framing;
mod head;
mod headers;
mod limits;
mod machine;
mod notices;
pub mod request;
mod scan;
mod shared;
mod sniff;

pub use error::{Cut, Error, NotHttp};
pub use event::{End, Event, Step};
pub use framing::{BodyKind, RequestKind};
pub use headers::{Head, Headers};
pub use limits::Limits;
pub use machine::{Machine, Persistence, Whole};
pub use notices::{Notice, Notices};
pub use shared::Shared;
