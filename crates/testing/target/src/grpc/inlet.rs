//! The messages of a request, one by one.

use super::coding::{Encoding, MESSAGE_MAX, too_large};
use super::ended::Ended;
use super::status::Status;
use crate::grpc_code::GrpcCode;
use bytes::{Buf as _, Bytes, BytesMut};
use h2::RecvStream;
use prost::Message;
use std::future::poll_fn;

/// The length of the prefix of a message: the compressed flag, and the length.
const PREFIX: usize = 5;

/// A request's messages.
pub(crate) struct Inlet {
    body: RecvStream,
    encoding: Encoding,
    /// Received bytes that are not a complete message yet.
    buffer: BytesMut,
    ended: bool,
}

impl Inlet {
    pub(crate) fn new(body: RecvStream, encoding: Encoding) -> Self {
        Self {
            body,
            encoding,
            buffer: BytesMut::new(),
            ended: false,
        }
    }

    /// The next message; `None` at the end.
    pub(crate) async fn next<M: Message + Default>(&mut self) -> Result<Option<M>, Ended> {
        let Some(bytes) = self.next_bytes().await? else {
            return Ok(None);
        };
        let message = M::decode(bytes);
        message.map(Some).map_err(|error| {
            let reason = format!("could not decode the message: {error}");
            Status::new(GrpcCode::INTERNAL, reason).into()
        })
    }

    /// The message of a call that must have exactly one.
    pub(crate) async fn only<M: Message + Default>(&mut self) -> Result<M, Ended> {
        let missing = || {
            Status::new(
                GrpcCode::INTERNAL,
                "the call needs one message, but none arrived",
            )
        };
        let message = self.next().await?.ok_or_else(missing)?;
        self.nothing_more().await?;
        Ok(message)
    }

    /// The bytes of the message of a call that must have exactly one.
    pub(crate) async fn only_bytes(&mut self) -> Result<Bytes, Ended> {
        let missing = || {
            Status::new(
                GrpcCode::INTERNAL,
                "the call needs one message, but none arrived",
            )
        };
        let message = self.next_bytes().await?.ok_or_else(missing)?;
        self.nothing_more().await?;
        Ok(message)
    }

    async fn nothing_more(&mut self) -> Result<(), Ended> {
        match self.next_bytes().await? {
            None => Ok(()),
            Some(_) => {
                Err(Status::new(GrpcCode::INTERNAL, "the call takes only one message").into())
            }
        }
    }

    /// The next message's bytes.
    pub(crate) async fn next_bytes(&mut self) -> Result<Option<Bytes>, Ended> {
        loop {
            if let Some(message) = self.whole_message()? {
                return Ok(Some(message));
            }
            if self.ended && self.buffer.is_empty() {
                return Ok(None);
            }
            if self.ended {
                return Err(
                    Status::new(GrpcCode::INTERNAL, "the last message is truncated").into(),
                );
            }
            match poll_fn(|cx| self.body.poll_data(cx)).await {
                None => self.ended = true,
                Some(Err(_)) => return Err(Ended::Gone),
                Some(Ok(data)) => {
                    // This fails only for more bytes than were received.
                    let _ = self.body.flow_control().release_capacity(data.len());
                    self.buffer.extend_from_slice(&data);
                }
            }
        }
    }

    fn whole_message(&mut self) -> Result<Option<Bytes>, Status> {
        let Some((prefix, rest)) = self.buffer.split_first_chunk::<PREFIX>() else {
            return Ok(None);
        };
        let [flag, length @ ..] = *prefix;
        let length = u32::from_be_bytes(length) as usize;
        if length > MESSAGE_MAX {
            return Err(too_large());
        }
        if rest.len() < length {
            return Ok(None);
        }
        self.buffer.advance(PREFIX);
        let message = self.buffer.split_to(length).freeze();
        match flag {
            0 => Ok(Some(message)),
            1 => self.encoding.decode(message).map(Some),
            _ => Err(Status::new(
                GrpcCode::INTERNAL,
                "a message must start with 0 or 1",
            )),
        }
    }
}
