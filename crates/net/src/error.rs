//! Why a connection failed, made from the system's error numbers and from rustls's errors.

use rustix::io::Errno;
use rustls::{
    AlertDescription, CertificateError, Error as TlsError, InvalidMessage, PeerIncompatible,
};
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
    /// The certificate is of X.509 version 1, which can't be verified.
    TlsCertificateVersion,
    /// The peer sent an alert.
    TlsAlert(String),
    /// The peer has none of the protocols that were offered.
    TlsAlpn,
    /// The peer supports neither TLS 1.2 nor TLS 1.3.
    TlsVersion,
    /// The peer does not speak TLS as it should.
    TlsProtocol(String),
    /// The peer ended the stream without close_notify, after a whole record: its data may be
    /// truncated.
    TlsNoCloseNotify,
    /// The stream ended within a record of TLS: its data are truncated.
    TlsCut,
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

/// The greatest number of a certificate's names that a message has.
const NAMES_SHOWN: usize = 4;

/// The message on a certificate for other names than the one that was asked for. The verifier has
/// each name within the word for its kind: `DnsName("a.test")`, `IpAddress(127.0.0.1)`.
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
        // An error without a class of its own shows its inner name alone.
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
