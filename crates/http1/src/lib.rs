//! HTTP/1.1, client side, sans-IO.
