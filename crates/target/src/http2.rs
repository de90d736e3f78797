//! HTTP/2 by the `h2` crate, over TLS by ALPN and in the clear by prior knowledge.
//!
//! `serve` is a connection, `port` its bytes, `exchange` one request and `respond` its answer; `peer`
//! is what a connection shares with its requests.

mod exchange;
mod port;
mod respond;
mod serve;

pub(crate) use serve::serve;
