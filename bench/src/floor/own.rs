//! The floor on bare system calls: one thread, edge-triggered epoll, each socket registered once.
//! The next request is sent as soon as a response is complete, on the same connection or on a new
//! one.

use super::{Encryption, Errand, FloorCounts, RECEIVE_BYTES, response_length};
use crate::tool::Reuse;
use drumfire_net::Clock;
use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};
use rustix::time::Timespec;
use std::io::{Error, Read, Result, Write};
use std::net::TcpStream;

/// The number of events per wait, as in drumfire's driver.
const BATCH: usize = 128;

/// The number of turns between two readings of the clock: a floor measures nothing.
const TURNS_PER_LOOK: u32 = 64;

/// The maximum length of a turn without events.
const WAIT: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 50_000_000,
};

/// A connection, with the unsent bytes of its request and the missing bytes of its response.
struct Connection {
    fd: OwnedFd,
    unsent: usize,
    missing: usize,
}

/// Runs the errand.
///
/// # Errors
/// If the scheme is TLS, the server refuses or closes a connection, or its first response has no
/// `Content-Length`.
pub fn run(errand: &Errand) -> Result<FloorCounts> {
    if errand.scheme == Encryption::Tls {
        return Err(Error::other(
            "this floor has no TLS; use the floor on the driver",
        ));
    }
    let response_bytes = learn(errand)?;
    let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    let mut connections = Vec::with_capacity(errand.connections);
    for index in 0..errand.connections {
        connections.push(Connection {
            fd: register(connect(errand)?, &epoll, index)?,
            unsent: errand.request.len(),
            missing: response_bytes,
        });
    }
    for connection in &mut connections {
        transmit(connection, errand)?;
    }
    let requests = turns(errand, &epoll, &mut connections, response_bytes)?;
    Ok(FloorCounts {
        requests,
        response_bytes,
    })
}

/// Waits and receives until the time is up.
fn turns(
    errand: &Errand,
    epoll: &OwnedFd,
    connections: &mut [Connection],
    response_bytes: usize,
) -> Result<u64> {
    let clock = Clock::start();
    let mut events: Vec<epoll::Event> = Vec::with_capacity(BATCH);
    let mut buffer = vec![0; RECEIVE_BYTES];
    let mut requests = 0;
    let mut turn = 0_u32;
    loop {
        turn = turn.wrapping_add(1);
        if turn.is_multiple_of(TURNS_PER_LOOK) && clock.now() >= errand.span {
            return Ok(requests);
        }
        events.clear();
        // A signal may end a wait early; the next turn waits again.
        let _interrupted = epoll::wait(epoll, spare_capacity(&mut events), Some(&WAIT));
        for event in &events {
            let (index, flags) = (event.data.u64() as usize, event.flags);
            let connection = &mut connections[index];
            if flags.contains(EventFlags::OUT) && connection.unsent > 0 {
                transmit(connection, errand)?;
            }
            if flags.contains(EventFlags::IN) {
                let done = advance(connection, &mut buffer, errand, response_bytes)?;
                requests += done;
                if errand.reuse == Reuse::Close && done > 0 {
                    connection.fd = register(connect(errand)?, epoll, index)?;
                    transmit(connection, errand)?;
                }
            }
        }
    }
}

/// Registers a socket under its connection's index.
fn register(fd: OwnedFd, epoll: &OwnedFd, index: usize) -> Result<OwnedFd> {
    let all = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
    epoll::add(epoll, &fd, EventData::new_u64(index as u64), all)?;
    Ok(fd)
}

/// Receives available bytes; sends the next request after the response is complete, unless it needs
/// another connection.
#[inline]
fn advance(
    connection: &mut Connection,
    buffer: &mut [u8],
    errand: &Errand,
    response_bytes: usize,
) -> Result<u64> {
    let mut complete = 0;
    loop {
        let length = match recv(&connection.fd, &mut *buffer, RecvFlags::empty()) {
            Ok((0, _)) => return Err(Error::other("the server closed a connection")),
            Ok((length, _)) => length,
            Err(Errno::AGAIN) => return Ok(complete),
            Err(error) => return Err(error.into()),
        };
        connection.missing = connection
            .missing
            .checked_sub(length)
            .ok_or_else(|| Error::other("a response is longer than the first"))?;
        if connection.missing == 0 {
            connection.missing = response_bytes;
            complete += 1;
            connection.unsent = errand.request.len();
            if errand.reuse == Reuse::Close {
                return Ok(complete);
            }
            transmit(connection, errand)?;
        }
        if length < buffer.len() {
            return Ok(complete);
        }
    }
}

/// Sends as much of the request as the socket accepts.
#[inline]
fn transmit(connection: &mut Connection, errand: &Errand) -> Result<()> {
    while connection.unsent > 0 {
        let rest = &errand.request[errand.request.len() - connection.unsent..];
        match send(&connection.fd, rest, SendFlags::NOSIGNAL) {
            Ok(length) => connection.unsent -= length,
            Err(Errno::AGAIN) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

fn connect(errand: &Errand) -> Result<OwnedFd> {
    let stream = TcpStream::connect(errand.peer)?;
    stream.set_nodelay(true)?;
    stream.set_nonblocking(true)?;
    Ok(stream.into())
}

/// The length of a response, from one exchange.
fn learn(errand: &Errand) -> Result<usize> {
    let mut stream = TcpStream::connect(errand.peer)?;
    stream.write_all(&errand.request)?;
    let mut bytes = Vec::new();
    let mut part = [0; 4096];
    loop {
        if let Some(length) = response_length(&bytes) {
            return length;
        }
        match stream.read(&mut part)? {
            0 => {
                return Err(Error::other(
                    "the server closed the connection within the header",
                ));
            }
            length => bytes.extend_from_slice(&part[..length]),
        }
    }
}
