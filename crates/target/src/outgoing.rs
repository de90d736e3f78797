//! Handing bytes to the kernel.

use crate::connection::{Connection, Work};
use crate::socket;
use rustix::io::{self, Errno};
use rustix::net::{SendAncillaryBuffer, send, sendmsg};
use std::io::IoSlice;

/// How much of a body is sealed at a time.
const SEALED_PIECE: u64 = 64 * 1024;

/// How far a flush came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flushed {
    /// Nothing is left to send.
    Done,
    /// The kernel takes no more for now.
    Blocked,
    /// The next piece is not due yet.
    Paused,
    /// The connection is gone.
    Failed,
}

/// Sends as much as the kernel takes, and returns how many bytes that was.
pub(crate) fn flush(connection: &mut Connection, work: &mut Work) -> (Flushed, u64) {
    let mut taken = 0;
    loop {
        refill(connection, work);
        let whole_wire = work.wire_at == work.wire.len();
        if whole_wire && (connection.tls.is_some() || work.body.piece(work.allowance()).is_empty())
        {
            let flushed = if work.body.is_empty() {
                Flushed::Done
            } else {
                Flushed::Paused
            };
            return (flushed, taken);
        }
        match write(connection, work) {
            Ok(0) | Err(Errno::AGAIN) => return (Flushed::Blocked, taken),
            Ok(n) => {
                taken += n as u64;
                consume(work, n);
            }
            Err(Errno::INTR) => {}
            Err(_) => return (Flushed::Failed, taken),
        }
    }
}

/// Sends a whole answer that stands for itself; returns how many bytes the kernel took.
#[inline]
pub(crate) fn send_at_once(connection: &Connection, bytes: &[u8]) -> io::Result<usize> {
    match send(&connection.fd, bytes, socket::SEND) {
        Err(Errno::AGAIN | Errno::INTR) => Ok(0),
        other => other,
    }
}

/// Once everything on the wire is sent, moves rendered bytes there, encrypted if need be.
fn refill(connection: &mut Connection, work: &mut Work) {
    if work.wire_at < work.wire.len() {
        return;
    }
    work.wire.clear();
    work.wire_at = 0;
    let Some(session) = &mut connection.tls else {
        std::mem::swap(&mut work.wire, &mut work.plain);
        return;
    };
    if !work.plain.is_empty() {
        session.seal(&work.plain, &mut work.wire);
        work.plain.clear();
    }
    let length = {
        let piece = work.body.piece(work.allowance().min(SEALED_PIECE));
        if !piece.is_empty() {
            session.seal(piece, &mut work.wire);
        }
        piece.len() as u64
    };
    leave_behind(work, length);
    session.drain(&mut work.wire);
}

/// One write of the wire and, without TLS, as much of the body as may go.
fn write(connection: &Connection, work: &Work) -> io::Result<usize> {
    let wire = &work.wire[work.wire_at..];
    let piece = if connection.tls.is_some() {
        &[]
    } else {
        work.body.piece(work.allowance())
    };
    match (wire, piece) {
        (wire, []) => send(&connection.fd, wire, socket::SEND),
        ([], piece) => send(&connection.fd, piece, socket::SEND),
        (wire, piece) => {
            let parts = [IoSlice::new(wire), IoSlice::new(piece)];
            let mut control = SendAncillaryBuffer::default();
            sendmsg(&connection.fd, &parts, &mut control, socket::SEND)
        }
    }
}

/// Notes that the kernel took `n` bytes: first of the wire, then of the body.
fn consume(work: &mut Work, n: usize) {
    let of_wire = n.min(work.wire.len() - work.wire_at);
    work.wire_at += of_wire;
    leave_behind(work, (n - of_wire) as u64);
}

fn leave_behind(work: &mut Work, of_body: u64) {
    work.body.advance(of_body);
    if let Some(pace) = &mut work.pace {
        pace.allowed -= of_body;
    }
}
