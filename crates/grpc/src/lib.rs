//! gRPC's own part of a call: message framing, compression, metadata, deadlines, statuses.
//!
//! Must not know I/O, clocks, plans or what a message means.
