//! The machine of HTTP/1.1 and the heads of requests, as one program.

mod conformance;
mod machine;
mod mutation;
mod replay;
mod request;
