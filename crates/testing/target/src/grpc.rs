//! gRPC: a greeter, a service whose requests describe their replies, the shop, and reflection.
//!
//! This implementation uses only the `h2` crate, so that a call can fail in every way that a client
//! should survive. `dispatch` passes a call to its method; `call` is one call, `inlet` its
//! requests, `outlet` its answer.

mod call;
mod coding;
mod dispatch;
mod ended;
mod greeter;
mod inlet;
mod messages;
mod outlet;
mod reflection;
mod schema;
mod shop;
mod status;
mod test_service;

pub(crate) use dispatch::answer;

use crate::answer::Counting;
use crate::error::StartError;
use crate::options::Storefront;
use http::HeaderMap;
use prost_reflect::DescriptorPool;

/// State that all calls of a server share.
#[derive(Debug)]
pub(crate) struct Grpc {
    pool: DescriptorPool,
}

impl Grpc {
    /// Compiles the services' schema.
    pub(crate) fn new(storefront: Storefront) -> Result<Self, StartError> {
        let pool = schema::compile(storefront).map_err(|error| StartError::Schema {
            reason: error.to_string(),
        })?;
        Ok(Self { pool })
    }

    fn pool(&self) -> &DescriptorPool {
        &self.pool
    }
}

/// Whether a call belongs to the load, or to reflection.
pub(crate) fn counting(path: &str) -> Counting {
    if path.starts_with("/grpc.reflection.") {
        Counting::Uncounted
    } else {
        Counting::Counted
    }
}

/// Whether a request is a call: `application/grpc`, or `application/grpc+proto`.
pub(crate) fn is_call(fields: &HeaderMap) -> bool {
    let kind = fields.get(http::header::CONTENT_TYPE);
    kind.and_then(|kind| kind.as_bytes().strip_prefix(b"application/grpc"))
        .is_some_and(|rest| matches!(rest, b"" | b"+proto") || rest.starts_with(b";"))
}
