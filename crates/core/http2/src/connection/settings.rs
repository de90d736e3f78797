//! SETTINGS, ours and the server's (RFC 9113 section 6.5).
//!
//! We announce our settings once, in the first bytes, and never change them, so that never two
//! versions can apply. The server may change its settings at any time; they apply from their frame
//! on and are acknowledged in order.

use crate::frame::{MAX_31, PAYLOAD_BYTES_MAX, kind, setting};
use crate::output::Output;
use crate::{Error, ErrorCode, Settings};

/// The initial size of every window (section 6.5.2 and 6.9.2).
pub(super) const WINDOW_DEFAULT: u32 = 65_535;
/// The maximum payload that a peer may allow (section 6.5.2).
const PAYLOAD_BYTES_LIMIT: u32 = 0xff_ffff;
/// The length of one setting.
pub(super) const SETTING_BYTES: usize = 6;
/// The error of a window beyond 2³¹ − 1 (section 6.9.2).
pub(super) const OVERFLOW: Error = Error::violation(
    ErrorCode::FLOW_CONTROL_ERROR,
    "INITIAL_WINDOW_SIZE too large",
);

/// The settings that the server has announced.
#[derive(Debug)]
pub(super) struct Peer {
    /// Whether its first SETTINGS have arrived.
    pub(super) ready: bool,
    pub(super) streams_max: Option<u32>,
    /// The initial size of our send window on a new stream.
    pub(super) window: u32,
    /// The maximum payload that it accepts.
    pub(super) payload_max: u32,
    /// The largest list of header fields that it is prepared to accept.
    pub(super) header_list_max: u32,
    /// Whether it accepts a CONNECT with `:protocol`.
    pub(super) connects_by_protocol: bool,
}

impl Default for Peer {
    fn default() -> Self {
        Self {
            ready: false,
            streams_max: None,
            window: WINDOW_DEFAULT,
            payload_max: PAYLOAD_BYTES_MAX,
            header_list_max: u32::MAX,
            connects_by_protocol: false,
        }
    }
}

impl Peer {
    /// Sets the window of new streams, and returns the change for the open ones.
    pub(super) fn set_window(&mut self, value: u32) -> Result<i64, Error> {
        if value > MAX_31 {
            return Err(OVERFLOW);
        }
        let change = i64::from(value) - i64::from(self.window);
        self.window = value;
        Ok(change)
    }

    /// Applies a setting that changes no stream and no table; ignores settings without a meaning
    /// for us.
    pub(super) fn set(&mut self, identifier: u16, value: u32) -> Result<(), Error> {
        match identifier {
            setting::ENABLE_PUSH if value != 0 => {
                return Err(Error::protocol("ENABLE_PUSH from a server"));
            }
            setting::MAX_CONCURRENT_STREAMS => self.streams_max = Some(value),
            setting::MAX_HEADER_LIST_SIZE => self.header_list_max = value,
            setting::MAX_FRAME_SIZE => {
                if !(PAYLOAD_BYTES_MAX..=PAYLOAD_BYTES_LIMIT).contains(&value) {
                    return Err(Error::protocol("MAX_FRAME_SIZE out of range"));
                }
                self.payload_max = value;
            }
            setting::ENABLE_CONNECT_PROTOCOL => self.set_connects_by_protocol(value)?,
            _ => {}
        }
        Ok(())
    }

    /// RFC 8441 section 3: the value is 0 or 1, and a server does not withdraw a 1.
    fn set_connects_by_protocol(&mut self, value: u32) -> Result<(), Error> {
        match (self.connects_by_protocol, value) {
            (_, 1) => self.connects_by_protocol = true,
            (false, 0) => {}
            (true, 0) => return Err(Error::protocol("ENABLE_CONNECT_PROTOCOL withdrawn")),
            _ => return Err(Error::protocol("ENABLE_CONNECT_PROTOCOL out of range")),
        }
        Ok(())
    }
}

/// Limits settings to the ranges of the protocol.
pub(super) fn sane(settings: Settings) -> Settings {
    Settings {
        streams: settings.streams.max(1),
        stream_window: settings.stream_window.min(MAX_31),
        connection_window: settings.connection_window.clamp(WINDOW_DEFAULT, MAX_31),
        first_stream_id: settings.first_stream_id.min(MAX_31) | 1,
        ..settings
    }
}

/// Appends our SETTINGS, and the connection's window. They precede any request, so they apply to
/// every stream.
pub(super) fn announce(settings: &Settings, output: &mut Output) {
    let ours = [
        (setting::ENABLE_PUSH, 0),
        (setting::INITIAL_WINDOW_SIZE, settings.stream_window),
        (setting::MAX_HEADER_LIST_SIZE, settings.limits.head_bytes),
    ];
    let mut payload = Vec::with_capacity(ours.len() * SETTING_BYTES);
    for (identifier, value) in ours {
        payload.extend_from_slice(&u16::to_be_bytes(identifier));
        payload.extend_from_slice(&u32::to_be_bytes(value));
    }
    output.frame(kind::SETTINGS, 0, 0, &payload);
    let more = settings.connection_window - WINDOW_DEFAULT;
    if more > 0 {
        output.frame(kind::WINDOW_UPDATE, 0, 0, &more.to_be_bytes());
    }
}
