//! Go's template language and the functions that its users know, for the dialects of Go tools.
//!
//! A [`Template`] is parsed once with a set of [`Functions`] (Go's own and those of sprig v3), and
//! executed with a [`Value`] as its data and an [`Env`] as its world. Its output and its error
//! messages are Go's.
//!
//! Templates come from users, so that they may be hostile: how deep they nest, how much they
//! write, how many values they make and how many steps they take is bounded ([`Limits`]).
//!
//! Must not know I/O, clocks or plans: time, randomness and variables are given.
//! Start reading at `template.rs`; `parse.rs` and `exec.rs` are its two halves, and `sprig.rs`
//! lists the functions by group.

mod ast;
mod builtin;
mod collection;
mod env;
mod exec;
mod fault;
mod format;
mod function;
mod parse;
mod quote;
mod raw_bytes;
mod sink;
mod sprig;
mod template;
mod time;
mod value;
mod version;

pub use collection::{Element, Entry, List, Map};
pub use env::{Call, Env, Limits, OUTPUT_BYTES_MAX, STEPS_MAX, VALUE_BYTES_MAX, ZoneTime};
pub use exec::{DEPTH_MAX, ExecError};
pub use fault::Fault;
pub use function::{Functions, Parameter, Signature};
pub use parse::{NESTING_MAX, ParseError, VARIABLES_MAX};
pub use template::{Escape, Template};
pub use time::Moment;
pub use value::{IntKind, Object, Value};
pub use version::Version;
