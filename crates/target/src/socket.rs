//! Sockets that don't block, are closed in other programs, and send no signal: in one call where the
//! system has it, in steps on macOS.

use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SendFlags};

/// A write to a connection that the peer closed is an error, and no SIGPIPE.
#[cfg(not(target_vendor = "apple"))]
pub(crate) const SEND: SendFlags = SendFlags::NOSIGNAL;
/// A write to a connection that the peer closed is an error by the socket's own option.
#[cfg(target_vendor = "apple")]
pub(crate) const SEND: SendFlags = SendFlags::empty();

/// A new socket.
#[cfg(not(target_vendor = "apple"))]
pub(crate) fn stream(family: AddressFamily) -> Result<OwnedFd, Errno> {
    use rustix::net::{SocketFlags, SocketType, socket_with};
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    socket_with(family, SocketType::STREAM, flags, None)
}

/// A new socket.
#[cfg(target_vendor = "apple")]
pub(crate) fn stream(family: AddressFamily) -> Result<OwnedFd, Errno> {
    settled(rustix::net::socket(
        family,
        rustix::net::SocketType::STREAM,
        None,
    )?)
}

/// The next connection of a listener's queue.
#[cfg(not(target_vendor = "apple"))]
pub(crate) fn accept(listener: &OwnedFd) -> Result<OwnedFd, Errno> {
    use rustix::net::{SocketFlags, accept_with};
    accept_with(listener, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC)
}

/// The next connection of a listener's queue.
#[cfg(target_vendor = "apple")]
pub(crate) fn accept(listener: &OwnedFd) -> Result<OwnedFd, Errno> {
    settled(rustix::net::accept(listener)?)
}

#[cfg(target_vendor = "apple")]
fn settled(fd: OwnedFd) -> Result<OwnedFd, Errno> {
    rustix::io::ioctl_fioclex(&fd)?;
    rustix::io::ioctl_fionbio(&fd, true)?;
    rustix::net::sockopt::set_socket_nosigpipe(&fd, true)?;
    Ok(fd)
}
