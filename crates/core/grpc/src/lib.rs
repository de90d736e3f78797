//! gRPC's own part of a call: message framing, compression, metadata, deadlines, statuses.
//!
//! Knows the gRPC protocol over HTTP/2, client side. Must not know I/O, clocks, plans, how HTTP/2
//! frames travel, or the meaning of a message. Start reading at [`Reply`].
//!
//! A [`Reply`] is the state of one call; all calls of a worker use one [`Decompressor`]. A call
//! always ends with a [`Status`], even if the server sent none:
//!
//! ```
//! use drumfire_grpc::{Code, Decompressor, Reply, ReplySettings};
//!
//! let mut decompressor = Decompressor::default();
//! let mut reply = Reply::new(&ReplySettings::default());
//! let head = [("content-type", &b"application/grpc"[..])];
//! reply.head(200, head)?;
//! let mut length = 0;
//! reply.data(b"\0\0\0\0\x02hi", &mut decompressor, |message| length += message.length)?;
//! let status = reply.trailers([("grpc-status", &b"0"[..])]);
//! assert!(status.code == Code::OK && length == 2);
//! # Ok::<(), drumfire_grpc::Violation>(())
//! ```
//!
//! Reading an uncompressed message that one DATA frame contains completely copies and allocates
//! nothing.

mod code;
mod compression;
mod framing;
mod gzip;
pub mod metadata;
mod percent;
mod reply;
mod scratch;
mod status;
mod timeout;
mod violation;
mod zstandard;

pub use code::Code;
pub use compression::{Compressor, Decompressor, Encoding};
pub use framing::{
    PREFIX_BYTES, TooLong, begin_message, finish_message, framed_length, write_message,
};
pub use reply::{Keep, Message, Replies, Reply, ReplySettings};
pub use status::Status;
pub use timeout::{TimeoutText, timeout_value};
pub use violation::Violation;
