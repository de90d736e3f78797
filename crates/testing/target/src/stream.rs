//! Waits of a task that answers on an HTTP/2 stream. All of them end if the client disconnects.

use bytes::Bytes;
use h2::{Reason, SendStream};
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::{Context, Poll};

/// The client has disconnected or reset the stream.
#[derive(Debug)]
pub(crate) struct Gone;

impl From<h2::Error> for Gone {
    fn from(_: h2::Error) -> Self {
        Self
    }
}

/// Sleeps, unless the client disconnects in the meantime: `reset` is the stream's `poll_reset`.
pub(crate) async fn sleep_unless_gone(
    sleep: impl Future<Output = ()>,
    mut reset: impl FnMut(&mut Context<'_>) -> Poll<Result<Reason, h2::Error>>,
) -> Result<(), Gone> {
    let mut sleep = pin!(sleep);
    poll_fn(|cx| match sleep.as_mut().poll(cx) {
        Poll::Ready(()) => Poll::Ready(Ok(())),
        Poll::Pending => reset(cx).map(|_| Err(Gone)),
    })
    .await
}

/// Waits for room in the window; returns at most `wanted`, and at least one byte.
pub(crate) async fn room(stream: &mut SendStream<Bytes>, wanted: u64) -> Result<u64, Gone> {
    stream.reserve_capacity(usize::try_from(wanted).unwrap_or(usize::MAX));
    while stream.capacity() == 0 {
        match poll_fn(|cx| stream.poll_capacity(cx)).await {
            Some(Ok(_)) => {}
            Some(Err(_)) | None => return Err(Gone),
        }
    }
    Ok(wanted.min(stream.capacity() as u64))
}
