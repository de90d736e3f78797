//! The reasons why a plan cannot run here and now.
//!
//! These errors are found before the run, from the plan and this machine together; a run that has
//! begun has failed requests instead. [`PrepareError::outcome`] returns the outcome if every
//! request of the plan would have failed in the same way (such as a name without an address), so
//! that a caller may report a failed run instead of a wrong plan.

use drumfire_measure::Outcome;
use drumfire_net::{ResolveError, TlsSetupError};
use drumfire_plan::{MODEST_COUNT, MODEST_RATE};
use std::fmt;
use std::net::IpAddr;

/// The reason why a plan cannot run here and now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PrepareError {
    /// A target's name has no address.
    Resolve {
        /// The name.
        host: String,
        /// The error of the look-up.
        reason: ResolveError,
    },
    /// No source address has the family of a target's addresses.
    Source {
        /// A source address.
        source: IpAddr,
        /// An address of the target.
        peer: IpAddr,
    },
    /// The plan's guard does not allow the load: the address is public, and the load exceeds the
    /// modest one that is always allowed.
    Guarded {
        /// The target, in the form for a list of allowed targets.
        host: String,
        /// The target's public address.
        address: IpAddr,
    },
    /// TLS cannot be set up.
    Tls(TlsSetupError),
    /// A request cannot be sent; the text contains the request and the reason.
    Request(String),
}

impl PrepareError {
    /// The outcome that every request would have had.
    #[must_use]
    pub fn outcome(&self) -> Option<Outcome> {
        match self {
            Self::Resolve { reason, .. } => Some(match reason {
                ResolveError::NotFound => Outcome::DnsNotFound,
                ResolveError::Failed(_) => Outcome::DnsFailed,
                ResolveError::TimedOut => Outcome::DnsTimeout,
                ResolveError::Empty => Outcome::DnsEmpty,
            }),
            _ => None,
        }
    }
}

impl fmt::Display for PrepareError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Resolve { host, reason } => write!(
                f,
                "`{}` has no address: {reason}; check the spelling",
                host.escape_default()
            ),
            Self::Source { source, peer } => {
                let family = |address: &IpAddr| if address.is_ipv4() { "IPv4" } else { "IPv6" };
                write!(
                    f,
                    "the source address {source} cannot reach {peer}: one is {}, the other {}",
                    family(source),
                    family(peer)
                )
            }
            Self::Guarded { host, address } => write!(
                f,
                "`{}` has a public address, {address}, and this load exceeds {MODEST_RATE} \
                 requests/s or {MODEST_COUNT} requests in total",
                host.escape_default()
            ),
            Self::Tls(error) => error.fmt(f),
            Self::Request(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for PrepareError {}
