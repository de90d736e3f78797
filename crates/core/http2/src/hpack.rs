//! Header compression (RFC 7541). Public so that it can be tested and fuzzed separately.
//!
//! The [`Decoder`] tracks the peer's dynamic table exactly, and reports for each block whether it
//! changed the table, so that an equal block need not be decoded again. The [`Encoder`] fills the
//! peer's table once and does not change it afterwards: a request's block then always stays the
//! same.
//!
//! Both tables contain at most 4 KiB, even if a peer offers more. A decoder's error ends the
//! connection, because nothing after it can be trusted; an encoder has no errors, because heads are
//! checked before. Secrets (`authorization`, `cookie`) are never put into a table, so that no other
//! request's compression can reveal them (RFC 7541 section 7.1).

mod decoder;
mod encoder;
mod huffman;
mod integer;
mod prepared;
mod static_table;
mod table;

pub use decoder::{Decoder, Effect, HpackError};
pub use encoder::{Encoder, write_extra};
pub(crate) use prepared::Field;
pub use prepared::{Indexing, PreparedFields};
