//! Content codings (RFC 9110 section 8.4): decodes gzip, deflate, br and zstd bodies in bounded
//! memory.
//!
//! Knows the codings. Must not know HTTP beyond the Content-Encoding value, or the consumer of the
//! output. Start reading at [`Decoder`].
//!
//! ```
//! let mut body = Vec::new();
//! let mut decoder = drumfire_coding::Decoder::new(b"identity", 1024)?;
//! assert!(decoder.is_none(), "nothing to undo");
//! decoder = drumfire_coding::Decoder::new(b"deflate", 1024)?;
//! if let Some(decoder) = &mut decoder {
//!     // A stored block: its length, the complement of its length, the bytes.
//!     decoder.push(b"\x01\x02\x00\xfd\xffhi", &mut |bytes| body.extend_from_slice(bytes))?;
//!     assert_eq!(decoder.finish()?, 2);
//! }
//! assert_eq!(body, b"hi");
//! # Ok::<(), drumfire_coding::Error>(())
//! ```

mod br;
mod coding;
mod decoder;
mod deflate;
mod error;
mod gzip;
mod step;
mod zstandard;

pub use coding::Coding;
pub use decoder::Decoder;
pub use error::Error;
