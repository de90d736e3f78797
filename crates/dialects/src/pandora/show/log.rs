//! Lines of the log: the time, the level, where it was logged, the message, and its fields.

use super::super::config;
use drumfire_data::rfc3339;

/// What stands where Pandora names a line of its source.
const CALLER: &str = "drumfire";

/// The log.
#[derive(Debug)]
pub(super) struct Log {
    settings: config::Log,
    /// The number of its stream.
    stream: usize,
}

impl Log {
    pub(super) fn new(settings: &config::Log, stream: usize) -> Self {
        Self {
            settings: settings.clone(),
            stream,
        }
    }

    /// Whether remarks are logged.
    pub(super) const fn has_info(&self) -> bool {
        self.settings.has_info()
    }

    /// Whether failures are logged.
    pub(super) const fn has_warnings(&self) -> bool {
        self.settings.has_warnings()
    }

    /// Appends a line to its stream; `at` counts from 1970, in nanoseconds.
    pub(super) fn line(&self, at: u64, level: &str, message: &str, streams: &mut [Vec<u8>]) {
        let mut line = String::new();
        rfc3339(at, &mut line);
        for part in ["\t", level, "\t", CALLER, "\t", message] {
            line.push_str(part);
        }
        // What a server sent has no lines of its own here.
        let line = line.replace(['\n', '\r'], " ");
        if let Some(stream) = streams.get_mut(self.stream) {
            stream.extend_from_slice(line.as_bytes());
            stream.push(b'\n');
        }
    }
}
