//! What a jar keeps and sends, by the sections of draft-ietf-httpbis-rfc6265bis; beside another
//! jar; and its memory.

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
