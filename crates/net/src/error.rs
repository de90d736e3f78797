//! Why a connection failed, made from the system's error numbers and from rustls's errors.

use rustix::io::Errno;
use rustls::{AlertDescription, CertificateError, Error as TlsError, InvalidMessage};
use std::fmt;

/// Why a connection failed. The engine maps these to outcomes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IoError {
    /// The address refused.
    Refused,
    /// The kernel gave up connecting.
    TimedOut,
    /// No way to the address.
    Unreachable,
    /// The peer reset the connection.
    Reset,
    /// The peer closed before our bytes were out.
    BrokenPipe,
    /// No file descriptor left.
    NoDescriptors,
    /// No local port left.
    NoPorts,
    /// No kernel memory left for sockets.
    NoMemory,
    /// This machine refused a resource of a connection, before the peer had any part in it.
    Local(Fault),
    /// The certificate is outside its validity; the text names the dates.
    TlsExpired(String),
    /// The certificate is for another name.
    TlsName(String),
    /// The certificate has no trusted issuer.
    TlsUntrusted(String),
    /// The peer sent an alert.
    TlsAlert(String),
    /// The peer has none of the protocols that were offered.
    TlsAlpn,
    /// The peer does not speak TLS as it should.
    TlsProtocol(String),
    /// The peer ended the stream without close_notify: its data may be truncated.
    TlsNoCloseNotify,
    /// Any other error of the operating system.
    Other(String),
}

/// A system call of the generator's own failed, independent of the target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The system call that failed.
    pub call: &'static str,
    /// How, in the system's words.
    pub reason: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} failed: {}", self.call, self.reason)
    }
}

impl std::error::Error for Fault {}

impl From<Errno> for IoError {
    fn from(errno: Errno) -> Self {
        match errno {
            Errno::CONNREFUSED => Self::Refused,
            // A Unix socket whose path does not exist is as closed as a port without a listener.
            Errno::NOENT => Self::Refused,
            Errno::TIMEDOUT => Self::TimedOut,
            Errno::HOSTUNREACH
            | Errno::NETUNREACH
            | Errno::NETDOWN
            | Errno::ACCESS
            | Errno::PERM => Self::Unreachable,
            Errno::CONNRESET | Errno::CONNABORTED => Self::Reset,
            Errno::PIPE => Self::BrokenPipe,
            Errno::MFILE | Errno::NFILE => Self::NoDescriptors,
            Errno::ADDRNOTAVAIL | Errno::ADDRINUSE => Self::NoPorts,
            Errno::NOMEM | Errno::NOBUFS => Self::NoMemory,
            other => Self::Other(other.to_string()),
        }
    }
}

/// The error of a call that fails before the peer has any part in it.
pub(crate) fn local(call: &'static str) -> impl FnOnce(Errno) -> IoError {
    move |errno| match errno.into() {
        lack @ (IoError::NoDescriptors | IoError::NoMemory) => lack,
        _ => IoError::Local(fault(call)(errno)),
    }
}

/// Why the last call through `libc` failed.
#[cfg(target_os = "linux")]
#[cold]
pub(crate) fn last_errno() -> Errno {
    Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO)
}

/// The failure of a call.
pub(crate) fn fault(call: &'static str) -> impl FnOnce(Errno) -> Fault {
    move |errno| Fault {
        call,
        reason: errno.to_string(),
    }
}

impl From<TlsError> for IoError {
    fn from(error: TlsError) -> Self {
        match error {
            TlsError::InvalidCertificate(reason) => certificate(&reason),
            // RFC 7301 section 3.2: a server without a common protocol ends the handshake so.
            TlsError::AlertReceived(AlertDescription::NoApplicationProtocol)
            | TlsError::NoApplicationProtocol => Self::TlsAlpn,
            TlsError::AlertReceived(alert) => Self::TlsAlert(format!("{alert:?}")),
            TlsError::InvalidMessage(InvalidMessage::InvalidContentType) => Self::TlsProtocol(
                "the peer does not answer with TLS; it may expect plain http://".to_owned(),
            ),
            other => Self::TlsProtocol(other.to_string()),
        }
    }
}

/// A refused certificate, by the class of the reason.
fn certificate(reason: &CertificateError) -> IoError {
    let text = reason.to_string();
    match reason {
        CertificateError::Expired
        | CertificateError::ExpiredContext { .. }
        | CertificateError::NotValidYet
        | CertificateError::NotValidYetContext { .. } => {
            IoError::TlsExpired(format!("{text} (by this machine's clock)"))
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            IoError::TlsName(text)
        }
        CertificateError::UnknownIssuer => {
            IoError::TlsUntrusted("its issuer is not among the trusted authorities".to_owned())
        }
        // An error without a class of its own shows its inner name alone.
        CertificateError::Other(inner) => IoError::TlsUntrusted(match inner.0.to_string() {
            name if name == "CaUsedAsEndEntity" => {
                "the server shows the certificate of an authority as its own".to_owned()
            }
            name => name,
        }),
        _ => IoError::TlsUntrusted(text),
    }
}
