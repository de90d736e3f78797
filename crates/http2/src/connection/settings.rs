//! SETTINGS, ours and the server's (RFC 9113 section 6.5).

use super::{Connection, Found};
use crate::frame::{FrameHeader, MAX_31, PAYLOAD_BYTES_MAX, flag, kind, number_32, setting};
use crate::{Error, ErrorCode, Settings};

/// Every window at first (section 6.5.2 and 6.9.2).
pub(super) const WINDOW_DEFAULT: u32 = 65_535;
/// The largest payload that a peer may ask for (section 6.5.2).
const PAYLOAD_BYTES_LIMIT: u32 = 0xff_ffff;
/// Bytes of one setting.
const SETTING_BYTES: usize = 6;

/// The server's announced settings.
#[derive(Debug)]
pub(super) struct Peer {
    /// Whether its first SETTINGS have come.
    pub(super) ready: bool,
    pub(super) streams_max: Option<u32>,
    /// Our window on a new stream.
    pub(super) window: u32,
    /// The largest payload that it accepts.
    pub(super) payload_max: u32,
}

impl Default for Peer {
    fn default() -> Self {
        Self {
            ready: false,
            streams_max: None,
            window: WINDOW_DEFAULT,
            payload_max: PAYLOAD_BYTES_MAX,
        }
    }
}

/// Settings within the ranges that the protocol has.
pub(super) fn sane(settings: Settings) -> Settings {
    Settings {
        streams: settings.streams.max(1),
        stream_window: settings.stream_window.min(MAX_31),
        connection_window: settings.connection_window.clamp(WINDOW_DEFAULT, MAX_31),
        first_stream_id: settings.first_stream_id.min(MAX_31) | 1,
        ..settings
    }
}

impl Connection {
    /// Appends our SETTINGS, and the connection's window. They come before any request, so they
    /// hold for every stream.
    pub(super) fn send_settings(&mut self) {
        let ours = [
            (setting::ENABLE_PUSH, 0),
            (setting::INITIAL_WINDOW_SIZE, self.settings.stream_window),
            (
                setting::MAX_HEADER_LIST_SIZE,
                self.settings.limits.head_bytes,
            ),
        ];
        let mut payload = Vec::with_capacity(ours.len() * SETTING_BYTES);
        for (identifier, value) in ours {
            payload.extend_from_slice(&u16::to_be_bytes(identifier));
            payload.extend_from_slice(&u32::to_be_bytes(value));
        }
        self.output.frame(kind::SETTINGS, 0, 0, &payload);
        let more = self.settings.connection_window - WINDOW_DEFAULT;
        if more > 0 {
            self.output
                .frame(kind::WINDOW_UPDATE, 0, 0, &more.to_be_bytes());
        }
    }

    pub(super) fn settings_frame(
        &mut self,
        header: FrameHeader,
        payload: &[u8],
    ) -> Result<Option<Found>, Error> {
        if header.stream != 0 {
            return Err(Error::protocol("SETTINGS on a stream"));
        }
        let ack = header.has(flag::ACK);
        if !payload.len().is_multiple_of(SETTING_BYTES) || ack && !payload.is_empty() {
            return Err(Error::violation(
                ErrorCode::FRAME_SIZE_ERROR,
                "SETTINGS of a wrong size",
            ));
        }
        self.idle()?;
        if ack {
            return Ok(None);
        }
        let streams_max = self.peer.streams_max;
        for entry in payload.chunks_exact(SETTING_BYTES) {
            let identifier = u16::from_be_bytes([entry[0], entry[1]]);
            self.setting(identifier, number_32(&entry[2..]))?;
        }
        self.output.reply(kind::SETTINGS, flag::ACK, 0, &[]);
        if !self.peer.ready {
            self.peer.ready = true;
            return Ok(Some(Found::Ready));
        }
        Ok((streams_max != self.peer.streams_max).then_some(Found::Capacity))
    }

    /// Obeys one setting; those without a meaning for us are ignored.
    fn setting(&mut self, identifier: u16, value: u32) -> Result<(), Error> {
        match identifier {
            setting::HEADER_TABLE_SIZE => self.encoder.resize(value),
            setting::ENABLE_PUSH if value != 0 => {
                return Err(Error::protocol("ENABLE_PUSH from a server"));
            }
            setting::MAX_CONCURRENT_STREAMS => self.peer.streams_max = Some(value),
            setting::INITIAL_WINDOW_SIZE => return self.initial_window(value),
            setting::MAX_FRAME_SIZE => {
                if !(PAYLOAD_BYTES_MAX..=PAYLOAD_BYTES_LIMIT).contains(&value) {
                    return Err(Error::protocol("MAX_FRAME_SIZE out of range"));
                }
                self.peer.payload_max = value;
            }
            _ => {}
        }
        Ok(())
    }

    /// Changes the window of every stream by as much as that of new ones (section 6.9.2).
    fn initial_window(&mut self, value: u32) -> Result<(), Error> {
        const OVERFLOW: Error = Error::violation(
            ErrorCode::FLOW_CONTROL_ERROR,
            "INITIAL_WINDOW_SIZE too large",
        );
        if value > MAX_31 {
            return Err(OVERFLOW);
        }
        let change = i64::from(value) - i64::from(self.peer.window);
        self.peer.window = value;
        for stream in self.streams.iter_mut() {
            let window = i64::from(stream.send_window) + change;
            stream.send_window = i32::try_from(window).map_err(|_| OVERFLOW)?;
        }
        self.windows_grown();
        Ok(())
    }
}
