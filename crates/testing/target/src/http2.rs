//! HTTP/2 with the `h2` crate, over TLS with ALPN and without TLS with prior knowledge.
//!
//! `serve` is a connection, `port` its bytes, `exchange` one request and `respond` its answer;
//! `peer` is the state that a connection shares with its requests.

mod exchange;
mod port;
mod respond;
mod serve;
mod tokens;

pub(crate) use serve::serve;
