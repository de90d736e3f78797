//! Services, methods and messages from `.proto` files, descriptor sets or a server's reflection;
//! conversion between JSON and messages; and the data of calls.
//!
//! Knows descriptors ([`Schema`], [`Method`]), the reflection service as a machine without I/O
//! ([`reflection::Session`]), data as messages ([`Input`]), and the form of replies
//! ([`ReplyForm`]). Must not know I/O or how a call travels: the caller reads the files. Start
//! reading at [`Schema`], then at [`Input`].
//!
//! If the data of a call does not vary, its JSON becomes a message before the run. The heavy
//! dependencies for descriptors are in this crate, so that `grpc` does not need them.

mod assemble;
mod describe;
mod edition;
mod error;
mod fault;
mod files;
mod fit;
mod google;
mod input;
mod intake;
mod json;
mod looked_at;
mod lookup;
mod method;
pub mod reflection;
mod reply;
mod required;
mod schema;
mod tokens;
mod wire;

pub use error::SchemaError;
pub use input::{Input, Metadata, Refresh};
pub use json::Reading;
pub use looked_at::JsonReplies;
pub use method::Method;
pub use reply::ReplyForm;
pub use schema::Schema;
