//! Answers to frames.

use super::known::Same;
use crate::answer::{Afterwards, Answer, Body, Content};
use crate::clock;
use crate::sleeps::Sleeps;
use crate::stream::{Gone, room, sleep_unless_gone};
use crate::tasks::others_first;
use bytes::Bytes;
use drumfire_units::Nanos;
use h2::Reason;
use h2::server::SendResponse;
use http::header::{CONTENT_LENGTH, HeaderName, HeaderValue};
use http::{HeaderMap, Response, StatusCode};
use std::rc::Rc;

/// The largest body that is handed over whole, window or not.
const QUICK_BODY_MAX: u64 = 16 * 1024;
/// The largest piece of a body that waits for its window.
const PIECE_MAX: u64 = 64 * 1024;

/// An answer's head, and the body that follows it.
pub(super) struct Rendered {
    pub(super) response: Response<()>,
    pub(super) body: Body,
}

/// Whether an answer is small and whole, so that it can go at once.
pub(super) fn is_quick(answer: &Answer) -> bool {
    answer.drip.is_none()
        && answer.chunked.is_none()
        && answer.afterwards != Afterwards::Cut
        && answer.body.len() <= QUICK_BODY_MAX
}

/// Makes an answer's head. As over HTTP/1.1 there is no Date; a body to be sent in chunks has no
/// length, 204 and 304 have no body (RFC 9110 §15.3.5, §15.4.5).
pub(super) fn render(answer: &mut Answer, delay: Option<Nanos>) -> Rendered {
    let mut fields = HeaderMap::with_capacity(answer.fields.len() + 2);
    for (name, value) in &answer.fields {
        // The planner makes no names and values but good ones; another one is left out.
        let name = HeaderName::from_bytes(name.as_bytes());
        if let (Ok(name), Ok(value)) = (name, HeaderValue::from_str(value)) {
            fields.append(name, value);
        }
    }
    if let Some(delay) = delay {
        fields.insert("x-drumfire-delay-ns", HeaderValue::from(delay.0));
    }
    let mut body = std::mem::take(&mut answer.body);
    if matches!(answer.status, 204 | 304) {
        body = Body::Empty;
    } else if answer.chunked.is_none() {
        fields.insert(CONTENT_LENGTH, HeaderValue::from(body.len()));
    }
    if answer.content == Content::Described {
        body = Body::Empty;
    }
    let mut response = Response::new(());
    // Statuses are 200 to 599.
    *response.status_mut() = StatusCode::from_u16(answer.status).unwrap_or_default();
    *response.headers_mut() = fields;
    Rendered { response, body }
}

/// Sends an answer whole.
pub(super) fn send_same(respond: &mut SendResponse<Bytes>, same: &Same) -> Result<(), Gone> {
    let mut response = Response::new(());
    *response.status_mut() = same.status;
    *response.headers_mut() = same.fields.clone();
    send_head_and_body(respond, response, same.body.clone())
}

/// Sends a head and a body at once; bytes beyond the window are kept until there is room.
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

/// Sends an answer as the window, the drip and the size of its chunks allow.
pub(super) async fn send(
    respond: &mut SendResponse<Bytes>,
    mut answer: Answer,
    delay: Option<Nanos>,
    sleeps: &Rc<Sleeps>,
) -> Result<(), Gone> {
    let Rendered { response, mut body } = render(&mut answer, delay);
    let cut = answer.afterwards == Afterwards::Cut;
    if cut {
        body.halve();
    }
    let mut stream = respond.send_response(response, body.is_empty() && !cut)?;
    let chunk = answer.chunked.map_or(PIECE_MAX, |size| size.get().into());
    let mut due = clock::now();
    let mut allowed = answer.drip.map_or(u64::MAX, |drip| drip.size);
    while !body.is_empty() {
        if let (0, Some(drip)) = (allowed, answer.drip) {
            due += drip.interval;
            sleep_unless_gone(sleeps.until(due), |cx| stream.poll_reset(cx)).await?;
            allowed = drip.size;
        }
        let room = room(&mut stream, body.len().min(allowed).min(chunk)).await?;
        let piece = body.next_bytes(room);
        allowed -= piece.len() as u64;
        stream.send_data(piece, body.is_empty() && !cut)?;
    }
    if cut {
        // A reset discards bytes that were not written yet.
        others_first().await;
        stream.send_reset(Reason::INTERNAL_ERROR);
    }
    Ok(())
}
