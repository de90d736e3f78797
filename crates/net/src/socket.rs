//! Opening sockets with the options that a load generator needs.

use crate::{Address, IoError, Progress};
use rustix::fd::{AsFd, AsRawFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, connect, socket_with, sockopt,
};
use std::net::{IpAddr, SocketAddr};

/// Opens a non-blocking socket and starts to connect it.
pub(crate) fn dial(address: &Address) -> Result<(OwnedFd, Progress), IoError> {
    match address {
        Address::Tcp { peer, source } => dial_tcp(*peer, *source),
        Address::Unix(path) => {
            let name = SocketAddrUnix::new(path.as_path())?;
            let fd = open(AddressFamily::UNIX)?;
            let progress = progress(connect(&fd, &name))?;
            Ok((fd, progress))
        }
    }
}

/// TCP without Nagle's delay: a request goes out when it is written.
fn dial_tcp(peer: SocketAddr, source: Option<IpAddr>) -> Result<(OwnedFd, Progress), IoError> {
    let fd = open(if peer.is_ipv4() {
        AddressFamily::INET
    } else {
        AddressFamily::INET6
    })?;
    sockopt::set_tcp_nodelay(&fd, true)?;
    if let Some(source) = source {
        late_port(&fd)?;
        bind(&fd, &SocketAddr::new(source, 0))?;
    }
    let progress = progress(connect(&fd, &peer))?;
    Ok((fd, progress))
}

/// A non-blocking stream socket that children do not inherit.
fn open(family: AddressFamily) -> Result<OwnedFd, Errno> {
    socket_with(
        family,
        SocketType::STREAM,
        SocketFlags::NONBLOCK | SocketFlags::CLOEXEC,
        None,
    )
}

/// A connect that is under way is not an error.
fn progress(result: Result<(), Errno>) -> Result<Progress, IoError> {
    match result {
        Ok(()) => Ok(Progress::Done),
        Err(Errno::INPROGRESS) => Ok(Progress::Pending),
        // A Unix socket whose queue is full; the caller backs off and dials again.
        Err(Errno::AGAIN) => Err(IoError::Refused),
        Err(error) => Err(error.into()),
    }
}

/// Lets the kernel choose the port at connect, when it knows the peer, so that the same local port
/// serves several peers (ip(7), IP_BIND_ADDRESS_NO_PORT).
#[expect(unsafe_code, reason = "rustix has no safe call for this option")]
fn late_port(fd: &OwnedFd) -> Result<(), IoError> {
    let on: libc::c_int = 1;
    // SAFETY: the descriptor is open, and the option's value is one int of the size given.
    let result = unsafe {
        libc::setsockopt(
            fd.as_fd().as_raw_fd(),
            libc::IPPROTO_IP,
            libc::IP_BIND_ADDRESS_NO_PORT,
            (&raw const on).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    };
    if result == 0 {
        Ok(())
    } else {
        Err(IoError::Other(std::io::Error::last_os_error().to_string()))
    }
}
