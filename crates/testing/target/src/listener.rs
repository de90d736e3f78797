//! Listening sockets.

use crate::error::StartError;
use crate::options::{Exposure, Listen};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, bind, getsockname, listen, sockopt};
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};

/// Requests the longest queue of pending connections that the system allows.
const BACKLOG: i32 = 65_535;

/// One address with a listening socket for each worker.
#[derive(Debug)]
pub(crate) struct Listener {
    /// The bound address, with port 0 resolved.
    pub(crate) listen: Listen,
    /// One socket per worker, or one that all workers share.
    sockets: Vec<OwnedFd>,
}

impl Listener {
    /// Listens at an address for this number of workers.
    pub(crate) fn open(
        wanted: &Listen,
        exposure: Exposure,
        workers: usize,
    ) -> Result<Self, StartError> {
        let fail = |errno: Errno| match errno {
            Errno::ADDRINUSE => StartError::AddressInUse {
                listen: wanted.clone(),
            },
            errno => StartError::Bind {
                listen: wanted.clone(),
                cause: errno.into(),
            },
        };
        match wanted {
            Listen::Tcp(address) => {
                if exposure == Exposure::Loopback && !address.ip().to_canonical().is_loopback() {
                    return Err(StartError::NotLoopback {
                        listen: wanted.clone(),
                    });
                }
                open_tcp(*address, workers).map_err(fail)
            }
            Listen::Unix(path) => open_unix(path).map_err(fail),
        }
    }

    /// The listener of the worker with this index; call this in the worker's runtime.
    pub(crate) fn door(&self, worker: usize) -> io::Result<Door> {
        let socket = self.sockets[worker % self.sockets.len()].try_clone()?;
        Ok(match self.listen {
            Listen::Tcp(_) => Door::Tcp(TcpListener::from_std(socket.into())?),
            Listen::Unix(_) => Door::Unix(UnixListener::from_std(socket.into())?),
        })
    }
}

/// A worker's part of a listener.
pub(crate) enum Door {
    Tcp(TcpListener),
    Unix(UnixListener),
}

/// A client's socket.
pub(crate) enum Socket {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Door {
    /// Accepts the next connection.
    pub(crate) async fn accept(&self) -> io::Result<Socket> {
        Ok(match self {
            Self::Tcp(listener) => Socket::Tcp(listener.accept().await?.0),
            Self::Unix(listener) => Socket::Unix(listener.accept().await?.0),
        })
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Listen::Unix(path) = &self.listen {
            // Another process has removed the socket file.
            let _ = std::fs::remove_file(path);
        }
    }
}

/// Whether several sockets may listen on one port.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sharing {
    Alone,
    WithSiblings,
}

fn open_tcp(address: SocketAddr, workers: usize) -> Result<Listener, Errno> {
    // A socket with a shared port would join another server of the same user without an error. The
    // port is therefore bound exclusively first, which fails if another process uses it.
    let first = bound(address, Sharing::Alone)?;
    let address = SocketAddr::try_from(getsockname(&first)?).map_err(|_| Errno::AFNOSUPPORT)?;
    let sockets = if workers == 1 || !cfg!(target_os = "linux") {
        // Only on Linux does the kernel spread connections over the sockets of one port.
        vec![first]
    } else {
        drop(first);
        (0..workers)
            .map(|_| bound(address, Sharing::WithSiblings))
            .collect::<Result<_, _>>()?
    };
    for socket in &sockets {
        listen(socket, BACKLOG)?;
    }
    Ok(Listener {
        listen: Listen::Tcp(address),
        sockets,
    })
}

/// A socket bound to the address. Accepted connections inherit its options.
fn bound(address: SocketAddr, sharing: Sharing) -> Result<OwnedFd, Errno> {
    let family = if address.is_ipv4() {
        AddressFamily::INET
    } else {
        AddressFamily::INET6
    };
    let socket = stream(family)?;
    sockopt::set_socket_reuseaddr(&socket, true)?;
    sockopt::set_socket_reuseport(&socket, sharing == Sharing::WithSiblings)?;
    if family == AddressFamily::INET6 {
        // `[::]` means only IPv6, on every system.
        sockopt::set_ipv6_v6only(&socket, true)?;
    }
    sockopt::set_tcp_nodelay(&socket, true)?;
    bind(&socket, &address)?;
    Ok(socket)
}

fn open_unix(path: &Path) -> Result<Listener, Errno> {
    let socket = stream(AddressFamily::UNIX)?;
    bind(&socket, &SocketAddrUnix::new(path)?)?;
    let listener = Listener {
        listen: Listen::Unix(path.to_path_buf()),
        sockets: vec![socket],
    };
    listen(&listener.sockets[0], BACKLOG)?;
    Ok(listener)
}

/// A new non-blocking socket, which is closed in child programs.
#[cfg(not(target_vendor = "apple"))]
fn stream(family: AddressFamily) -> Result<OwnedFd, Errno> {
    use rustix::net::{SocketFlags, SocketType, socket_with};
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    socket_with(family, SocketType::STREAM, flags, None)
}

/// A new non-blocking socket, which is closed in child programs: in separate steps, because macOS
/// lacks the flags.
#[cfg(target_vendor = "apple")]
fn stream(family: AddressFamily) -> Result<OwnedFd, Errno> {
    let socket = rustix::net::socket(family, rustix::net::SocketType::STREAM, None)?;
    rustix::io::ioctl_fioclex(&socket)?;
    rustix::io::ioctl_fionbio(&socket, true)?;
    Ok(socket)
}
