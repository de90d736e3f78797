//! TLS connections of the real driver, with rustls's own server side as the peer.

mod early;
mod peer;
mod pen;
mod pieces;
