//! The remedies of failures and of runs, in words and flags of our command line.

use drumfire_measure::{Outcome, Reason, Remedy};
use std::borrow::Cow;

/// A reason with what to try about it, in one sentence.
#[must_use]
pub fn sentence(reason: &Reason) -> String {
    let words: Vec<_> = reason.remedies.iter().filter_map(words).collect();
    match words.split_last() {
        None => reason.text.clone(),
        Some((only, [])) => format!("{}; {only}", reason.text),
        Some((last, others)) => format!("{}; {} or {last}", reason.text, others.join(", ")),
    }
}

/// The remedy as an imperative.
fn words(remedy: &Remedy) -> Option<Cow<'static, str>> {
    Some(Cow::Borrowed(match remedy {
        Remedy::LowerRate => "lower the rate",
        Remedy::FewerUsers => "use fewer users (-u, -c)",
        Remedy::AddThreads => "add --threads",
        Remedy::OwnCores => "let nothing else run on its cores",
        Remedy::OwnMachine => "use a machine with cores of its own",
        Remedy::FewerConnections => "use fewer connections per thread",
        Remedy::LastLonger => "let the run last longer",
        Remedy::Report => "please report it",
        Remedy::Connections(needed) => return Some(Cow::Owned(format!("try -c {needed}"))),
        Remedy::Descriptors {
            connections,
            descriptors,
        } => {
            return Some(Cow::Owned(format!(
                "raise the limit of open files (ulimit -n {descriptors}), then try -c {connections}"
            )));
        }
        Remedy::Users(needed) => return Some(Cow::Owned(format!("try -u {needed}"))),
        // What is said of a timeout explains how it is counted.
        Remedy::Against(outcome) if outcome.is_timeout() => return None,
        Remedy::Against(outcome) => return self::remedy(*outcome).map(Cow::Borrowed),
    }))
}

/// A remedy for a failure; `None` where the outcome's own words suffice.
#[must_use]
pub const fn remedy(outcome: Outcome) -> Option<&'static str> {
    Some(match outcome {
        Outcome::DnsNotFound => "check the host's spelling",
        Outcome::DnsFailed | Outcome::DnsTimeout => "try again, or give the address with --resolve",
        Outcome::ConnectRefused => "check that the server runs and listens at this port",
        Outcome::ConnectTimeout | Outcome::ConnectUnreachable => {
            "check the address, the route and firewalls; a full accept queue looks the same"
        }
        Outcome::TlsUntrusted => "give the issuer with --cacert, or skip verification with -k",
        Outcome::TlsName => "use the name in the certificate, with --resolve if need be",
        Outcome::TlsExpired => "renew the certificate, or skip verification with -k",
        Outcome::TlsAlert => "a server that asks for a client's certificate wants --cert and --key",
        Outcome::TlsProtocol => "for a server without TLS write http://, in gRPC --plaintext",
        Outcome::ConnectReset => {
            "check that the port speaks this protocol: a TLS port needs https://, in gRPC no \
             --plaintext"
        }
        Outcome::ProtoNotHttp => "check that the port speaks HTTP/1.1: a TLS port needs https://",
        Outcome::ProtoNotHttp2 => {
            "check that the port speaks HTTP/2: a TLS port needs https://, in gRPC no --plaintext"
        }
        Outcome::ClosedReused => {
            "if the connections were idle, raise the server's keep-alive timeout; if they were not, it \
             closed them in place of an answer"
        }
        Outcome::TimeoutConnect => {
            "counted in the latency as at least this long; --connect-timeout and --timeout set the \
             limit"
        }
        Outcome::TimeoutTls => {
            "counted in the latency as at least this long; --tls-timeout and --timeout set the limit"
        }
        Outcome::TimeoutHead => {
            "counted in the latency as at least this long; --head-timeout and --timeout set the \
             limit"
        }
        Outcome::TimeoutBody => {
            "counted in the latency as at least this long; --timeout sets the limit"
        }
        Outcome::TimeoutTotal => {
            "counted in the latency as at least this long; --timeout sets the limit, in gRPC \
             --deadline"
        }
        Outcome::LimitMessage => "raise --max-receive, or ask for less",
        Outcome::TimeoutPing => {
            "the connection was dead or the server stood still; --ping-timeout sets the patience"
        }
        Outcome::LocalDescriptors => "raise `ulimit -n`, or use fewer connections",
        Outcome::LocalPorts => "keep connections alive, or add --source-ip addresses",
        Outcome::LocalMemory => "use fewer connections, or raise net.ipv4.tcp_mem",
        Outcome::RedirectLimit => "raise -L",
        Outcome::RedirectBlocked => "follow redirects with -L",
        _ => return None,
    })
}
