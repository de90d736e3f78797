//! The built-in test server.
//!
//! Answers HTTP/1.x and HTTP/2, and gRPC calls if enabled, with and without TLS. On request it
//! fails in exact ways: delays from a law and a seed, stalls, resets, slow bodies. Must not know
//! plans or samples.
//!
//! Start reading at [`Server::start`]. [`ServerOptions`] lists the options of the server, and
//! [`Behaviour`] those that the query of a request can also set.
//!
//! The target shares no code with the generator that it checks, except `units` and the cases of
//! `corpus`.
//!
//! | path | answer |
//! |---|---|
//! | `/plaintext` | `Hello, World!` |
//! | `/echo` | the request's line and fields as text, and the length of its body |
//! | `/gzip?size=N` | a compressed body of N bytes for clients that accept gzip, else a plain one |
//! | `/events?n=10&gap=LAW` | a stream of server-sent events |
//! | `/events/log` | the event log: a line of nanoseconds for each write of events |
//! | `/ws` | a WebSocket that echoes, and sends messages unasked |
//! | `/redirect?to=URL&n=3` | n redirects in a row, the last one to URL |
//! | `/counters` | [`Counters`] as JSON |
//! | `/cases` | the names of the malformed and odd responses, one a line |
//! | `?case=NAME` on any path | one of these, byte for byte |
//! | `/arrivals` | the arrival log: a line of nanoseconds for each request |
//! | `/v1/…`, `/llm/log` and others | a mock of servers for language models, if enabled |
//! | `/shop/…` | a shop, if it is open: pages that need a login, and `/shop/stats` |
//! | any other | a body of [`Behaviour::size`] bytes |
//!
//! `planner` turns a request into a plan, independent of the protocol. `connection` chooses the
//! protocol. `http1` lets hyper read requests and write answers, and writes deliberate protocol
//! violations itself; `http2` does the same with h2, and `grpc` answers calls over HTTP/2 (`visit`
//! is the part that both share). `upgrade` is the request for a WebSocket, and `socket` its
//! conversation over either. Each `worker` is a thread with a tokio runtime.

mod answer;
mod arrivals;
mod clock;
mod connection;
mod counters;
mod desk;
mod error;
mod events;
mod fault;
mod flushes;
mod grpc;
mod grpc_code;
mod http1;
mod http2;
mod hub;
mod known;
mod law;
mod listener;
mod llm;
mod options;
mod parameter;
mod peer;
mod planner;
mod reaction;
mod rendered;
mod request;
mod server;
mod shared;
mod shop;
mod shortcuts;
mod sleeps;
mod socket;
mod stream;
mod tls;
mod upgrade;
mod visit;
mod wire;
mod worker;

pub use counters::Counters;
pub use error::StartError;
pub use fault::{Chance, CodeOdds, Drip, ParseFaultError, Stall, StatusOdds};
pub use law::{Law, ParseLawError, Quantity, TokenCount};
pub use llm::{
    BadBehaviour, BatchLaw, LlmBehaviour, LlmOptions, ParsePrefixCacheError, ParseTimingError,
    PrefixCacheSize,
};
pub use options::{
    ArrivalLog, Behaviour, ClientCertificate, Discipline, Exposure, Listen, ServerOptions,
    ServerTlsOptions, Services, Storefront,
};
pub use server::{Running, Server};
pub use tls::ServerTlsMaterial;
