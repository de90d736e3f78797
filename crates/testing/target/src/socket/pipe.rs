//! The bytes of one WebSocket: a connection of HTTP/1.1, or a stream of HTTP/2.

use crate::hub::Hub;
use crate::stream::room;
use crate::visit::Visit;
use crate::wire::Wire;
use bytes::{Bytes, BytesMut};
use h2::{Reason, RecvStream, SendStream};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead as _, AsyncWriteExt as _, ReadBuf};
use tokio::task::yield_now;

/// The size of one read.
const READ_BYTES: usize = 16 * 1024;

/// The bytes of one WebSocket.
pub(crate) enum SocketBytes {
    Http1(Wire),
    Http2 {
        receive: RecvStream,
        send: SendStream<Bytes>,
        /// The connection counts the request as open until this is dropped.
        _visit: Visit,
    },
}

/// The client has disconnected, or has ended the stream.
#[derive(Debug)]
pub(super) struct Over;

impl SocketBytes {
    /// Adds the next bytes to `input`.
    pub(super) fn poll_read(
        &mut self,
        cx: &mut Context<'_>,
        input: &mut BytesMut,
    ) -> Poll<Result<(), Over>> {
        match self {
            Self::Http1(wire) => {
                let mut bytes = [0; READ_BYTES];
                let mut buffer = ReadBuf::new(&mut bytes);
                ready!(Pin::new(wire).poll_read(cx, &mut buffer)).map_err(|_| Over)?;
                if buffer.filled().is_empty() {
                    return Poll::Ready(Err(Over));
                }
                input.extend_from_slice(buffer.filled());
            }
            Self::Http2 { receive, .. } => {
                let data = ready!(receive.poll_data(cx));
                let data = data.and_then(Result::ok).ok_or(Over)?;
                // This fails only for more bytes than were received.
                let _ = receive.flow_control().release_capacity(data.len());
                input.extend_from_slice(&data);
            }
        }
        Poll::Ready(Ok(()))
    }

    /// Sends bytes.
    pub(super) async fn write(&mut self, bytes: &[u8]) -> Result<(), Over> {
        match self {
            Self::Http1(wire) => {
                wire.write_all(bytes).await.map_err(|_| Over)?;
                wire.flush().await.map_err(|_| Over)
            }
            Self::Http2 { send, .. } => {
                let mut rest = bytes;
                while !rest.is_empty() {
                    let room = room(send, rest.len() as u64).await.map_err(|_| Over)?;
                    let (piece, after) = rest.split_at(room as usize);
                    let piece = Bytes::copy_from_slice(piece);
                    send.send_data(piece, false).map_err(|_| Over)?;
                    rest = after;
                }
                Ok(())
            }
        }
    }

    /// Ends the sending side, after all bytes.
    pub(super) async fn finish(self, hub: &Hub) {
        match self {
            Self::Http1(wire) => wire.finish(&hub.sleeps).await,
            Self::Http2 { mut send, .. } => {
                // The client may have reset the stream.
                let _ = send.send_data(Bytes::new(), true);
            }
        }
    }

    /// Resets the connection, or the stream, after all bytes.
    pub(super) async fn reset(self) {
        match self {
            Self::Http1(wire) => wire.reset(),
            Self::Http2 { mut send, .. } => {
                // A reset discards unwritten bytes.
                yield_now().await;
                send.send_reset(Reason::INTERNAL_ERROR);
            }
        }
    }
}
