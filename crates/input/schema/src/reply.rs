//! Checks that a reply's message has its type, by its bytes alone.
//!
//! The descriptors become flat tables before the run. A message is then scanned once, in place, and
//! nothing of it is kept.

mod table;

use crate::fault::{Fault, within};
use crate::wire::{Reader, Wire, WireFault};
use crate::{Method, required};
use drumfire_plan::{Direction, ReplyCheck, ReplyError};
use prost_reflect::{DynamicMessage, Kind, MessageDescriptor};
use std::cell::Cell;
use std::fmt;
use std::str::from_utf8;
use table::{Form, Table, UNKNOWN};

/// The maximum nesting depth of messages and groups, as in most implementations.
const DEPTH_MAX: u32 = 100;

/// The form of the messages in a method's replies.
///
/// Unknown fields are valid, and so is a oneof that is set twice: the last value counts.
pub struct ReplyForm {
    input: MessageDescriptor,
    descriptor: MessageDescriptor,
    table: Table,
}

/// The output is short: descriptors of recursive messages would be printed without end.
impl fmt::Debug for ReplyForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ReplyForm({})", self.descriptor.full_name())
    }
}

impl ReplyForm {
    /// The form of the messages that a method's server sends.
    #[must_use]
    pub fn for_method(method: &Method) -> Self {
        let descriptor = method.output();
        let table = Table::build(&descriptor);
        let input = method.input();
        Self {
            input,
            descriptor,
            table,
        }
    }

    /// Checks a message of which a part lacks a required field. This is not a mistake if another
    /// part of the message has the field, because parts are merged, or if the last value of a oneof
    /// is complete. Only the merged message shows this.
    #[cold]
    fn look_closely(&self, message: &[u8]) -> Result<(), ReplyError> {
        let judged = match DynamicMessage::decode(self.descriptor.clone(), message) {
            Ok(message) => required::all_set(&message),
            // The decoder refuses proto2 strings that are not UTF-8, so the parts are checked
            // instead.
            Err(_) => self.walk(message, Lacking::Refused),
        };
        judged.map_err(|fault| self.tell(&fault))
    }

    fn walk(&self, message: &[u8], lacking: Lacking<'_>) -> Result<(), Box<Fault>> {
        let table = &self.table;
        Walk { table, lacking }.fields(0, &mut Reader::new(message), DEPTH_MAX)
    }

    /// The mistake as text, with the names of the fields on the path to it.
    #[cold]
    fn tell(&self, fault: &Fault) -> ReplyError {
        let mut names = Vec::new();
        let mut message = Some(self.descriptor.clone());
        for number in fault.path.iter().rev() {
            let kind = match &message {
                Some(of) => match (of.get_field(*number), of.get_extension(*number)) {
                    (Some(field), _) => {
                        names.push(field.name().to_owned());
                        Some(field.kind())
                    }
                    (None, Some(extension)) => {
                        names.push(format!("[{}]", extension.full_name()));
                        Some(extension.kind())
                    }
                    (None, None) => None,
                },
                None => None,
            };
            if kind.is_none() {
                names.push(number.to_string());
            }
            message = match kind {
                Some(Kind::Message(inner)) => Some(inner),
                _ => None,
            };
        }
        let place = match names.as_slice() {
            [] => String::new(),
            names => format!("{}: ", names.join(".")),
        };
        let name = self.descriptor.full_name();
        ReplyError(format!(
            "not a valid {name}: {place}{}",
            fault.reason.words()
        ))
    }
}

impl ReplyCheck for ReplyForm {
    #[inline]
    fn check(&self, message: &[u8]) -> Result<(), ReplyError> {
        let lacking = Cell::new(false);
        self.walk(message, Lacking::Noted(&lacking))
            .map_err(|fault| self.tell(&fault))?;
        if lacking.get() {
            return self.look_closely(message);
        }
        Ok(())
    }

    fn text(&self, direction: Direction, message: &[u8]) -> Option<String> {
        let descriptor = match direction {
            Direction::Request => &self.input,
            Direction::Reply => &self.descriptor,
        };
        let message = DynamicMessage::decode(descriptor.clone(), message).ok()?;
        serde_json::to_string(&message).ok()
    }
}

/// What to do with a part of a message that lacks a required field.
#[derive(Clone, Copy)]
enum Lacking<'t> {
    Noted(&'t Cell<bool>),
    Refused,
}

#[derive(Clone, Copy)]
struct Walk<'t> {
    table: &'t Table,
    lacking: Lacking<'t>,
}

