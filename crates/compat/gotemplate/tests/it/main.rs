//! Templates compared with Go, hostile templates, and strings of any bytes, in one test program.

mod go;
mod hostile;
mod raw_bytes;
