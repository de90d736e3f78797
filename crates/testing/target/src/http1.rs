//! HTTP/1 with hyper, and the deliberate violations that hyper can't send.
//!
//! hyper reads requests and writes answers. For anything other than an answer (a reset, a close,
//! half a body, a response of the conformance corpus), the service stores a [`RawBytes`] in the
//! [`Link`] and fails. hyper then returns the stream, the raw bytes are sent, and hyper continues
//! if the stream stays open.
//!
//! hyper also does not wait for long: its buffers take 14 kB, and tens of thousands of requests may
//! wait. A connection whose request is due later drops hyper, repeats the request when it is due,
//! and drops hyper again after the answer.

mod body;
mod exchange;
mod port;
mod stage;
mod tokens;

use crate::answer::{RawBytes, RawEnd};
use crate::clock;
use crate::hub::Hub;
use crate::request::HEAD_MAX;
use crate::sleeps::Sleeps;
use crate::socket::{self, SocketBytes};
use crate::upgrade::SocketPlan;
use crate::wire::Wire;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_tokio::rt::TokioIo;
use port::{Link, Port};
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use tokens::TokenAnswer;
use tokio::io::AsyncWriteExt as _;

/// Serves a connection until its end.
pub(crate) async fn serve(hub: &Rc<Hub>, mut wire: Wire) {
    let link = Rc::new(Link::default());
    loop {
        // hyper's state is in a separate allocation, which is freed while a request waits.
        let Some(given_back) = Box::pin(converse(hub, wire, &link)).await else {
            return;
        };
        wire = given_back;
        match link.held_until() {
            Some(due) => hub.sleeps.until(due).await,
            None if wire.fill().await.is_ok() => {}
            // The client has disconnected.
            None => return,
        }
    }
}

/// Lets hyper serve a connection, until the connection ends or hyper returns the stream.
async fn converse(hub: &Rc<Hub>, wire: Wire, link: &Rc<Link>) -> Option<Wire> {
    let port = Port::new(Rc::clone(hub), wire, Rc::clone(link));
    let service = service_fn(|request| exchange::answer(Rc::clone(hub), Rc::clone(link), request));
    let mut connection = http1::Builder::new()
        .auto_date_header(false)
        .half_close(true)
        .max_buf_size(HEAD_MAX)
        .title_case_headers(true)
        .serve_connection(TokioIo::new(port), service);
    let result = poll_fn(|cx| Pin::new(&mut connection).poll(cx)).await;
    let parts = connection.into_parts();
    let port = parts.io.into_inner();
    let is_resting = port.is_resting();
    let (mut wire, request) = port.into_parts();
    wire.unread(&parts.read_buf);
    if is_resting {
        return Some(wire);
    }
    if link.held_until().is_some() {
        wire.unread(&request);
        return Some(wire);
    }
    if let Some(plan) = link.take_socket() {
        Box::pin(open_socket(hub, wire, *plan)).await;
        return None;
    }
    if let Some(answer) = link.take_tokens() {
        return send_tokens(hub, wire, answer).await;
    }
    let end = match (link.take_raw(), result) {
        (Some(raw), _) => {
            let end = raw.end;
            send(&mut wire, raw, &hub.sleeps).await.ok()?;
            end
        }
        (None, Ok(())) => RawEnd::Closed,
        (None, Err(error)) if error.is_parse() => {
            hub.desk.own().tallies.refused.add(1);
            RawEnd::Closed
        }
        // The client has disconnected.
        (None, Err(_)) => return None,
    };
    end_with(hub, wire, end).await
}

/// Sends tokens, and returns the wire if the connection stays open.
async fn send_tokens(hub: &Hub, mut wire: Wire, answer: TokenAnswer) -> Option<Wire> {
    let end = tokens::send(hub, &mut wire, answer).await?;
    end_with(hub, wire, end).await
}

/// Ends a stream, or returns it if it stays open.
async fn end_with(hub: &Hub, wire: Wire, end: RawEnd) -> Option<Wire> {
    match end {
        RawEnd::Open => return Some(wire),
        RawEnd::Closed => wire.finish(&hub.sleeps).await,
        RawEnd::Reset => wire.reset(),
    }
    None
}

/// Answers the handshake of a WebSocket, and holds its conversation.
async fn open_socket(hub: &Rc<Hub>, mut wire: Wire, plan: SocketPlan) {
    if write(&mut wire, &plan.handshake.head_http1()).await.is_ok() {
        hub.desk.own().tallies.responses.add(1);
        socket::serve(Rc::clone(hub), SocketBytes::Http1(wire), plan).await;
    }
}

/// Sends raw bytes; dripped bytes are sent piece by piece on schedule.
async fn send(wire: &mut Wire, raw: RawBytes, sleeps: &Rc<Sleeps>) -> io::Result<()> {
    let (size, interval) = match raw.drip {
        Some(drip) => (
            usize::try_from(drip.size).unwrap_or(usize::MAX),
            drip.interval,
        ),
        None => return write(wire, &raw.bytes).await,
    };
    let mut due = clock::now();
    for piece in raw.bytes.chunks(size) {
        sleeps.until(due).await;
        write(wire, piece).await?;
        // The times are relative to the first piece, so they never drift.
        due += interval;
    }
    Ok(())
}

async fn write(wire: &mut Wire, bytes: &[u8]) -> io::Result<()> {
    wire.write_all(bytes).await?;
    wire.flush().await
}
