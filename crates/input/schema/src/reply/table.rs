//! Descriptors as flat tables.

use prost_reflect::{
    Cardinality, ExtensionDescriptor, FieldDescriptor, Kind, MessageDescriptor, Syntax,
};
use std::collections::HashMap;

/// The index of a message without a known descriptor.
pub(super) const UNKNOWN: u32 = u32::MAX;

/// The wire form of a field's values. Messages are identified by their index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Varint,
    Fixed64,
    Fixed32,
    Bytes,
    /// Bytes that must be UTF-8.
    Text,
    Message(u32),
    /// A map's key and value, which do not count as a nesting level.
    Entry(u32),
    Group(u32),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Field {
    number: u32,
    pub(super) form: Form,
    pub(super) repeated: bool,
    /// The index among the message's required fields, or [`NOT_REQUIRED`].
    required: u8,
}

/// The maximum number of required fields of one message that have a bit.
const NOT_REQUIRED: u8 = 64;

impl Field {
    /// The bit of a required field.
    #[inline]
    pub(super) fn bit(self) -> u64 {
        1u64.checked_shl(u32::from(self.required)).unwrap_or(0)
    }
}

/// A message and all messages that it can contain; the message itself has the index 0.
#[derive(Debug)]
pub(super) struct Table {
    /// For each message, the start of its fields, followed by the end of the last message's.
    starts: Vec<u32>,
    /// The fields of each message, sorted by number.
    fields: Vec<Field>,
    /// For each message, the bits of its required fields.
    required: Vec<u64>,
}

impl Table {
    pub(super) fn build(root: &MessageDescriptor) -> Self {
        let mut messages = Messages::default();
        messages.index(root);
        let mut table = Self {
            starts: vec![0],
            fields: Vec::new(),
            required: Vec::new(),
        };
        let mut next = 0;
        while let Some(message) = messages.list.get(next).cloned() {
            next += 1;
            let from = table.fields.len();
            let fields = message.fields().map(|field| messages.field(&field));
            table.fields.extend(fields);
            let extensions = message.extensions().map(|field| messages.extension(&field));
            table.fields.extend(extensions);
            table.fields[from..].sort_unstable_by_key(|field| field.number);
            let required = mark_required(&message, &mut table.fields[from..]);
            table.required.push(required);
            // A schema has at most 32 MiB, and each of its fields takes several bytes.
            table.starts.push(table.fields.len() as u32);
        }
        table
    }

    /// The bits of a message's required fields.
    #[inline]
    pub(super) fn required(&self, message: u32) -> u64 {
        let required = self.required.get(message as usize);
        required.copied().unwrap_or(0)
    }

    /// The first required field of a message that is missing in `seen`, if it has a bit.
    #[cold]
    pub(super) fn first_missing(&self, message: u32, seen: u64) -> Option<u32> {
        let from = *self.starts.get(message as usize)? as usize;
        let to = *self.starts.get(message as usize + 1)? as usize;
        let mut fields = self.fields.get(from..to)?.iter();
        let missing = fields.find(|field| field.bit() & !seen != 0);
        missing.map(|field| field.number)
    }

    /// A message's field.
    #[inline]
    pub(super) fn find(&self, message: u32, number: u32) -> Option<Field> {
        let message = message as usize;
        let from = *self.starts.get(message)? as usize;
        let to = *self.starts.get(message.checked_add(1)?)? as usize;
        let fields = self.fields.get(from..to)?;
        // Most messages number their fields from 1 without gaps.
        match fields.get(number as usize - 1) {
            Some(field) if field.number == number => Some(*field),
            _ => sought(fields, number),
        }
    }
}

fn sought(fields: &[Field], number: u32) -> Option<Field> {
    let found = fields.binary_search_by_key(&number, |field| field.number);
    found.ok().map(|at| fields[at])
}

/// Assigns bits to a message's required fields, and returns all of them together.
fn mark_required(message: &MessageDescriptor, fields: &mut [Field]) -> u64 {
    let numbers = required_numbers(message);
    if numbers.len() > usize::from(NOT_REQUIRED) {
        // No field has this bit, so each message is checked by decoding.
        return 1;
    }
    let mut all = 0;
    for (bit, number) in (0..).zip(numbers) {
        if let Some(field) = fields.iter_mut().find(|field| field.number == number) {
            field.required = bit;
            all |= field.bit();
        }
    }
    all
}

fn required_numbers(message: &MessageDescriptor) -> Vec<u32> {
    if message.is_map_entry() {
        // An absent value is an empty message, which may lack required fields.
        let value = message.map_entry_value_field();
        let lacking = value.kind().as_message().is_some_and(|value| {
            let mut fields = value.fields();
            fields.any(|field| field.cardinality() == Cardinality::Required)
        });
        return lacking.then(|| value.number()).into_iter().collect();
    }
    let fields = message.fields();
    let required = fields.filter(|field| field.cardinality() == Cardinality::Required);
    required.map(|field| field.number()).collect()
}

/// The messages with an index.
#[derive(Default)]
struct Messages {
    list: Vec<MessageDescriptor>,
    by_name: HashMap<String, u32>,
}

impl Messages {
    fn index(&mut self, message: &MessageDescriptor) -> u32 {
        if let Some(index) = self.by_name.get(message.full_name()) {
            return *index;
        }
        let index = self.list.len() as u32;
        self.by_name.insert(message.full_name().to_owned(), index);
        self.list.push(message.clone());
        index
    }

    fn field(&mut self, field: &FieldDescriptor) -> Field {
        let strict = field.parent_file().syntax() == Syntax::Proto3;
        Field {
            number: field.number(),
            form: self.form(&field.kind(), strict, field.is_group()),
            repeated: field.is_list(),
            required: NOT_REQUIRED,
        }
    }

    fn extension(&mut self, field: &ExtensionDescriptor) -> Field {
        let strict = field.parent_file().syntax() == Syntax::Proto3;
        Field {
            number: field.number(),
            form: self.form(&field.kind(), strict, field.is_group()),
            repeated: field.is_list(),
            required: NOT_REQUIRED,
        }
    }

    fn form(&mut self, kind: &Kind, strict: bool, group: bool) -> Form {
        match kind {
            Kind::Double | Kind::Fixed64 | Kind::Sfixed64 => Form::Fixed64,
            Kind::Float | Kind::Fixed32 | Kind::Sfixed32 => Form::Fixed32,
            Kind::Int32
            | Kind::Int64
            | Kind::Uint32
            | Kind::Uint64
            | Kind::Sint32
            | Kind::Sint64
            | Kind::Bool
            | Kind::Enum(_) => Form::Varint,
            // Strings of proto2 may contain any bytes.
            Kind::String if strict => Form::Text,
            Kind::String | Kind::Bytes => Form::Bytes,
            Kind::Message(message) if message.is_map_entry() => Form::Entry(self.index(message)),
            Kind::Message(message) if group => Form::Group(self.index(message)),
            Kind::Message(message) => Form::Message(self.index(message)),
        }
    }
}
