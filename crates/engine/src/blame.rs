//! From what went wrong below to the one outcome of an exchange.

use drumfire_coding as coding;
use drumfire_http1 as http1;
use drumfire_measure::Outcome;
use drumfire_net::IoError;

/// Where an exchange was when its connection failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum During {
    /// Opening the connection.
    Connect,
    /// The TLS handshake.
    Tls,
    /// Sending the request.
    Send,
}

/// An outcome, and what there is to say beyond it.
pub(crate) type Failure = (Outcome, Option<String>);

/// The outcome of a failure outside of a response.
pub(crate) fn io_failure(error: IoError, during: During) -> Failure {
    let outcome = match (&error, during) {
        (IoError::Refused, _) => Outcome::ConnectRefused,
        (IoError::TimedOut, _) => Outcome::ConnectTimeout,
        (IoError::Unreachable, _) => Outcome::ConnectUnreachable,
        (IoError::NoDescriptors, _) => Outcome::LocalDescriptors,
        (IoError::NoPorts, _) => Outcome::LocalPorts,
        (IoError::NoMemory, _) => Outcome::LocalMemory,
        (IoError::TlsExpired(_), _) => Outcome::TlsExpired,
        (IoError::TlsName(_), _) => Outcome::TlsName,
        (IoError::TlsUntrusted(_), _) => Outcome::TlsUntrusted,
        (IoError::TlsAlert(_), _) => Outcome::TlsAlert,
        (IoError::TlsProtocol(_) | IoError::TlsNoCloseNotify, _) | (_, During::Tls) => {
            Outcome::TlsProtocol
        }
        (IoError::Reset, During::Connect) => Outcome::ConnectReset,
        (_, During::Connect) => Outcome::ConnectUnreachable,
        (IoError::Reset, During::Send) => Outcome::Reset,
        (_, During::Send) => Outcome::Send,
    };
    (outcome, io_detail(error))
}

/// What an I/O error says beyond its class.
pub(crate) fn io_detail(error: IoError) -> Option<String> {
    match error {
        IoError::TlsExpired(text)
        | IoError::TlsName(text)
        | IoError::TlsUntrusted(text)
        | IoError::TlsAlert(text)
        | IoError::TlsProtocol(text)
        | IoError::Other(text) => Some(text),
        _ => None,
    }
}

/// The outcome of a response that broke the protocol or ended early.
pub(crate) fn http1_outcome(error: &http1::Error) -> Outcome {
    use http1::Error;
    match error {
        Error::NotHttp(_) => Outcome::ProtoNotHttp,
        Error::Http09(_) => Outcome::ProtoHttp09,
        Error::Version(_) => Outcome::ProtoVersion,
        Error::StatusLine => Outcome::ProtoStatusLine,
        Error::Status => Outcome::ProtoStatus,
        Error::Reason => Outcome::ProtoReason,
        Error::BareCr => Outcome::ProtoBareCr,
        Error::Header => Outcome::ProtoHeader,
        Error::ContentLength => Outcome::ProtoContentLength,
        Error::TransferCoding => Outcome::ProtoTransferCoding,
        Error::Chunk => Outcome::ProtoChunk,
        Error::Trailer => Outcome::ProtoTrailer,
        Error::Unexpected101 => Outcome::ProtoUnexpected101,
        Error::Truncated(_) => Outcome::Truncated,
        Error::Closed | Error::Unsolicited => Outcome::Closed,
        Error::ClosedInHead => Outcome::ClosedInHead,
        Error::Reset => Outcome::Reset,
        Error::LimitHead => Outcome::LimitHead,
        Error::LimitHeaderCount => Outcome::LimitHeaderCount,
        Error::LimitInterim => Outcome::LimitInterim,
        Error::LimitChunkExtension => Outcome::LimitChunkExtension,
        Error::LimitBody => Outcome::LimitBody,
    }
}

/// The outcome of a body that does not decode.
pub(crate) fn coding_outcome(error: &coding::Error) -> Outcome {
    match error {
        coding::Error::Limit => Outcome::LimitDecoded,
        _ => Outcome::Decode,
    }
}
