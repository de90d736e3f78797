//! The target over real sockets, as one program.

mod calls;
mod client;
mod faults;
mod frames;
mod grpc;
mod http2;
mod llm;
mod refuses;
mod serves;
mod shop;
mod sockets;
mod tls;