impl Walk<'_> {
    /// Checks the fields of a message, up to the end of its bytes.
    fn fields(self, message: u32, bytes: &mut Reader<'_>, depth: u32) -> Result<(), Box<Fault>> {
        let mut seen = 0;
        while !bytes.is_empty() {
            let (number, wire) = bytes.key()?;
            seen |= self
                .field(message, (number, wire), bytes, depth)
                .map_err(|fault| within(number, fault))?;
        }
        self.check_required(message, seen)
    }

    /// Checks at the end of a message that `seen` contains all its required fields.
    #[inline]
    fn check_required(self, message: u32, seen: u64) -> Result<(), Box<Fault>> {
        if seen == self.table.required(message) {
            return Ok(());
        }
        match self.lacking {
            Lacking::Noted(noted) => noted.set(true),
            Lacking::Refused => {
                if let Some(number) = self.table.first_missing(message, seen) {
                    return Err(within(number, WireFault::Required.into()));
                }
            }
        }
        Ok(())
    }

    /// Checks the fields of a group, up to the key that ends it.
    fn group(
        self,
        message: u32,
        number: u32,
        bytes: &mut Reader<'_>,
        depth: u32,
    ) -> Result<(), Box<Fault>> {
        let mut seen = 0;
        loop {
            if bytes.is_empty() {
                return Err(WireFault::GroupOpen.into());
            }
            let (inner, wire) = bytes.key()?;
            if wire == Wire::End && inner == number {
                return self.check_required(message, seen);
            }
            seen |= self
                .field(message, (inner, wire), bytes, depth)
                .map_err(|fault| within(inner, fault))?;
        }
    }

    /// Checks the value after a key; returns the field's bit if it is required.
    #[inline]
    fn field(
        self,
        message: u32,
        (number, wire): (u32, Wire),
        bytes: &mut Reader<'_>,
        depth: u32,
    ) -> Result<u64, Box<Fault>> {
        let Some(field) = self.table.find(message, number) else {
            return self.unknown(number, wire, bytes, depth).map(|()| 0);
        };
        match (field.form, wire) {
            (Form::Varint, Wire::Varint) => drop(bytes.varint()?),
            (Form::Fixed64, Wire::Fixed64) => drop(bytes.bytes(8)?),
            (Form::Fixed32, Wire::Fixed32) => drop(bytes.bytes(4)?),
            (Form::Bytes, Wire::Delimited) => drop(bytes.delimited()?),
            (Form::Text, Wire::Delimited) => {
                from_utf8(bytes.delimited()?).map_err(|_| WireFault::Text)?;
            }
            (Form::Message(inner), Wire::Delimited) => {
                let depth = deeper(depth)?;
                self.fields(inner, &mut Reader::new(bytes.delimited()?), depth)?;
            }
            (Form::Entry(inner), Wire::Delimited) => {
                self.fields(inner, &mut Reader::new(bytes.delimited()?), depth)?;
            }
            (Form::Group(inner), Wire::Start) => {
                self.group(inner, number, bytes, deeper(depth)?)?;
            }
            (Form::Varint | Form::Fixed64 | Form::Fixed32, Wire::Delimited) if field.repeated => {
                packed(field.form, bytes.delimited()?)?;
            }
            // A value with another wire type: protobuf's parsers keep it as an unknown field, so
            // that a schema may change.
            _ => return self.unknown(number, wire, bytes, depth).map(|()| 0),
        }
        Ok(field.bit())
    }

    /// Checks the value of an unknown field.
    #[cold]
    fn unknown(
        self,
        number: u32,
        wire: Wire,
        bytes: &mut Reader<'_>,
        depth: u32,
    ) -> Result<(), Box<Fault>> {
        match wire {
            Wire::Varint => drop(bytes.varint()?),
            Wire::Fixed64 => drop(bytes.bytes(8)?),
            Wire::Fixed32 => drop(bytes.bytes(4)?),
            Wire::Delimited => drop(bytes.delimited()?),
            Wire::Start => return self.group(UNKNOWN, number, bytes, deeper(depth)?),
            Wire::End => return Err(WireFault::GroupEnd.into()),
        }
        Ok(())
    }
}

/// One level deeper, within the limit.
#[inline]
fn deeper(depth: u32) -> Result<u32, WireFault> {
    depth.checked_sub(1).ok_or(WireFault::Depth)
}

/// Checks consecutive numbers without keys.
fn packed(form: Form, bytes: &[u8]) -> Result<(), WireFault> {
    let width = match form {
        Form::Varint => {
            let mut rest = Reader::new(bytes);
            while !rest.is_empty() {
                rest.varint()?;
            }
            return Ok(());
        }
        Form::Fixed64 => 8,
        _ => 4,
    };
    if bytes.len().is_multiple_of(width) {
        Ok(())
    } else {
        Err(WireFault::Truncated)
    }
}
