//! Services, methods and messages from `.proto` files, descriptor sets or a server's reflection.
//!
//! Turns JSON into messages and back. Must not know I/O or how a call travels.
