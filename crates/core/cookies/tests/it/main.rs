//! The contents and output of a jar, by the sections of draft-ietf-httpbis-rfc6265bis; a comparison
//! with another jar; and memory use.

mod allocation;
mod beside;
mod domains;
mod exchange;
mod expiry;
mod fields;
mod hostile;
mod limits;
mod paths;
mod security;
