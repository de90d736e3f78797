//! The built-in server to fire at.
//!
//! Answers HTTP/1.x and HTTP/2, and gRPC calls if enabled, on plain or sealed sockets faster than a
//! client asks, holds many idle connections in little memory, and goes wrong on request in ways
//! that are exact: delays from a law and a seed, stalls, resets, slow bodies. Must not know plans
//! or samples.
//!
//! Start reading at [`Server::start`]; [`Options`] and [`Behaviour`] list everything that can be
//! asked of it, the latter also of a single request by its query.
//!
//! The target shares no code with the generator that it checks, except `units` and the cases of
//! `corpus`.
//!
//! | path | answer |
//! |---|---|
//! | `/plaintext` | `Hello, World!` |
//! | `/echo` | the request's line and fields as text, and the length of its body |
//! | `/gzip?size=N` | a compressed body of N bytes for clients that accept gzip, else a plain one |
//! | `/redirect?to=URL&n=3` | n redirects in a row, the last one to URL |
//! | `/counters` | [`Counters`] as JSON |
//! | `/cases` | the names of the malformed and odd responses, one a line |
//! | `?case=NAME` on any path | one of these, byte for byte |
//! | `/arrivals` | the arrival log: a line of nanoseconds for each request |
//! | `/shop/…` | a shop, if it is open: pages that need a login, and `/shop/stats` |
//! | any other | a body of [`Behaviour::size`] bytes |
//!
//! Inside, behaviour and protocol are apart: `planner` turns a request into a plan, whatever
//! carried it; `http1` turns bytes into requests and plans into bytes; `responder` and `drive` let a
//! connection carry plans out; `http2` does all that for connections over HTTP/2, and `grpc` answers calls on
//! them (`visit` is what both know of a request); `worker` is the thread around it all.

mod answer;
mod arrivals;
mod cache;
mod clock;
mod connection;
mod counters;
mod desk;
mod drive;
mod error;
mod fault;
mod grpc;
mod grpc_code;
mod http1;
mod http2;
mod law;
mod listener;
mod options;
mod outgoing;
mod peer;
mod planner;
mod poller;
mod request;
mod responder;
mod server;
mod shared;
mod shop;
mod sleeps;
mod slots;
mod socket;
mod stream;
mod tasks;
mod timers;
mod tls;
mod visit;
mod worker;

pub use counters::Counters;
pub use error::StartError;
pub use fault::{Chance, CodeOdds, Drip, ParseFaultError, Stall, StatusOdds};
pub use law::{Law, ParseLawError};
pub use options::{
    ArrivalLog, Behaviour, ClientCertificate, Discipline, Exposure, Listen, Options, Services,
    Storefront, TlsOptions,
};
pub use server::{Running, Server};
pub use tls::TlsMaterial;
