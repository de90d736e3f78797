//! What carries the frames of a WebSocket: a connection, or a stream of HTTP/2 (RFC 8441).
//!
//! The stream is the only one of its connection, so that a WebSocket has a connection of its own in
//! both cases, and everything above is the same.

use crate::blame::{Failure, http2_failure, stream_failure};
use crate::id::ExchangeId;
use crate::wire::http2::open;
use crate::wire::{Opening, Port, Settings};
use drumfire_http2 as h2;
use drumfire_measure::Outcome;
use drumfire_net::{Io, IoError};

/// What carries the frames.
#[derive(Debug)]
pub(super) enum SocketCarrier {
    /// The connection, after the 101 of HTTP/1.1.
    Connection,
    /// A stream.
    Stream(Box<Tunnel>),
    /// A stream whose bytes are being read: nothing can be sent until they are.
    Lent,
}

/// The connection of a stream.
#[derive(Debug)]
pub(super) struct Tunnel {
    machine: h2::Connection,
    stream: Option<h2::StreamRef>,
    /// Whether the server's SETTINGS have arrived.
    is_ready: bool,
}

/// What has come on a stream.
pub(super) enum Came<'a> {
    /// Nothing for the WebSocket.
    Nothing,
    /// An interim response.
    Interim,
    /// The head of the answer.
    Head {
        status: u16,
        headers: h2::Headers<'a>,
        end: bool,
    },
    /// Bytes of frames; `end`: the last ones.
    Bytes { bytes: &'a [u8], end: bool },
}

/// The meaning of a prefix of the input.
pub(super) struct Piece<'a> {
    pub(super) consumed: usize,
    pub(super) came: Came<'a>,
}

impl SocketCarrier {
    /// Sends bytes of frames. Returns the number of bytes that were taken.
    pub(super) fn send<I: Io>(
        &mut self,
        port: &mut Port<'_, I>,
        bytes: &[u8],
    ) -> Result<usize, IoError> {
        match self {
            Self::Connection => port.send(bytes),
            Self::Stream(tunnel) => tunnel.send(port, bytes),
            Self::Lent => Ok(0),
        }
    }

    /// Sends a message, whose departure the kernel may report.
    pub(super) fn send_request<I: Io>(
        &mut self,
        port: &mut Port<'_, I>,
        bytes: &[u8],
    ) -> Result<usize, IoError> {
        match self {
            Self::Connection => port.send_request(bytes),
            Self::Stream(_) | Self::Lent => self.send(port, bytes),
        }
    }

    /// Whether nothing can be sent now, because bytes are being read.
    pub(super) const fn is_lent(&self) -> bool {
        matches!(self, Self::Lent)
    }

    /// The stream's connection, if there is one.
    pub(super) fn tunnel(&mut self) -> Option<&mut Tunnel> {
        match self {
            Self::Stream(tunnel) => Some(tunnel),
            Self::Connection | Self::Lent => None,
        }
    }
}

impl Tunnel {
    /// A new connection, whose preface is output at once.
    pub(super) fn new(settings: &Settings) -> Self {
        Self {
            machine: h2::Connection::new(&h2::Settings {
                streams: 1,
                first_stream_id: settings.first_stream_id,
                ..h2::Settings::default()
            }),
            stream: None,
            is_ready: false,
        }
    }

    /// Whether a stream can be opened.
    pub(super) const fn is_ready(&self) -> bool {
        self.is_ready
    }

    /// Whether the server accepts WebSockets on streams.
    pub(super) const fn is_offered(&self) -> bool {
        self.machine.connects_by_protocol()
    }

    /// Whether bytes wait for [`Self::flush`].
    pub(super) fn has_output(&self) -> bool {
        !self.machine.output().is_empty()
    }

    /// Opens the stream. Returns the number of bytes; `None` if the connection takes no stream.
    pub(super) fn open(&mut self, id: ExchangeId, opening: &Opening<'_>) -> Option<usize> {
        let before = self.machine.output().len();
        let opened = open(&mut self.machine, id, opening, h2::EndStream::No);
        self.stream = opened.ok();
        self.stream?;
        Some(self.machine.output().len() - before)
    }

    fn send<I: Io>(&mut self, port: &mut Port<'_, I>, bytes: &[u8]) -> Result<usize, IoError> {
        let Some(stream) = self.stream else {
            return Ok(0);
        };
        // A stream that is gone has failed: the event of its end follows.
        let taken = self.machine.send_data(stream, bytes, h2::EndStream::No);
        let taken = taken.unwrap_or(bytes.len());
        self.flush(port)?;
        Ok(taken)
    }

    /// Writes as much of the output as the socket takes.
    pub(super) fn flush<I: Io>(&mut self, port: &mut Port<'_, I>) -> Result<(), IoError> {
        if self.has_output() {
            let sent = port.send(self.machine.output())?;
            self.machine.output_sent(sent);
        }
        Ok(())
    }

    /// Ends the stream and the connection.
    pub(super) fn end<I: Io>(&mut self, port: &mut Port<'_, I>) {
        if let Some(stream) = self.stream {
            // A stream that is gone needs no end.
            let _gone = self.machine.send_data(stream, &[], h2::EndStream::Yes);
        }
        self.machine.go_away(h2::ErrorCode::NO_ERROR);
        // The connection is closed in any case.
        let _sent = self.flush(port);
    }

    /// Reads a prefix of `input`; `None` if all of it was read.
    ///
    /// # Errors
    /// If the stream or its connection has failed.
    pub(super) fn read<'a>(&'a mut self, input: &'a [u8]) -> Result<Option<Piece<'a>>, Failure> {
        if input.is_empty() && !self.machine.has_event() {
            return Ok(None);
        }
        let has_stream = self.stream.is_some();
        let is_ready = &mut self.is_ready;
        let step = self
            .machine
            .handle_input(input)
            .map_err(|error| http2_failure(&error))?;
        let consumed = step.consumed;
        let came = match step.event {
            h2::Event::NeedInput => return Ok(None),
            h2::Event::Ready => {
                *is_ready = true;
                Came::Nothing
            }
            h2::Event::Interim { .. } => Came::Interim,
            h2::Event::Head {
                status,
                headers,
                end,
                ..
            } => Came::Head {
                status,
                headers,
                end,
            },
            h2::Event::Data { bytes, end, .. } => Came::Bytes { bytes, end },
            // Trailers have no meaning here, but end the stream.
            h2::Event::Trailers { .. } => Came::Bytes {
                bytes: &[],
                end: true,
            },
            h2::Event::StreamFailed { error, .. } => return Err(stream_failure(error)),
            h2::Event::Unprocessed { .. } => {
                return Err(Failure::from_outcome(Outcome::H2GoAway));
            }
            h2::Event::GoAway { .. } if !has_stream => {
                return Err(Failure::from_outcome(Outcome::H2GoAway));
            }
            h2::Event::GoAway { .. }
            | h2::Event::Capacity
            | h2::Event::Pong { .. }
            | h2::Event::Writable { .. } => Came::Nothing,
        };
        Ok(Some(Piece { consumed, came }))
    }
}
