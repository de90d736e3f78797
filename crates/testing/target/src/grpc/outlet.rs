//! The answer of a call: headers, messages, a status.

use super::coding::{ACCEPTED, Encoding};
use super::ended::Ended;
use super::messages::Oddity;
use super::status::{Status, percent_encoded};
use crate::grpc_code::GrpcCode;
use crate::stream::{room, sleep_unless_gone};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use bytes::{BufMut as _, Bytes, BytesMut};
use h2::server::SendResponse;
use h2::{Reason, SendStream};
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{HeaderMap, Response, StatusCode};
use prost::Message;
use tokio::task::yield_now;

const GRPC: HeaderValue = HeaderValue::from_static("application/grpc");
const ZERO: HeaderValue = HeaderValue::from_static("0");

/// A call's answer in progress.
pub(crate) struct CallOutlet {
    respond: SendResponse<Bytes>,
    /// The stream, after the headers were sent.
    stream: Option<SendStream<Bytes>>,
    /// Metadata for the headers and for the trailers.
    pub(crate) headers: HeaderMap,
    pub(crate) trailers: HeaderMap,
    pub(crate) encoding: Encoding,
    pub(crate) oddity: Oddity,
    /// The HTTP status or error code, if the oddity needs one.
    pub(crate) oddity_code: u32,
    /// Whether the next message and the stream are broken off.
    pub(crate) cut: bool,
}

impl CallOutlet {
    pub(crate) fn new(respond: SendResponse<Bytes>) -> Self {
        Self {
            respond,
            stream: None,
            headers: HeaderMap::new(),
            trailers: HeaderMap::new(),
            encoding: Encoding::Identity,
            oddity: Oddity::Unspecified,
            oddity_code: 0,
            cut: false,
        }
    }

    /// Sends a message.
    pub(crate) async fn send(&mut self, message: &impl Message) -> Result<(), Ended> {
        if self.encoding != Encoding::Identity {
            return self.send_bytes(&message.encode_to_vec()).await;
        }
        let length = message.encoded_len();
        let mut framed = BytesMut::with_capacity(5 + length);
        framed.put_u8(0);
        framed.put_u32(wire_length(length)?);
        // The buffer has as much room as the message needs.
        let _ = message.encode(&mut framed);
        self.send_framed(framed.freeze()).await
    }

    /// Sends an encoded message.
    pub(crate) async fn send_bytes(&mut self, message: &[u8]) -> Result<(), Ended> {
        let coded;
        let (flag, message) = match self.encoding {
            Encoding::Identity => (0, message),
            encoding => {
                coded = encoding.encode(message);
                (1, &coded[..])
            }
        };
        let mut framed = BytesMut::with_capacity(5 + message.len());
        framed.put_u8(flag);
        framed.put_u32(wire_length(message.len())?);
        framed.put_slice(message);
        self.send_framed(framed.freeze()).await
    }

    async fn send_framed(&mut self, mut framed: Bytes) -> Result<(), Ended> {
        if self.oddity == Oddity::Http {
            // An HTTP answer has no messages.
            return Ok(());
        }
        if self.cut {
            framed.truncate(framed.len() / 2);
        }
        self.send_all(framed).await?;
        if self.cut {
            // A reset discards unwritten bytes.
            yield_now().await;
            self.reset(Reason::INTERNAL_ERROR);
            return Err(Ended::Gone);
        }
        Ok(())
    }

    async fn send_all(&mut self, mut bytes: Bytes) -> Result<(), Ended> {
        let stream = self.open()?;
        while !bytes.is_empty() {
            let room = room(stream, bytes.len() as u64).await?;
            // The room is at most the requested number.
            let piece = bytes.split_to(room as usize);
            stream.send_data(piece, false)?;
        }
        Ok(())
    }

    /// Opens the stream by sending the headers.
    fn open(&mut self) -> Result<&mut SendStream<Bytes>, Ended> {
        if self.stream.is_none() {
            let head = self.head();
            self.stream = Some(self.respond.send_response(head, false)?);
        }
        self.stream.as_mut().ok_or(Ended::Gone)
    }

    fn head(&mut self) -> Response<()> {
        let mut response = Response::new(());
        let mut fields = std::mem::take(&mut self.headers);
        let kind = match self.oddity {
            Oddity::ContentType => HeaderValue::from_static("text/html"),
            _ => GRPC,
        };
        fields.insert(CONTENT_TYPE, kind);
        if self.encoding != Encoding::Identity {
            let name = HeaderValue::from_static(self.encoding.name());
            fields.insert("grpc-encoding", name);
        }
        *response.headers_mut() = fields;
        response
    }

