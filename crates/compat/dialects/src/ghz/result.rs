//! The result of one call in ghz's terms: its latency, its status by Go's name, its error in Go's
//! words.

use crate::grpc_code::{self, CODES};
use drumfire_measure::{Kept, Outcome};
use drumfire_units::Nanos;
use std::io::{self, Read, Write};

/// The maximum length of a stored error text, in bytes.
const ERROR_BYTES: usize = 8_192;

/// The start of a call's latency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Since {
    /// The time at which a worker began the call, before any wait for a stream or a new connection.
    Begun,
    /// The time at which the call was due: with `--async` no call waits for a worker, so a delay is
    /// the generator's.
    Due,
}

/// The target, as error texts of failed connections name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Peer {
    /// `host:port`.
    pub(super) address: String,
    /// The host without the port.
    pub(super) host: String,
    /// The path of a Unix socket that replaces both, and whether the file exists.
    pub(super) socket: Option<Socket>,
    pub(super) looked_up: NameResolver,
}

/// A Unix socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Socket {
    pub(super) path: String,
    pub(super) exists: bool,
}

/// The component that resolves the target's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NameResolver {
    /// gRPC, before dialing. After a failed look-up, gRPC has no address to try.
    Before,
    /// The dialer.
    WhenDialing,
}

/// The result of one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CallResult {
    /// The end of the call, from the start of the run.
    pub(super) end: Nanos,
    /// The latency of the call.
    pub(super) latency: Nanos,
    /// The number of its status code.
    pub(super) code: u8,
    /// The text of the error; empty for a success.
    pub(super) error: String,
}

impl CallResult {
    /// The result of a call, from its sample.
    pub(super) fn from_sample(kept: &Kept, since: Since, peer: &Peer) -> Self {
        let sample = &kept.sample;
        let latency = match since {
            Since::Begun => sample.end - kept.particulars.began,
            Since::Due => sample.response_time(),
        };
        let code = grpc_code::from_sample(sample);
        let error = match sample.outcome {
            Outcome::Ok => String::new(),
            outcome => {
                let name = CODES[usize::from(code)];
                let detail = kept.detail.as_ref().map(|detail| &*detail.text);
                let reason = reason(outcome, detail, peer);
                let mut text = format!("rpc error: code = {name} desc = {reason}");
                let mut end = text.len().min(ERROR_BYTES);
                while !text.is_char_boundary(end) {
                    end -= 1;
                }
                text.truncate(end);
                text
            }
        };
        Self {
            end: sample.end,
            latency,
            code,
            error,
        }
    }

    /// The name of its status code.
    pub(super) fn status(&self) -> &'static str {
        CODES
            .get(usize::from(self.code))
            .copied()
            .unwrap_or("Unknown")
    }

    /// Whether the call succeeded.
    pub(super) const fn is_ok(&self) -> bool {
        self.code == 0
    }

    /// Writes the result in the form that [`CallResult::read`] reads.
    pub(super) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(&self.end.0.to_le_bytes())?;
        out.write_all(&self.latency.0.to_le_bytes())?;
        out.write_all(&[self.code])?;
        let length = self.error.len().min(ERROR_BYTES) as u16;
        out.write_all(&length.to_le_bytes())?;
        out.write_all(&self.error.as_bytes()[..usize::from(length)])
    }

    /// Reads one result from the spool; `None` at the end.
    pub(super) fn read(from: &mut dyn Read) -> io::Result<Option<Self>> {
        let mut head = [0; 19];
        match from.read_exact(&mut head) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            read => read?,
        }
        let number = |at: usize| {
            let mut bytes = [0; 8];
            bytes.copy_from_slice(&head[at..at + 8]);
            Nanos(u64::from_le_bytes(bytes))
        };
        let mut error = vec![0; usize::from(u16::from_le_bytes([head[17], head[18]]))];
        from.read_exact(&mut error)?;
        Ok(Some(Self {
            end: number(0),
            latency: number(8),
            code: head[16],
            error: String::from_utf8_lossy(&error).into_owned(),
        }))
    }
}

/// The beginning of the detail of a connection attempt that took too long.
const NO_ANSWER: &str = "no answer from ";

