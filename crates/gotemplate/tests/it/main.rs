//! Templates as Go has them, and hostile ones, as one program.

mod go;
mod hostile;
