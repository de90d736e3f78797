//! The program and the servers that it uses, as a user at a terminal has them.
//!
//! Everything that a test starts ends when its value is dropped, by its process id.

pub(crate) mod beside;
pub(crate) mod case_file;
pub(crate) mod certificates;
pub(crate) mod delays;
pub(crate) mod folder;
pub(crate) mod interop;
pub(crate) mod lab;
pub(crate) mod nats;
pub(crate) mod patience;
pub(crate) mod peers;
pub(crate) mod process;
pub(crate) mod program;
pub(crate) mod report;
pub(crate) mod script;
pub(crate) mod serve;
pub(crate) mod side_by_side;
pub(crate) mod tap;
pub(crate) mod tls_server;
pub(crate) mod turn;
pub(crate) mod wire;

pub(crate) use beside::{Beside, Case, Record};
pub(crate) use certificates::Authority;
pub(crate) use delays::{in_time, punctually};
pub(crate) use folder::Folder;
pub(crate) use interop::Interop;
pub(crate) use patience::{PATIENCE, wait_until};
pub(crate) use process::{Process, Run, Signal};
pub(crate) use program::{drumfire, http, load, load_of, run, run_in, signalled};
pub(crate) use report::Report;
pub(crate) use script::Script;
pub(crate) use serve::Serve;
pub(crate) use side_by_side::side_by_side;
pub(crate) use tap::Tap;
pub(crate) use turn::alone;
