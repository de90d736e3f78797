//! From the system's error numbers and rustls's errors to [`IoError`].

use crate::{Fault, IoError};
use rustix::io::Errno;
use rustls::{AlertDescription, CertificateError, Error as TlsError, InvalidMessage};

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
