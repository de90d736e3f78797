//! Wires: the protocol of a connection.
//!
//! A wire knows bytes, and exchanges by their ids. The transport calls it when its socket is ready,
//! when an exchange is put on it, and when its output is to be written. It calls back through
//! [`Handler`], which is the same for every protocol.

mod carriage;
mod fields;
mod handler;
mod http1;
mod http2;
mod port;
mod settings;

pub(crate) use carriage::{Cancelled, Carriage, Phase};
pub(crate) use fields::Fields;
pub(crate) use handler::{
    Ahead, Chunk, End, Extra, GivenUp, Handler, Life, Note, Opening, Pump, Resend, Seen, Then,
    Whole, WireEvent,
};
pub(crate) use http1::{Fate, Http1, Terms};
pub(crate) use http2::{ConnectionEvents, Flushed, Going, Http2, Listed, Opened, Reading, Silence};
pub(crate) use port::{Input, Port};
pub(crate) use settings::Settings;

use drumfire_http1 as h1;

/// The phase of a connection, with its state.
#[derive(Debug)]
pub(crate) enum Wire {
    /// There is none.
    Empty,
    /// It is being opened.
    Dialing,
    /// The TLS handshake with a proxy is under way.
    SecuringProxy,
    /// A proxy has been asked to connect through; this reads its answer.
    Tunneling(Box<h1::Machine>),
    /// The TLS handshake is under way.
    Securing,
    /// It speaks HTTP/1.1.
    Http1(Http1),
    /// It speaks HTTP/2.
    Http2(Box<Http2>),
}

impl Wire {
    /// Whether it is being opened, and can't carry anything yet.
    pub(crate) const fn is_on_its_way(&self) -> bool {
        match self {
            Self::Dialing | Self::SecuringProxy | Self::Tunneling(_) | Self::Securing => true,
            Self::Empty | Self::Http1(_) | Self::Http2(_) => false,
        }
    }

    /// Requests sent on it.
    pub(crate) fn carried(&self) -> u64 {
        match self {
            Self::Empty
            | Self::Dialing
            | Self::SecuringProxy
            | Self::Tunneling(_)
            | Self::Securing => 0,
            Self::Http1(http1) => http1.carried(),
            Self::Http2(http2) => http2.carried(),
        }
    }
}
