//! Virtual clock, simulated network and server.
