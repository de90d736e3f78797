//! HTTP/2 and HPACK, client side: bytes in, events out (RFC 9113, RFC 7541).
//!
//! Knows frames, streams, flow control and header compression. Must not know I/O, clocks or plans.
