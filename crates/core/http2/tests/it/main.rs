//! The connection of HTTP/2 and its header compression, as one program.

mod allocation;
mod flow;
mod frames;
mod heads;
mod hpack;
mod peer;
mod tunnel;
mod whole;
mod windows;
