//! Data that varies between requests: lists, feeds and templates, each a function of the request's
//! number and a seed.
//!
//! Must not know I/O, clocks or protocols.
