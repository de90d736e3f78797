//! Lines of the log: the time, the level, the caller, the message, and its fields.

use super::super::config;
use drumfire_data::rfc3339;

/// The text where Pandora prints a line of its source.
const CALLER: &str = "drumfire";

/// The log.
#[derive(Debug)]
pub(super) struct Log {
    settings: config::Log,
    /// The index of the log's stream.
    stream: usize,
}

impl Log {
    pub(super) fn new(settings: &config::Log, stream: usize) -> Self {
        Self {
            settings: settings.clone(),
            stream,
        }
    }

    /// Whether informational messages are logged.
    pub(super) const fn has_info(&self) -> bool {
        self.settings.has_info()
    }

    /// Whether failures are logged.
    pub(super) const fn has_warnings(&self) -> bool {
        self.settings.has_warnings()
    }

    /// Appends a line to the log's stream; `at` is in nanoseconds since 1970.
    pub(super) fn line(&self, at: u64, level: &str, message: &str, streams: &mut [Vec<u8>]) {
        let mut line = String::new();
        rfc3339(at, &mut line);
        for part in ["\t", level, "\t", CALLER, "\t", message] {
            line.push_str(part);
        }
        // Text from a server must not begin new lines here.
        let line = line.replace(['\n', '\r'], " ");
        if let Some(stream) = streams.get_mut(self.stream) {
            stream.extend_from_slice(line.as_bytes());
            stream.push(b'\n');
        }
    }
}