    /// Ends the call with a status, or with the oddity.
    pub(crate) async fn finish(&mut self, status: &Status) -> Result<(), Ended> {
        match self.oddity {
            Oddity::Http => return self.finish_as_http(),
            Oddity::Hang => return self.wait(std::future::pending()).await,
            Oddity::Reset => {
                let code = if self.oddity_code == 0 {
                    2
                } else {
                    self.oddity_code
                };
                yield_now().await;
                self.reset(Reason::from(code));
                return Ok(());
            }
            Oddity::NoStatus => {
                self.open()?.send_data(Bytes::new(), true)?;
                return Ok(());
            }
            // A message of eight bytes, of which three are sent.
            Oddity::HalfMessage => {
                self.send_all(Bytes::from_static(b"\0\0\0\0\x08\x1a\x06h"))
                    .await?
            }
            Oddity::CompressedFlag => {
                self.encoding = Encoding::Identity;
                self.send_all(Bytes::from_static(b"\x01\0\0\0\x02\x1a\0"))
                    .await?;
            }
            Oddity::HeadersFirst => {
                self.open()?;
            }
            Oddity::BadStatus | Oddity::ContentType | Oddity::Unspecified => {}
        }
        let mut fields = std::mem::take(&mut self.trailers);
        self.write_status(&mut fields, status);
        match &mut self.stream {
            Some(stream) => stream.send_trailers(fields)?,
            None => {
                // Trailers only: the headers contain the status.
                self.encoding = Encoding::Identity;
                let mut head = self.head();
                head.headers_mut().extend(fields);
                self.respond.send_response(head, true)?;
            }
        }
        Ok(())
    }

    fn write_status(&self, fields: &mut HeaderMap, status: &Status) {
        let code = match (self.oddity, status.code) {
            (Oddity::BadStatus, _) => HeaderValue::from_static("lots"),
            (_, GrpcCode::OK) => ZERO,
            (_, GrpcCode(code)) => HeaderValue::from(code),
        };
        fields.insert("grpc-status", code);
        if !status.message.is_empty()
            && let Ok(message) = HeaderValue::from_str(&percent_encoded(&status.message))
        {
            fields.insert("grpc-message", message);
        }
        if !status.details.is_empty()
            && let Ok(details) = HeaderValue::from_str(&STANDARD_NO_PAD.encode(&status.details))
        {
            fields.insert("grpc-status-details-bin", details);
        }
    }

    /// A plain HTTP answer without gRPC.
    fn finish_as_http(&mut self) -> Result<(), Ended> {
        let mut response = Response::new(());
        let code = u16::try_from(self.oddity_code).unwrap_or(0);
        let status = StatusCode::from_u16(code).unwrap_or(StatusCode::SERVICE_UNAVAILABLE);
        *response.status_mut() = status;
        let kind = HeaderValue::from_static("text/plain");
        response.headers_mut().insert(CONTENT_TYPE, kind);
        let mut stream = self.respond.send_response(response, false)?;
        stream.send_data(Bytes::from_static(b"not gRPC\n"), true)?;
        Ok(())
    }

    /// Waits, unless the client disconnects in the meantime.
    pub(crate) async fn wait(&mut self, until: impl Future<Output = ()>) -> Result<(), Ended> {
        match &mut self.stream {
            Some(stream) => sleep_unless_gone(until, |cx| stream.poll_reset(cx)).await?,
            None => sleep_unless_gone(until, |cx| self.respond.poll_reset(cx)).await?,
        }
        Ok(())
    }

    /// Announces the supported encodings.
    pub(crate) fn announce_encodings(&mut self) {
        let names = HeaderValue::from_static(ACCEPTED);
        self.headers.insert("grpc-accept-encoding", names);
    }

    /// Resets the stream.
    pub(crate) fn reset(&mut self, reason: Reason) {
        match &mut self.stream {
            Some(stream) => stream.send_reset(reason),
            None => self.respond.send_reset(reason),
        }
    }
}

fn wire_length(length: usize) -> Result<u32, Status> {
    u32::try_from(length).map_err(|_| super::coding::too_large())
}
