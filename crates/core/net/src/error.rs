//! Why a connection failed, derived from the system's error numbers and from rustls's errors.

use drumfire_units::system_words;
use rustix::io::Errno;
use rustls::{
    AlertDescription, CertificateError, Error as TlsError, InvalidMessage, PeerIncompatible,
};
use std::fmt;

/// Why a connection failed. The engine maps these errors to outcomes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IoError {
    /// The address refused the connection.
    Refused,
    /// The kernel gave up connecting.
    TimedOut,
    /// The address has no route.
    Unreachable,
    /// The peer reset the connection.
    Reset,
    /// The peer closed the connection before all our bytes were sent.
    BrokenPipe,
    /// No file descriptor is left.
    NoDescriptors,
    /// No local port is left.
    NoPorts,
    /// The kernel has no memory left for sockets.
    NoMemory,
    /// This machine refused a resource for the connection, before the peer was involved.
    Local(Fault),
    /// The certificate has expired or is not valid yet; the text contains the dates.
    TlsExpired(String),
    /// The certificate is for another name.
    TlsName(String),
    /// The certificate has no trusted issuer.
    TlsUntrusted(String),
    /// The certificate is of X.509 version 1, which can't be verified.
    TlsCertificateVersion,
    /// The peer sent an alert.
    TlsAlert(String),
    /// The peer supports none of the offered protocols.
    TlsAlpn,
    /// The peer supports neither TLS 1.2 nor TLS 1.3.
    TlsVersion,
    /// The peer violated the TLS protocol.
    TlsProtocol(String),
    /// The peer ended the stream without close_notify, after a complete record: its data may be
    /// truncated.
    TlsNoCloseNotify,
    /// The stream ended within a TLS record: its data are truncated.
    TlsCut,
    /// Any other error of the operating system.
    Other(String),
}

/// A system call of the generator failed, independently of the target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The system call that failed.
    pub call: &'static str,
    /// The system's description of the error.
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
            // A Unix socket whose path does not exist counts like a port without a listener.
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
            other => Self::Other(system_words(&other)),
        }
    }
}

/// Wraps the error of a call that fails before the peer is involved.
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

/// Describes the failure of a call.
pub(crate) fn fault(call: &'static str) -> impl FnOnce(Errno) -> Fault {
    move |errno| Fault {
        call,
        reason: system_words(&errno),
    }
}

impl From<TlsError> for IoError {
    fn from(error: TlsError) -> Self {
        match error {
            TlsError::InvalidCertificate(reason) => certificate(&reason),
            // RFC 7301 section 3.2: a server without a common protocol ends the handshake with this
            // alert.
            TlsError::AlertReceived(AlertDescription::NoApplicationProtocol)
            | TlsError::NoApplicationProtocol => Self::TlsAlpn,
            TlsError::AlertReceived(AlertDescription::ProtocolVersion)
            | TlsError::PeerIncompatible(PeerIncompatible::ServerDoesNotSupportTls12Or13) => {
                Self::TlsVersion
            }
            TlsError::AlertReceived(alert) => Self::TlsAlert(format!("{alert:?}")),
            TlsError::InvalidMessage(InvalidMessage::InvalidContentType) => Self::TlsProtocol(
                "the peer did not answer with TLS and may expect plain http://".to_owned(),
            ),
            other => Self::TlsProtocol(other.to_string()),
        }
    }
}

/// How many of a certificate's names a message contains.
const NAMES_SHOWN: usize = 4;

/// The message about a certificate for other names than the expected one. The verifier puts each
/// name into the name of its kind: `DnsName("a.test")`, `IpAddress(127.0.0.1)`.
fn of_other_names(expected: &str, presented: &[String]) -> String {
    let inner = |name: &String| {
        let inside = name
            .split_once('(')
            .and_then(|(_, rest)| rest.strip_suffix(')'));
        inside.unwrap_or(name).trim_matches('"').to_owned()
    };
    let mut names: Vec<String> = presented.iter().take(NAMES_SHOWN).map(inner).collect();
    match presented.len().checked_sub(NAMES_SHOWN) {
        None | Some(0) => {}
        Some(more) => names.push(format!("{more} more")),
    }
    match names.is_empty() {
        true => format!("the certificate has no names; it is not valid for {expected}"),
        false => format!(
            "the certificate is for {}, not for {expected}",
            names.join(", ")
        ),
    }
}

/// Classifies why a certificate was refused.
fn certificate(reason: &CertificateError) -> IoError {
    let text = reason.to_string();
    match reason {
        CertificateError::Expired
        | CertificateError::ExpiredContext { .. }
        | CertificateError::NotValidYet
        | CertificateError::NotValidYetContext { .. } => {
            IoError::TlsExpired(format!("{text} (by this machine's clock)"))
        }
        CertificateError::NotValidForNameContext {
            expected,
            presented,
        } => IoError::TlsName(of_other_names(&expected.to_str(), presented)),
        CertificateError::NotValidForName => IoError::TlsName(text),
        CertificateError::BadSignature => IoError::TlsUntrusted(
            "its signature does not match the key of its trusted issuer".to_owned(),
        ),
        CertificateError::UnsupportedSignatureAlgorithmContext { .. } => {
            IoError::TlsUntrusted("its signature algorithm is not supported".to_owned())
        }
        CertificateError::UnsupportedSignatureAlgorithmForPublicKeyContext { .. } => {
            IoError::TlsUntrusted(
                "its signature algorithm differs from that of its trusted issuer".to_owned(),
            )
        }
        CertificateError::UnknownIssuer => {
            IoError::TlsUntrusted("its issuer is not a trusted authority".to_owned())
        }
        // An error of no other class displays only its inner error.
        CertificateError::Other(inner) => match inner.0.to_string() {
            name if name == "CaUsedAsEndEntity" => IoError::TlsUntrusted(
                "the certificate belongs to a certificate authority, not to a server".to_owned(),
            ),
            name if name == "UnsupportedCertVersion" => IoError::TlsCertificateVersion,
            name => IoError::TlsUntrusted(name),
        },
        _ => IoError::TlsUntrusted(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustls::pki_types::ServerName;

    #[test]
    fn the_names_of_a_certificate_are_as_users_write_them() {
        let said = |presented: &[&str]| {
            let reason = CertificateError::NotValidForNameContext {
                expected: ServerName::try_from("shop.test").expect("a name"),
                presented: presented.iter().map(|name| (*name).to_owned()).collect(),
            };
            match certificate(&reason) {
                IoError::TlsName(text) => text,
                other => panic!("{other:?}"),
            }
        };
        for (presented, text) in [
            (
                &[r#"DnsName("localhost")"#, "IpAddress(127.0.0.1)"][..],
                "the certificate is for localhost, 127.0.0.1, not for shop.test",
            ),
            (
                &[r#"DnsName("a.b")"#; 6],
                "the certificate is for a.b, a.b, a.b, a.b, 2 more, not for shop.test",
            ),
            (
                &[],
                "the certificate has no names; it is not valid for shop.test",
            ),
        ] {
            assert_eq!(said(presented), text);
        }
    }
}
