//! The floor of a client of streams: bare sockets and epoll, one thread, no parsing.
//!
//! An event is a `data: ` in the bytes of one read, and its time is that of the read. A stream ends
//! with the last chunk. All connections are open before the first request.

use super::Times;
use drumfire_net::Clock;
use drumfire_units::Nanos;
use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};
use rustix::time::Timespec;
use std::io::{Error, Result};
use std::net::{SocketAddr, TcpStream};

/// The number of events per wait.
const BATCH: usize = 128;
/// The bytes of a read.
const READ: usize = 64 * 1024;
/// The mark of an event.
const EVENT: &[u8] = b"data: ";
/// The end of a body in chunks.
const LAST_CHUNK: &[u8] = b"0\r\n\r\n";
/// The maximum time without any bytes.
const SILENCE: Timespec = Timespec {
    tv_sec: 10,
    tv_nsec: 0,
};

/// A connection, and the times of its request.
struct Connection {
    fd: OwnedFd,
    sent: Nanos,
    /// The last event with tokens.
    last: Option<Nanos>,
    events: u32,
}

/// The load of the floor.
#[derive(Clone, Debug)]
pub struct TokenErrand {
    /// The server.
    pub peer: SocketAddr,
    /// The bytes of a request.
    pub request: Vec<u8>,
    /// The number of connections, each with one request at a time.
    pub connections: usize,
    /// The number of requests.
    pub requests: usize,
    /// The number of events with tokens in an answer.
    pub events: u32,
}

/// Sends the requests and receives their streams.
///
/// # Errors
/// If the server refuses or closes a connection, or sends nothing for 10 s.
pub fn run(errand: &TokenErrand) -> Result<Times> {
    let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    let mut connections = Vec::with_capacity(errand.connections);
    for index in 0..errand.connections {
        let stream = TcpStream::connect(errand.peer)?;
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        let fd = OwnedFd::from(stream);
        epoll::add(
            &epoll,
            &fd,
            EventData::new_u64(index as u64),
            EventFlags::IN,
        )?;
        connections.push(Connection {
            fd,
            sent: Nanos::ZERO,
            last: None,
            events: 0,
        });
    }
    let clock = Clock::start();
    let mut times = Times::default();
    let mut unsent = errand.requests;
    let mut open = 0;
    for connection in &mut connections {
        if unsent > 0 {
            start(connection, errand, clock)?;
            (unsent, open) = (unsent - 1, open + 1);
        }
    }
    let mut events: Vec<epoll::Event> = Vec::with_capacity(BATCH);
    let mut buffer = vec![0; READ];
    while open > 0 {
        events.clear();
        if epoll::wait(&epoll, spare_capacity(&mut events), Some(&SILENCE))? == 0 {
            return Err(Error::other("the server sends nothing"));
        }
        for event in &events {
            let connection = &mut connections[event.data.u64() as usize];
            let is_over = receive(connection, errand, clock, &mut buffer, &mut times)?;
            if is_over && unsent > 0 {
                start(connection, errand, clock)?;
                unsent -= 1;
            } else if is_over {
                open -= 1;
            }
        }
    }
    Ok(times)
}

/// Sends a request, which fits into the socket's buffer.
fn start(connection: &mut Connection, errand: &TokenErrand, clock: Clock) -> Result<()> {
    connection.sent = clock.now();
    connection.last = None;
    connection.events = 0;
    let sent = send(&connection.fd, &errand.request, SendFlags::NOSIGNAL)?;
    match sent == errand.request.len() {
        true => Ok(()),
        false => Err(Error::other("a request was sent in part")),
    }
}

/// Receives once; returns whether the stream is over.
fn receive(
    connection: &mut Connection,
    errand: &TokenErrand,
    clock: Clock,
    buffer: &mut [u8],
    times: &mut Times,
) -> Result<bool> {
    let count = match recv(&connection.fd, &mut *buffer, RecvFlags::empty()) {
        Ok((0, _)) => return Err(Error::other("the server closed a connection")),
        Ok((count, _)) => count,
        Err(Errno::AGAIN | Errno::INTR) => return Ok(false),
        Err(error) => return Err(error.into()),
    };
    let now = clock.now();
    let bytes = &buffer[..count];
    let found = bytes.windows(EVENT.len()).filter(|window| *window == EVENT);
    for _ in found {
        connection.events += 1;
        if connection.events > errand.events {
            break;
        }
        match connection.last {
            None => times.first.push(now - connection.sent),
            Some(last) => times.gap.push(now - last),
        }
        connection.last = Some(now);
    }
    Ok(bytes.ends_with(LAST_CHUNK))
}
