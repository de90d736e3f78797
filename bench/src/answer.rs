//! The minimal work of a server: any text that ends with an empty line is a request, and every
//! request gets the same answer. For clients that wait for each answer before they send again.

use crate::floor::RECEIVE_BYTES;
use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, SocketFlags, accept_with, recv, send, sockopt};
use std::io::Result;
use std::net::TcpListener;

/// The maximum number of ready sockets per wait.
const BATCH: usize = 128;

/// The listener's index among the connections.
const LISTENER: u64 = u64::MAX;

/// The answer: a typical response head, and a body of 100 bytes.
#[must_use]
pub fn response() -> Vec<u8> {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 100\r\n\r\n";
    let mut bytes = head.as_bytes().to_vec();
    bytes.resize(bytes.len() + 100, b'.');
    bytes
}

/// Answers requests until the process ends.
///
/// # Errors
/// If the listener or epoll fails; broken connections are dropped.
pub fn serve(listener: TcpListener) -> Result<()> {
    listener.set_nonblocking(true)?;
    let listener = OwnedFd::from(listener);
    let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    epoll::add(
        &epoll,
        &listener,
        EventData::new_u64(LISTENER),
        EventFlags::IN,
    )?;
    let answer = response();
    let mut connections: Vec<Option<OwnedFd>> = Vec::new();
    let mut events: Vec<epoll::Event> = Vec::with_capacity(BATCH);
    let mut buffer = vec![0; RECEIVE_BYTES];
    loop {
        events.clear();
        // A signal may end a wait early; the next turn waits again.
        let _interrupted = epoll::wait(&epoll, spare_capacity(&mut events), None);
        for event in &events {
            if event.data.u64() == LISTENER {
                accept(&listener, &epoll, &mut connections)?;
                continue;
            }
            let place = &mut connections[event.data.u64() as usize];
            let broken = match place {
                Some(fd) => respond(fd, &mut buffer, &answer).is_err(),
                None => false,
            };
            if broken {
                *place = None;
            }
        }
    }
}

/// Accepts one connection; the listener is level-triggered and reports the next.
fn accept(
    listener: &OwnedFd,
    epoll: &OwnedFd,
    connections: &mut Vec<Option<OwnedFd>>,
) -> Result<()> {
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let fd = match accept_with(listener, flags) {
        Ok(fd) => fd,
        Err(Errno::AGAIN | Errno::CONNABORTED | Errno::INTR) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    sockopt::set_tcp_nodelay(&fd, true)?;
    let place = match connections.iter().position(Option::is_none) {
        Some(place) => place,
        None => {
            connections.push(None);
            connections.len() - 1
        }
    };
    let flags = EventFlags::IN | EventFlags::RDHUP | EventFlags::ET;
    epoll::add(epoll, &fd, EventData::new_u64(place as u64), flags)?;
    connections[place] = Some(fd);
    Ok(())
}

/// Answers the received request; an error means that the connection has ended.
#[inline]
fn respond(fd: &OwnedFd, buffer: &mut [u8], answer: &[u8]) -> std::result::Result<(), Errno> {
    match recv(fd, &mut *buffer, RecvFlags::empty()) {
        Ok((0, _)) => Err(Errno::PIPE),
        Ok((length, _)) if buffer[..length].ends_with(b"\r\n\r\n") => {
            send(fd, answer, SendFlags::NOSIGNAL).map(drop)
        }
        Ok(_) | Err(Errno::AGAIN) => Ok(()),
        Err(error) => Err(error),
    }
}
