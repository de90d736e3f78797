//! The crate from outside: rules at every cut, beside other implementations, and in bounded memory.

mod allocation;
mod beside;
mod cuts;
mod deflate;
mod handshake;
mod naive;
mod rules;
mod seen;
