//! Values of a document whose places are flags of another tool.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use drumfire_compile::{Found, Host};
use drumfire_document::{Count, Field, Generator, Payload, Place, Placed, Switch, Text};
use drumfire_units::Nanos;

/// The flags of one tool, as places.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ToolFlags(pub(crate) &'static str);

impl ToolFlags {
    /// The place of a flag.
    pub(crate) const fn flag_place(self, name: &'static str) -> Place {
        Place::Dialect { tool: self.0, name }
    }

    /// A flag's value.
    pub(crate) fn text(self, name: &'static str, value: &impl ToString) -> Text {
        Placed::new(value.to_string(), self.flag_place(name))
    }

    /// The value of a flag with a number.
    pub(crate) fn count(self, name: &'static str, value: impl Into<u64>) -> Count {
        Placed::new(value.into(), self.flag_place(name))
    }

    /// The value of a flag without an argument.
    pub(crate) const fn switch(self, name: &'static str, value: bool) -> Switch {
        Placed::new(value, self.flag_place(name))
    }

    /// A bound in time; `Nanos::MAX` is written as 0, which means unbounded.
    pub(crate) fn bound(self, name: &'static str, span: Nanos) -> Text {
        match span {
            Nanos::MAX => self.text(name, &0),
            span => self.text(name, &span),
        }
    }

    /// The generator of a run. The users of these tools choose their targets themselves, so the
    /// guard of targets is off. Times are by the program's clock, as the tools' own are.
    pub(crate) fn generator(self, seed: u64) -> Generator {
        Generator {
            seed: Some(Placed::new(seed, self.flag_place(""))),
            i_own_this_target: Some(self.switch("", true)),
            clock: Some(self.text("", &"program")),
            ..Generator::default()
        }
    }

    /// A header or metadata field.
    pub(crate) fn field(self, name: &'static str, key: &str, value: &str) -> Field {
        Field {
            name: self.text(name, &key),
            value: self.text(name, &value),
        }
    }

    /// The payload of bytes that were read from a path: the path, unless the file can't be read
    /// again.
    pub(crate) fn payload(
        self,
        name: &'static str,
        path: &str,
        bytes: &[u8],
        host: &dyn Host,
    ) -> Payload {
        match host.look(path) {
            Found::File => Payload::File(self.text(name, &path)),
            Found::Folder | Found::Nothing => self.inline(name, bytes),
        }
    }

    /// A payload of literal bytes.
    pub(crate) fn inline(self, name: &'static str, bytes: &[u8]) -> Payload {
        match std::str::from_utf8(bytes) {
            Ok(text) => Payload::Text(self.text(name, &text)),
            Err(_) => Payload::Base64(self.text(name, &STANDARD.encode(bytes))),
        }
    }
}
