//! Virtual clock, simulated network and server: the engine end to end, with exact results.
//!
//! Knows how a network, a server and a client's machine may behave, and simulates them from a
//! script and a seed. Must not know real sockets or real time. Start reading at [`Simulation`],
//! then [`World`]; [`SimIo`] is the engine's driver.
//!
//! A plan, a model of a server and a seed give exact numbers. An hour's run takes a moment, and
//! tests never sleep.

mod answer;
mod baton;
mod call;
mod check_form;
mod client;
mod draft;
mod driver;
mod frame;
mod hook;
mod http2;
mod law;
mod link;
mod log;
mod network;
mod queue;
mod reply;
mod request;
mod server;
mod simulation;
mod world;

pub use answer::Answer;
pub use call::Said;
pub use check_form::check_form;
pub use client::Client;
pub use draft::{Draft, closed, open, per_user};
pub use driver::SimIo;
pub use http2::{Farewell, Http2Behaviour, LastId, RepliesAt};
pub use law::Law;
pub use log::{Log, Seen, SendCounts};
pub use network::Network;
pub use reply::Reply;
pub use request::Request;
pub use server::{Expecting, Server};
pub use simulation::{Simulated, Simulation};
pub use world::World;
