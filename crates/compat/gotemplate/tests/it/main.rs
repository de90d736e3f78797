//! Templates compared with Go, and hostile templates, in one test program.

mod go;
mod hostile;
