//! Runs in a browser: a list of the stored ones, two of them compared, and each run as a page,
//! which follows an active run and controls it.
//!
//! ```text
//!   OwnRun ◄── RunPage, an observer of this process' run
//!      │
//!   Site ──► Look ──► page
//!      │       └────► Feed ──► events for each viewer
//!   Library ◄── stored runs; Peer for active runs in other processes
//! ```
//!
//! Knows the content of responses, their viewers, and when a page is redrawn. The appearance of a
//! page belongs to `report`: a [`Look`](look::Look) consists of a page's parts at one moment, as in
//! a page that is a file. Must not know flags, the environment or the terminal. Start reading at
//! [`Server`], then at `feed`.
//!
//! A server is only for its user: it listens on loopback, its address contains a token, and
//! `access` has the rules that keep other pages out.

mod access;
mod content;
mod feed;
mod library;
mod look;
mod own_run;
mod route;
mod run_page;
mod seats;
mod server;
mod site;

pub use library::Library;
pub use own_run::Subject;
pub use run_page::RunPage;
pub use server::Server;
pub use site::RunSite;
