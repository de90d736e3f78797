//! Turns answers into frames.

use crate::answer::{Afterwards, Answer};
use crate::clock;
use crate::hub::Hub;
use crate::known::Same;
use crate::rendered::{Rendered, render};
use crate::stream::{Gone, room, sleep_unless_gone};
use bytes::Bytes;
use drumfire_units::Nanos;
use h2::Reason;
use h2::server::SendResponse;
use http::Response;
use tokio::task::yield_now;

/// The maximum size of a body that is passed to h2 at once, regardless of the window.
const QUICK_BODY_MAX: u64 = 16 * 1024;
/// The maximum size of a piece of a body that waits for its window.
const PIECE_MAX: u64 = 64 * 1024;

/// Whether an answer is small and complete, so that it can be sent immediately.
pub(super) fn is_quick(answer: &Answer) -> bool {
    answer.pace.is_none()
        && answer.chunked.is_none()
        && answer.afterwards != Afterwards::Cut
        && answer.body.len() <= QUICK_BODY_MAX
}

/// Sends a constant answer.
pub(super) fn send_same(respond: &mut SendResponse<Bytes>, same: &Same) -> Result<(), Gone> {
    let mut response = Response::new(());
    *response.status_mut() = same.status;
    *response.headers_mut() = same.fields.clone();
    send_head_and_body(respond, response, same.body.clone())
}

/// Sends a head and a body at once; h2 keeps the bytes beyond the window until there is room.
pub(super) fn send_head_and_body(
    respond: &mut SendResponse<Bytes>,
    response: Response<()>,
    body: Bytes,
) -> Result<(), Gone> {
    let mut stream = respond.send_response(response, body.is_empty())?;
    if !body.is_empty() {
        stream.send_data(body, true)?;
    }
    Ok(())
}

/// Sends an answer as the window, the pace and the size of its chunks allow.
pub(super) async fn send(
    respond: &mut SendResponse<Bytes>,
    mut answer: Answer,
    delay: Option<Nanos>,
    hub: &Hub,
) -> Result<(), Gone> {
    let Rendered { response, mut body } = render(&mut answer, delay);
    let cut = answer.afterwards == Afterwards::Cut;
    if cut {
        body.halve();
    }
    let mut stream = respond.send_response(response, body.is_empty() && !cut)?;
    let chunk = answer.chunked.map_or(PIECE_MAX, |size| size.get().into());
    let mut due = clock::now();
    let (mut allowed, mut is_first) = (answer.pace.as_ref().map_or(u64::MAX, |_| 0), true);
    while !body.is_empty() {
        if let (0, Some(pace)) = (allowed, &mut answer.pace) {
            let piece = pace.next_piece(is_first);
            is_first = false;
            if piece.wait > Nanos::ZERO {
                due += piece.wait;
                sleep_unless_gone(hub.sleeps.until(due), |cx| stream.poll_reset(cx)).await?;
            }
            allowed = piece.size;
            if pace.is_logged() {
                hub.desk.wrote_events();
            }
        }
        let room = room(&mut stream, body.len().min(allowed).min(chunk)).await?;
        let piece = body.next_bytes(room);
        allowed -= piece.len() as u64;
        stream.send_data(piece, body.is_empty() && !cut)?;
    }
    if cut {
        // A reset discards unwritten bytes.
        yield_now().await;
        stream.send_reset(Reason::INTERNAL_ERROR);
    }
    Ok(())
}
