//! The framing of a stream of tokens as server-sent events.

use super::behaviour::{DoneMark, LlmBehaviour, Switch};
use crate::events::LineEnd;

/// The name of an event.
#[derive(Clone, Copy, Debug)]
pub(crate) enum EventName {
    /// Always sent, as the interface has it.
    Sent(&'static str),
    /// Sent only if the behaviour asks for names.
    Optional(&'static str),
}

/// Events of a stream, as bytes that are not yet sent.
#[derive(Debug)]
pub(crate) struct EventWriter {
    /// The bytes.
    pub(crate) bytes: Vec<u8>,
    line: LineEnd,
    names: Switch,
}

impl EventWriter {
    pub(crate) fn new(behaviour: &LlmBehaviour) -> Self {
        let bytes = match behaviour.bom {
            Switch::Yes => b"\xef\xbb\xbf".to_vec(),
            Switch::No => Vec::new(),
        };
        Self {
            bytes,
            line: behaviour.line,
            names: behaviour.event_names,
        }
    }

    /// Appends an event whose data are these parts, which contain no line ends.
    pub(crate) fn event(&mut self, name: EventName, data: &[&str]) {
        match (name, self.names) {
            (EventName::Sent(name), _) | (EventName::Optional(name), Switch::Yes) => {
                self.line(&["event: ", name]);
            }
            (EventName::Optional(_), Switch::No) => {}
        }
        self.bytes.extend_from_slice(b"data: ");
        self.line(data);
        self.line(&[]);
    }

    /// Appends `[DONE]`.
    pub(crate) fn done(&mut self, mark: DoneMark) {
        match mark {
            DoneMark::Yes => {
                self.line(&["data: [DONE]"]);
                self.line(&[]);
            }
            DoneMark::Bare => self.line(&["data: [DONE]"]),
            DoneMark::No => {}
        }
    }

    fn line(&mut self, parts: &[&str]) {
        for part in parts {
            self.bytes.extend_from_slice(part.as_bytes());
        }
        self.bytes.extend_from_slice(self.line.text().as_bytes());
    }
}

/// A comment, which clients ignore.
pub(crate) fn comment(line: LineEnd) -> Vec<u8> {
    format!(": ping{0}{0}", line.text()).into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_framed_as_the_behaviour_asks() {
        let mut behaviour = LlmBehaviour::default();
        for (name, value) in [("line", "crlf"), ("bom", "yes"), ("event-names", "yes")] {
            behaviour.set(name, value).unwrap();
        }
        let mut events = EventWriter::new(&behaviour);
        events.event(EventName::Optional("chunk"), &["{", "}"]);
        events.done(DoneMark::Yes);
        let text = "\u{feff}event: chunk\r\ndata: {}\r\n\r\ndata: [DONE]\r\n\r\n";
        assert_eq!(events.bytes, text.as_bytes());
        assert_eq!(comment(LineEnd::Cr), b": ping\r\r");
        let mut events = EventWriter::new(&LlmBehaviour::default());
        events.event(EventName::Optional("chunk"), &["{}"]);
        events.event(EventName::Sent("stop"), &["1"]);
        events.done(DoneMark::No);
        events.done(DoneMark::Bare);
        assert_eq!(
            events.bytes,
            b"data: {}\n\nevent: stop\ndata: 1\n\ndata: [DONE]\n"
        );
    }
}
