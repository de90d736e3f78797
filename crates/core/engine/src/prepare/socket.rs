//! Requests on WebSockets.

use drumfire_plan::{Deflate, HttpRequest, WebSocket};
use drumfire_websocket::{DeflateOffer, Offer};
use std::sync::Arc;

/// A request on a WebSocket, ready to be sent.
#[derive(Debug)]
pub(crate) struct SocketRequest {
    pub(crate) plan: Arc<WebSocket>,
    /// What its handshake offers.
    pub(crate) offer: Offer,
}

impl SocketRequest {
    /// The request on a WebSocket, if the planned request is one.
    pub(crate) fn of(planned: &HttpRequest) -> Option<Self> {
        let plan = planned.socket.as_ref()?;
        Some(Self {
            plan: Arc::clone(plan),
            offer: offer(plan),
        })
    }
}

/// The fields of the handshake, without its key.
pub(super) fn handshake_fields(plan: &WebSocket) -> Vec<(&'static str, String)> {
    let offer = offer(plan);
    let fields = offer.fields_http1();
    fields
        .map(|(name, value)| (name, value.to_owned()))
        .collect()
}

/// What a handshake offers. The plan's subprotocols were checked when it was made; invalid ones
/// would not be offered.
fn offer(plan: &WebSocket) -> Offer {
    let deflate = match plan.deflate {
        Deflate::Offer => Some(DeflateOffer::default()),
        Deflate::No => None,
    };
    Offer::new(plan.subprotocols.clone(), deflate).unwrap_or_default()
}
