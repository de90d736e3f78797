//! Go's template language with its common functions, for the dialects of Go tools.
//!
//! A [`GoTemplate`] is parsed once with a set of [`Functions`] (Go's built-in functions and sprig
//! v3). Each execution has a [`Value`] as its data and an [`Env`] as its outside world. Output and
//! error messages are the same as in Go.
//!
//! Templates come from users and may be hostile. [`Limits`] bounds their nesting, output, values
//! and steps.
//!
//! Must not know I/O, clocks or plans: the caller passes time, randomness and variables.
//! Start reading at `template.rs`; `parse.rs` and `exec.rs` are its two halves, and `sprig.rs`
//! lists the functions by group.
//!
//! `data` also offers Go templates as a filter in native templates.

mod ast;
mod builtin;
mod call;
mod env;
mod exec;
mod fault;
mod format;
mod function;
mod functions;
mod methods;
mod number;
mod parse;
mod quote;
mod raw_bytes;
mod sink;
mod sprig;
mod template;
mod time;
mod value;
mod version;

pub use call::{Call, Limits, OUTPUT_BYTES_MAX, STEPS_MAX, VALUE_BYTES_MAX};
pub use env::{Env, ZoneTime};
pub use exec::{DEPTH_MAX, Escape, ExecError};
pub use fault::Fault;
pub use format::float::shortest as float_text;
pub use function::{Parameter, Signature};
pub use functions::Functions;
pub use parse::{NESTING_MAX, ParseError, VARIABLES_MAX};
pub use template::GoTemplate;
pub use time::GoTime;
pub use value::{Element, Entry, IntKind, List, Map, Object, Value};
pub use version::Version;