/// The error text of Go's client.
fn reason(outcome: Outcome, detail: Option<&str>, peer: &Peer) -> String {
    let dialing = |why: &str| match &peer.socket {
        None => not_dialed(&format!("tcp {}: {why}", peer.address)),
        Some(socket) => not_dialed(&format!("unix {}: {why}", socket.path)),
    };
    let seeking = |why: &str| match peer.looked_up {
        NameResolver::Before => "name resolver error: produced zero addresses".to_owned(),
        NameResolver::WhenDialing => not_dialed(&format!("tcp: lookup {}: {why}", peer.host)),
    };
    match outcome {
        Outcome::DnsNotFound | Outcome::DnsEmpty => seeking("no such host"),
        Outcome::DnsFailed => seeking("server misbehaving"),
        Outcome::DnsTimeout => seeking("i/o timeout"),
        Outcome::ConnectRefused => match &peer.socket {
            Some(socket) if !socket.exists => dialing("connect: no such file or directory"),
            _ => dialing("connect: connection refused"),
        },
        // A call whose timeout passed before it had a connection.
        Outcome::TimeoutConnect if detail.is_some_and(|text| !text.starts_with(NO_ANSWER)) => {
            "context deadline exceeded".to_owned()
        }
        Outcome::ConnectTimeout | Outcome::TimeoutConnect => dialing("i/o timeout"),
        Outcome::ConnectUnreachable => dialing("connect: no route to host"),
        Outcome::ConnectReset => dialing("connect: connection reset by peer"),
        outcome if outcome.name().starts_with("tls:") => format!(
            "connection error: desc = \"transport: authentication handshake failed: {}\"",
            detail.unwrap_or_else(|| outcome.words())
        ),
        Outcome::LocalCancelled => "transport is closing".to_owned(),
        Outcome::Decode => format!(
            "grpc: failed to unmarshal the received message: {}",
            detail.unwrap_or_default()
        ),
        Outcome::TimeoutPing => "keepalive ping failed to receive ACK within timeout".to_owned(),
        Outcome::GrpcDeadlineExceeded if detail.is_none() => "context deadline exceeded".to_owned(),
        outcome if outcome.is_timeout() => "context deadline exceeded".to_owned(),
        Outcome::LimitMessage => detail.unwrap_or_default().to_owned(),
        outcome if outcome.name().starts_with("grpc:") => detail.unwrap_or_default().to_owned(),
        outcome => match detail {
            Some(detail) => format!("{}: {detail}", outcome.words()),
            None => outcome.words().to_owned(),
        },
    }
}

/// The reason why the connection failed.
fn not_dialed(why: &str) -> String {
    format!("connection error: desc = \"transport: Error while dialing: dial {why}\"")
}

#[cfg(test)]
mod tests {
    use super::*;
    use drumfire_measure::{Leniencies, Particulars, Sample};

    fn kept(outcome: Outcome, status: u16, detail: Option<&str>) -> Kept {
        Kept {
            sample: Sample {
                intended: Nanos(10),
                due: Nanos(10),
                sent: Nanos(30),
                first_byte: Nanos::MAX,
                end: Nanos(100),
                bytes_sent: 0,
                outcome,
                leniencies: Leniencies::default(),
                bytes_received: 0,
                status,
                step: 0,
            },
            particulars: Particulars {
                arrival: 0,
                began: Nanos(15),
                written: Nanos(30),
            },
            detail: detail.map(|text| Box::new(text.into())),
            answer: None,
            pool: 0,
        }
    }

    fn peer() -> Peer {
        Peer {
            address: "127.0.0.1:1".to_owned(),
            host: "127.0.0.1".to_owned(),
            socket: None,
            looked_up: NameResolver::WhenDialing,
        }
    }

