//! WebSocket, client side, sans-IO: handshake fields and frames (RFC 6455), permessage-deflate (RFC
//! 7692), and the handshake over HTTP/2 (RFC 8441).
//!
//! Knows the opening handshake's fields, framing, masking, compression and the closing handshake.
//! Must not know I/O, clocks, plans, how HTTP carries a head, or what a message means. Start reading
//! at [`Reader`].
//!
//! An [`Offer`] belongs to a request, and checks the answers to it. A [`Reader`], a [`Writer`] and a
//! [`Closing`] belong to one connection; they are small and have no buffers while nothing is in
//! progress. All connections of a worker use one [`Shared`]:
//!
//! ```
//! use drumfire_websocket::{Closing, Event, Key, Kind, Offer, Outgoing, Reader, Shared, Writer};
//!
//! let offer = Offer::default();
//! let key = Key::new(*b"the sample nonce");
//! let accept = key.accept();
//! let head = [
//!     ("Upgrade", &b"websocket"[..]),
//!     ("Connection", b"Upgrade"),
//!     ("Sec-WebSocket-Accept", &accept),
//! ];
//! let agreed = offer.check_http1(&key, 101, head)?;
//!
//! let (mut reader, mut writer) = (Reader::new(&agreed, 1024), Writer::new(&agreed));
//! let (mut closing, mut shared) = (Closing::new(), Shared::default());
//! let (mut out, mut mask) = (Vec::new(), || 0x1234_5678);
//! writer.message(&mut out, Outgoing::new(Kind::Text, b"hi"), &mut mask, &mut shared);
//! assert_eq!(out.len(), drumfire_websocket::frame_bytes(2));
//!
//! // A text of one frame, and a close frame with code 1000.
//! let mut input: &[u8] = b"\x81\x05hello\x88\x02\x03\xe8";
//! let mut texts = Vec::new();
//! loop {
//!     let step = reader.handle_input(input, &mut shared)?;
//!     input = &input[step.consumed..];
//!     match step.event {
//!         Event::NeedInput => break,
//!         Event::Message(message) => texts.push(message.payload.to_vec()),
//!         Event::Ping(payload) => Writer::pong(&mut out, payload, mask())?,
//!         Event::Pong(_) => {}
//!         Event::Close(close) => {
//!             if let Some(reply) = closing.close_received(close.code) {
//!                 Writer::close(&mut out, reply.code, "", mask())?;
//!                 closing.close_sent();
//!             }
//!         }
//!     }
//! }
//! assert!(texts == [b"hello"] && closing.is_complete());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Reading and writing allocate nothing once a worker is warm. A message that the input contains
//! completely, uncompressed and in one frame, is passed on without copying.

mod close_code;
mod closing;
mod content;
mod deflate;
mod extension;
mod frame;
mod inflate;
mod key;
mod kind;
mod notices;
mod offer;
mod reader;
mod refusal;
mod shared;
mod text;
mod violation;
mod window;
mod writer;

pub use close_code::CloseCode;
pub use closing::{CloseReply, Closing, Ending, Side};
pub use extension::{Deflate, DeflateOffer, Takeover, WindowBits};
pub use key::Key;
pub use kind::Kind;
pub use notices::{Notice, Notices};
pub use offer::{Agreed, Offer, OfferError, is_handshake_field};
pub use reader::{Close, Event, Message, Reader, Step, UnderWay};
pub use refusal::Refusal;
pub use shared::{Limits, Shared};
pub use violation::Violation;
pub use writer::{Outgoing, TooLong, Writer, frame_bytes};
