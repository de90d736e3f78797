//! A connection's task: accepts requests, and drives the frames.

use super::exchange::Exchange;
use super::port::Port;
use crate::hub::Hub;
use crate::peer::{Peer, Wish};
use crate::request::HEAD_MAX;
use crate::wire::Wire;
use bytes::Bytes;
use h2::RecvStream;
use h2::server::{Builder, Connection, SendResponse};
use http::Request;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Context, Poll};

/// The flow-control windows of a stream and of a connection.
const WINDOW_STREAM: u32 = 1 << 20;
const WINDOW_CONNECTION: u32 = 16 << 20;

type Accepted = (Request<RecvStream>, SendResponse<Bytes>);

/// The result of one turn of a connection.
enum StreamNews {
    Requests,
    /// The connection has ended.
    Over,
    /// The client violated the protocol, and was sent the error.
    Refused,
    /// Close without sending anything.
    Hangup,
}

/// Serves a connection until its end.
pub(crate) async fn serve(hub: &Rc<Hub>, wire: Wire) {
    let peer = Rc::new(Peer::default());
    let port = Port::new(wire, Rc::clone(&peer.flushes));
    match converse(hub, &port, &peer).await {
        StreamNews::Hangup => return,
        StreamNews::Refused => hub.desk.own().tallies.refused.add(1),
        StreamNews::Over | StreamNews::Requests => {}
    }
    if let Some(wire) = port.into_wire() {
        wire.finish(&hub.sleeps).await;
    }
}

async fn converse(hub: &Rc<Hub>, port: &Port, peer: &Rc<Peer>) -> StreamNews {
    let options = &hub.setup.options;
    let handshake = Builder::new()
        .initial_window_size(WINDOW_STREAM)
        .initial_connection_window_size(WINDOW_CONNECTION)
        .max_concurrent_streams(options.max_streams)
        .max_header_list_size(HEAD_MAX as u32)
        .enable_connect_protocol()
        .handshake(port.clone());
    let Ok(mut connection) = handshake.await else {
        return StreamNews::Refused;
    };
    let mut accepted: Vec<Accepted> = Vec::new();
    // Streams after the last one that is served. Dropping them would reset them.
    let mut ignored = Vec::new();
    loop {
        match poll_fn(|cx| turn(&mut connection, peer, port, &mut accepted, cx)).await {
            StreamNews::Requests => {}
            news => return news,
        }
        for (request, respond) in accepted.drain(..) {
            if peer.accepts(respond.stream_id(), options.goaway_after) {
                Exchange::start(hub, peer, request, respond);
            } else {
                ignored.push((request, respond));
            }
        }
    }
}

/// Reads and writes as much as possible. Requests are returned before anything is written, so that
/// one write sends all their answers.
fn turn(
    connection: &mut Connection<Port, Bytes>,
    peer: &Peer,
    port: &Port,
    accepted: &mut Vec<Accepted>,
    cx: &mut Context<'_>,
) -> Poll<StreamNews> {
    loop {
        loop {
            match connection.poll_accept(cx) {
                Poll::Ready(Some(Ok(request))) => accepted.push(request),
                Poll::Ready(Some(Err(error))) if error.is_library() => {
                    return Poll::Ready(StreamNews::Refused);
                }
                Poll::Ready(_) => return Poll::Ready(StreamNews::Over),
                Poll::Pending => break,
            }
        }
        if !accepted.is_empty() {
            return Poll::Ready(StreamNews::Requests);
        }
        match peer.take_wish(cx.waker()) {
            Some(Wish::Wane) => {
                connection.graceful_shutdown();
                continue;
            }
            Some(Wish::Hangup) => return Poll::Ready(StreamNews::Hangup),
            None => {}
        }
        match peer.unannounced() {
            // The next turn of the loop sends it.
            Some(last) if port.insert(&goaway(last)) => peer.set_announced(),
            _ => break,
        }
    }
    if peer.is_over() && port.is_whole() {
        return Poll::Ready(StreamNews::Over);
    }
    Poll::Pending
}

/// GOAWAY without an error (RFC 9113 §6.8): streams above the last are not processed.
fn goaway(last: u32) -> [u8; 17] {
    let mut frame = [0; 17];
    // Length, type, flags, stream 0; then the last stream and NO_ERROR.
    frame[2] = 8;
    frame[3] = 7;
    frame[9..13].copy_from_slice(&last.to_be_bytes());
    frame
}
