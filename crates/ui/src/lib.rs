//! Runs in a browser: a list of those that are stored, two of them laid over each other, and each
//! run as a page, which follows the run while it goes on and commands it.
//!
//! ```text
//!   OwnRun ◄── RunPage, an observer of this process' run
//!      │
//!   Site ──► Look ──► page
//!      │       └────► Feed ──► events for each viewer
//!   Library ◄── stored runs; Peer for those that go on in other processes
//! ```
//!
//! Knows what is served, for whom, and when it is drawn anew. What a page looks like is the
//! report's: a [`Look`](look::Look) is its parts at one moment, and the same as in a page that is a
//! file. Must not know flags, the environment or the terminal. Start reading at [`Server`], then at
//! `feed`.
//!
//! A server is for its user alone: it listens on loopback, its address has a token, and `access` has
//! the rules that keep other pages out.

mod access;
mod content;
mod feed;
mod library;
mod look;
mod own_run;
mod route;
mod run_page;
mod server;
mod site;

pub use library::Library;
pub use own_run::Subject;
pub use run_page::RunPage;
pub use server::Server;
pub use site::Site;
