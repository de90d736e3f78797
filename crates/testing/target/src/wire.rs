//! A connection's bytes, between the socket and the protocol: counted, and encrypted with TLS.

use crate::clock;
use crate::desk::Desk;
use crate::sleeps::Sleeps;
use bytes::{Buf as _, BytesMut};
use drumfire_units::Nanos;
use rustix::fd::AsFd;
use rustix::net::sockopt;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, ReadBuf};
use tokio_rustls::server::TlsStream;

/// The client's connection preface (RFC 9113 §3.4). No other request has the method PRI.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// The size of the buffer for a connection's first bytes.
const FIRST_READ: usize = 512;
/// The maximum time for which a closed connection may linger.
const LINGER: Nanos = Nanos::from_secs(1);

/// A stream to a client.
pub(crate) trait Transport: AsyncRead + AsyncWrite + Unpin {
    /// Turns closing the socket into a reset.
    fn reset_at_close(&self);
}

/// A socket with counted bytes.
pub(crate) struct CountedSocket<S> {
    pub(crate) socket: S,
    pub(crate) desk: Rc<Desk>,
}

impl<S: AsyncRead + AsyncWrite + Unpin + AsFd> Transport for CountedSocket<S> {
    fn reset_at_close(&self) {
        // With a linger time of zero, closing sends a reset.
        let _ = sockopt::set_socket_linger(&self.socket, Some(Duration::ZERO));
    }
}

impl<S: Transport> Transport for TlsStream<S> {
    fn reset_at_close(&self) {
        self.get_ref().0.reset_at_close();
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for CountedSocket<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let result = Pin::new(&mut self.socket).poll_read(cx, buffer);
        let read = (buffer.filled().len() - before) as u64;
        self.desk.own().tallies.bytes_received.add(read);
        result
    }
}

impl<S: AsyncWrite + Unpin> CountedSocket<S> {
    fn count(&self, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if let Poll::Ready(Ok(written)) = written {
            self.desk.own().tallies.bytes_sent.add(written as u64);
        }
        written
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for CountedSocket<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.socket).poll_write(cx, bytes);
        self.count(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.socket).poll_write_vectored(cx, parts);
        self.count(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(cx)
    }
}

/// The protocol of a connection, from its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Opening {
    /// HTTP/2.
    Http2,
    /// Undecided; more bytes are needed.
    Unclear,
    /// Anything else.
    Other,
}

/// Judges the first bytes, at least one.
fn opening(bytes: &[u8]) -> Opening {
    if bytes.starts_with(PREFACE) {
        Opening::Http2
    } else if PREFACE.starts_with(bytes) {
        Opening::Unclear
    } else {
        Opening::Other
    }
}

/// The stream of one connection. Bytes that were read ahead can be read again.
pub(crate) struct Wire {
    transport: Box<dyn Transport>,
    ahead: BytesMut,
}

impl Wire {
    pub(crate) fn new(transport: Box<dyn Transport>) -> Self {
        Self {
            transport,
            ahead: BytesMut::new(),
        }
    }

    /// Waits for enough bytes to decide the protocol; the bytes can be read again.
    ///
    /// # Errors
    /// If the connection breaks, or ends before its first byte.
    pub(crate) async fn opening(&mut self) -> io::Result<Opening> {
        self.ahead.reserve(FIRST_READ);
        loop {
            if self.transport.read_buf(&mut self.ahead).await? == 0 {
                return match self.ahead.is_empty() {
                    true => Err(io::ErrorKind::UnexpectedEof.into()),
                    false => Ok(Opening::Other),
                };
            }
            match opening(&self.ahead) {
                Opening::Unclear => {}
                clear => return Ok(clear),
            }
        }
    }

    /// Waits for bytes, which can be read again; returns immediately if there are some.
    ///
    /// # Errors
    /// If the connection breaks or ends.
    pub(crate) async fn fill(&mut self) -> io::Result<()> {
        if self.ahead.is_empty() {
            self.ahead.reserve(FIRST_READ);
            if self.transport.read_buf(&mut self.ahead).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        Ok(())
    }

    /// Puts bytes back; they are read before the socket's next bytes.
    pub(crate) fn unread(&mut self, bytes: &[u8]) {
        let read_later = std::mem::replace(&mut self.ahead, BytesMut::from(bytes));
        self.ahead.extend_from_slice(&read_later);
    }

    /// Ready when the client has disconnected. Bytes that arrive instead can be read again, and
    /// until then the end of the connection is not seen.
    pub(crate) fn poll_gone(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if !self.ahead.is_empty() {
            return Poll::Pending;
        }
        let mut space = [0; FIRST_READ];
        let mut buffer = ReadBuf::new(&mut space);
        match ready!(Pin::new(&mut self.transport).poll_read(cx, &mut buffer)) {
            Ok(()) if !buffer.filled().is_empty() => {
                self.ahead.extend_from_slice(buffer.filled());
                Poll::Pending
            }
            Ok(()) | Err(_) => Poll::Ready(()),
        }
    }

    /// Closes the connection with a reset.
    pub(crate) fn reset(self) {
        self.transport.reset_at_close();
    }

    /// Closes the sending side, and waits briefly for the client to close its side: closing with
    /// unread input would reset the connection, and the client could lose the last bytes.
    pub(crate) async fn finish(mut self, sleeps: &Rc<Sleeps>) {
        let close = async {
            self.transport.shutdown().await?;
            let mut discarded = [0; 1_024];
            while self.transport.read(&mut discarded).await? > 0 {}
            Ok::<_, io::Error>(())
        };
        // Ignore the error: the client has disconnected or does not close.
        let _ = sleeps.limit(close, clock::now() + LINGER).await;
    }
}

impl AsyncRead for Wire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.ahead.is_empty() {
            return Pin::new(&mut self.transport).poll_read(cx, buffer);
        }
        let length = self.ahead.len().min(buffer.remaining());
        buffer.put_slice(&self.ahead[..length]);
        self.ahead.advance(length);
        if self.ahead.is_empty() {
            // An idle connection needs no buffer.
            self.ahead = BytesMut::new();
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Wire {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.transport).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.transport).poll_write_vectored(cx, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.transport.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.transport).poll_flush(cx))?;
        Poll::Ready(Ok(()))
    }

    /// A protocol may shut down; the connection ends with [`Wire::finish`] or [`Wire::reset`].
    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_flush(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_preface_tells_the_protocol_once_it_is_whole() {
        for cut in 1..PREFACE.len() {
            assert_eq!(opening(&PREFACE[..cut]), Opening::Unclear);
        }
        let longer = [PREFACE, b"\0\0\0"].concat();
        assert_eq!(opening(&longer), Opening::Http2);
        for other in [
            &b"GET / HTTP/1.1\r\n"[..],
            b"PRI * HTTP/2.0\r\n\r\nGET",
            b"\x16",
        ] {
            assert_eq!(opening(other), Opening::Other);
        }
    }
}
