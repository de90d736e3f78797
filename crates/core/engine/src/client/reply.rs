//! The reply to a request of a client.

use drumfire_measure::Outcome;
use drumfire_units::Nanos;
use std::net::SocketAddr;

/// Identifies a request until its reply is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ticket(pub(crate) u32);

/// Identifies a WebSocket until it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SocketTicket(pub(crate) u32);

/// The result of a request.
#[derive(Debug)]
pub struct Reply {
    /// The request.
    pub ticket: Ticket,
    /// Ok for every complete response, whatever its status.
    pub outcome: Outcome,
    /// A text about a failure.
    pub detail: Option<String>,
    /// The status; 0 without a response.
    pub status: u16,
    /// The version in a status line; empty without a response.
    pub version: &'static str,
    /// The fields of the response, in order.
    pub fields: Vec<(String, Vec<u8>)>,
    /// The body as it was sent; empty if it is not kept.
    pub body: Vec<u8>,
    /// The times of the request.
    pub times: ReplyTimes,
    /// The peer's address; `None` if nothing was dialed.
    pub address: Option<SocketAddr>,
    /// Bytes written.
    pub bytes_sent: u64,
    /// Bytes read.
    pub bytes_received: u64,
}

/// The times of a request by the driver's clock; [`Nanos::MAX`] for an event that did not happen.
#[derive(Clone, Copy, Debug)]
pub struct ReplyTimes {
    /// The call of `send`.
    pub began: Nanos,
    /// The first write.
    pub sent: Nanos,
    /// The last byte of the request was written.
    pub written: Nanos,
    /// The first byte of the response.
    pub first_byte: Nanos,
    /// The end.
    pub end: Nanos,
    /// The duration of the dial, if the request waited for one; else 0.
    pub connect: Nanos,
    /// The duration of the TLS handshake, if the request waited for one; else 0.
    pub tls: Nanos,
}