    #[test]
    fn errors_read_as_in_go() {
        let refused = "rpc error: code = Unavailable desc = connection error: desc = \"transport: Error while dialing: dial tcp 127.0.0.1:1: connect: connection refused\"";
        for (outcome, status, detail, text) in [
            (Outcome::Ok, 1000, None, ""),
            (
                Outcome::GrpcInternal,
                1013,
                Some("boom"),
                "rpc error: code = Internal desc = boom",
            ),
            (
                Outcome::GrpcCancelled,
                1001,
                None,
                "rpc error: code = Canceled desc = ",
            ),
            (
                Outcome::LocalCancelled,
                1001,
                None,
                "rpc error: code = Unavailable desc = transport is closing",
            ),
            (
                Outcome::TimeoutTotal,
                1004,
                None,
                "rpc error: code = DeadlineExceeded desc = context deadline exceeded",
            ),
            (Outcome::ConnectRefused, 1014, None, refused),
            (
                Outcome::TimeoutConnect,
                1004,
                Some("no answer from 127.0.0.1:1"),
                "rpc error: code = DeadlineExceeded desc = connection error: desc = \"transport: Error while dialing: dial tcp 127.0.0.1:1: i/o timeout\"",
            ),
            (
                Outcome::TimeoutConnect,
                1004,
                Some("redialing was paused after connect:refused: 127.0.0.1:1 refused"),
                "rpc error: code = DeadlineExceeded desc = context deadline exceeded",
            ),
            (
                Outcome::TimeoutPing,
                1014,
                None,
                "rpc error: code = Unavailable desc = keepalive ping failed to receive ACK within timeout",
            ),
            (
                Outcome::Decode,
                1013,
                Some("no a.B: n: ends too early"),
                "rpc error: code = Internal desc = grpc: failed to unmarshal the received message: no a.B: n: ends too early",
            ),
            (
                Outcome::TlsProtocol,
                1014,
                Some("no TLS"),
                "rpc error: code = Unavailable desc = connection error: desc = \"transport: authentication handshake failed: no TLS\"",
            ),
        ] {
            let result =
                CallResult::from_sample(&kept(outcome, status, detail), Since::Begun, &peer());
            assert_eq!(result.error, text);
            assert_eq!(result.is_ok(), text.is_empty());
            let mut bytes = Vec::new();
            result.write(&mut bytes).unwrap();
            let mut bytes = bytes.as_slice();
            assert_eq!(CallResult::read(&mut bytes).unwrap(), Some(result));
            assert_eq!(CallResult::read(&mut bytes).unwrap(), None);
        }
    }

    #[test]
    fn a_socket_is_named_by_its_path() {
        for (exists, why) in [
            (true, "connection refused"),
            (false, "no such file or directory"),
        ] {
            let socket = Some(Socket {
                path: "/run/a".to_owned(),
                exists,
            });
            let peer = Peer { socket, ..peer() };
            let refused = kept(Outcome::ConnectRefused, 1014, None);
            assert_eq!(
                CallResult::from_sample(&refused, Since::Begun, &peer).error,
                format!(
                    "rpc error: code = Unavailable desc = connection error: desc = \"transport: Error while dialing: dial unix /run/a: connect: {why}\""
                )
            );
        }
    }

    #[test]
    fn latency_counts_from_where_it_should() {
        let ok = kept(Outcome::Ok, 1000, None);
        let latency = |since| CallResult::from_sample(&ok, since, &peer()).latency;
        assert_eq!(latency(Since::Begun), Nanos(85));
        assert_eq!(latency(Since::Due), Nanos(90));
    }

    #[test]
    fn names_without_an_address_read_as_in_go() {
        let error = |outcome, looked_up| {
            let peer = Peer {
                address: "api.test:1".to_owned(),
                host: "api.test".to_owned(),
                socket: None,
                looked_up,
            };
            CallResult::from_sample(&kept(outcome, 1014, None), Since::Begun, &peer).error
        };
        for (outcome, why) in [
            (Outcome::DnsNotFound, "no such host"),
            (Outcome::DnsEmpty, "no such host"),
            (Outcome::DnsFailed, "server misbehaving"),
            (Outcome::DnsTimeout, "i/o timeout"),
        ] {
            assert_eq!(
                error(outcome, NameResolver::WhenDialing),
                format!(
                    "rpc error: code = Unavailable desc = connection error: desc = \"transport: Error while dialing: dial tcp: lookup api.test: {why}\""
                )
            );
            assert_eq!(
                error(outcome, NameResolver::Before),
                "rpc error: code = Unavailable desc = name resolver error: produced zero addresses"
            );
        }
    }
}
