//! Fibres, from outside.

mod fibres;
mod switching;
mod watch;
