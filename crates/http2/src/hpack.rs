//! Header compression (RFC 7541). Public so that it can be tested and fuzzed by itself.
//!
//! The [`Decoder`] keeps the peer's dynamic table exactly, and reports for each block whether it
//! changed the table, so that an equal block need not be decoded again. The [`Encoder`] fills the
//! peer's table once and leaves it alone then: a request's block stays the same for good.
//!
//! Both tables hold 4 KiB at most, whatever a peer offers. A decoder's error loses the connection,
//! since nothing after it can be trusted; an encoder has no errors, for heads are judged before.
//! Secrets (`authorization`, `cookie`) are never put into a table, so that no other request's
//! compression can reveal them (RFC 7541 section 7.1).

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
pub use prepared::{Indexing, Prepared};
