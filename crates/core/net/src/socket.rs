//! Opens sockets with the options that a load generator needs.

use crate::error::local;
use crate::{Endpoint, IoError, Progress};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketAddrUnix, SocketType, bind, connect, sockopt,
};
use std::net::{IpAddr, SocketAddr};

/// Sending on a broken connection returns an error and raises no signal. On macOS this is a socket
/// option.
#[cfg(not(target_vendor = "apple"))]
pub(crate) const SEND: SendFlags = SendFlags::NOSIGNAL;
#[cfg(target_vendor = "apple")]
pub(crate) const SEND: SendFlags = SendFlags::empty();

/// The flags for receiving bytes to discard: Linux drops them in the kernel (tcp(7), `MSG_TRUNC`),
/// other systems copy them.
#[cfg(target_os = "linux")]
pub(crate) const DISCARD: RecvFlags = RecvFlags::TRUNC;
#[cfg(not(target_os = "linux"))]
pub(crate) const DISCARD: RecvFlags = RecvFlags::empty();

/// Opens a non-blocking socket and starts to connect it.
pub(crate) fn dial(address: &Endpoint) -> Result<(OwnedFd, Progress), IoError> {
    match address {
        Endpoint::Tcp { peer, source } => dial_tcp(*peer, *source),
        Endpoint::Unix(path) => {
            let name = SocketAddrUnix::new(path.as_path())?;
            let fd = open(AddressFamily::UNIX).map_err(local("socket"))?;
            let progress = progress(connect(&fd, &name))?;
            Ok((fd, progress))
        }
    }
}

/// TCP without Nagle's delay: a request is sent as soon as it is written.
fn dial_tcp(peer: SocketAddr, source: Option<IpAddr>) -> Result<(OwnedFd, Progress), IoError> {
    let fd = open(family(peer.ip())).map_err(local("socket"))?;
    sockopt::set_tcp_nodelay(&fd, true).map_err(local("setsockopt"))?;
    if let Some(source) = source {
        late_port(&fd)?;
        bind(&fd, &SocketAddr::new(source, 0)).map_err(unbound)?;
    }
    let progress = progress(connect(&fd, &peer))?;
    Ok((fd, progress))
}

/// Why a local address can't be bound.
fn unbound(errno: Errno) -> IoError {
    match errno.into() {
        IoError::NoPorts => IoError::NoPorts,
        _ => local("bind")(errno),
    }
}

/// Opens a non-blocking stream socket that child processes do not inherit.
#[cfg(not(target_vendor = "apple"))]
fn open(family: AddressFamily) -> Result<OwnedFd, Errno> {
    use rustix::net::{SocketFlags, socket_with};
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    socket_with(family, SocketType::STREAM, flags, None)
}

/// Opens the socket in several steps, because macOS has no flags for this.
#[cfg(target_vendor = "apple")]
fn open(family: AddressFamily) -> Result<OwnedFd, Errno> {
    let fd = rustix::net::socket(family, SocketType::STREAM, None)?;
    rustix::io::ioctl_fioclex(&fd)?;
    rustix::io::ioctl_fionbio(&fd, true)?;
    sockopt::set_socket_nosigpipe(&fd, true)?;
    Ok(fd)
}

/// Whether this machine has an address, so that connections can use it as their source.
#[must_use]
pub fn is_own_address(address: IpAddr) -> bool {
    let bound = open(family(address)).and_then(|fd| bind(&fd, &SocketAddr::new(address, 0)));
    // Opening connections detects and reports any other error.
    bound != Err(Errno::ADDRNOTAVAIL)
}

fn family(address: IpAddr) -> AddressFamily {
    if address.is_ipv4() {
        AddressFamily::INET
    } else {
        AddressFamily::INET6
    }
}

/// A connect in progress is not an error.
fn progress(result: Result<(), Errno>) -> Result<Progress, IoError> {
    match result {
        Ok(()) => Ok(Progress::Done),
        Err(Errno::INPROGRESS) => Ok(Progress::Pending),
        // A Unix socket whose queue is full; the caller waits and dials again.
        Err(Errno::AGAIN) => Err(IoError::Refused),
        Err(error) => Err(error.into()),
    }
}

/// Makes the kernel choose the port at connect, when it knows the peer, so that one local port can
/// serve several peers (ip(7), IP_BIND_ADDRESS_NO_PORT).
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "rustix has no safe call for this option")]
fn late_port(fd: &OwnedFd) -> Result<(), IoError> {
    use crate::error::last_errno;
    use rustix::fd::AsRawFd as _;
    let on: libc::c_int = 1;
    // SAFETY: the descriptor is open, and the option's value is one int of the size given.
    let result = unsafe {
        libc::setsockopt(
            fd.as_raw_fd(),
            libc::IPPROTO_IP,
            libc::IP_BIND_ADDRESS_NO_PORT,
            (&raw const on).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    };
    if result == 0 {
        Ok(())
    } else {
        Err(local("setsockopt")(last_errno()))
    }
}

/// Does nothing: other systems choose the port when the address is bound, so each port is used
/// once, for any peer.
#[cfg(not(target_os = "linux"))]
#[expect(clippy::unnecessary_wraps, reason = "Linux can refuse")]
fn late_port(_: &OwnedFd) -> Result<(), IoError> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_is_ours_and_a_documentation_address_is_not() {
        assert!(is_own_address("127.0.0.1".parse().unwrap()));
        // RFC 5737 reserves these addresses for documentation.
        assert!(!is_own_address("192.0.2.1".parse().unwrap()));
    }
}
