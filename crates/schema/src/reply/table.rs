//! Descriptors as flat tables.

use prost_reflect::{ExtensionDescriptor, FieldDescriptor, Kind, MessageDescriptor, Syntax};
use std::collections::HashMap;

/// The index of a message of which nothing is known.
pub(super) const UNKNOWN: u32 = u32::MAX;

/// How a field's values are written. Messages are named by their index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Varint,
    Fixed64,
    Fixed32,
    Bytes,
    /// Bytes that are UTF-8.
    Text,
    Message(u32),
    /// A key and a value of a map, which is no level of its own.
    Entry(u32),
    Group(u32),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Field {
    number: u32,
    pub(super) form: Form,
    pub(super) repeated: bool,
}

/// All messages that one can have in it; it has the index 0 itself.
#[derive(Debug)]
pub(super) struct Table {
    /// Of each message, where its fields begin, and behind them the end of the last.
    starts: Vec<u32>,
    /// In each message by number.
    fields: Vec<Field>,
}

impl Table {
    pub(super) fn of(root: &MessageDescriptor) -> Self {
        let mut messages = Messages::default();
        messages.index(root);
        let mut table = Self {
            starts: vec![0],
            fields: Vec::new(),
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
            // A schema has at most 32 MiB, and each of its fields takes some.
            table.starts.push(table.fields.len() as u32);
        }
        table
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

/// The messages that have an index.
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
        }
    }

    fn extension(&mut self, field: &ExtensionDescriptor) -> Field {
        let strict = field.parent_file().syntax() == Syntax::Proto3;
        Field {
            number: field.number(),
            form: self.form(&field.kind(), strict, field.is_group()),
            repeated: field.is_list(),
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
            // Strings of proto2 may be anything.
            Kind::String if strict => Form::Text,
            Kind::String | Kind::Bytes => Form::Bytes,
            Kind::Message(message) if message.is_map_entry() => Form::Entry(self.index(message)),
            Kind::Message(message) if group => Form::Group(self.index(message)),
            Kind::Message(message) => Form::Message(self.index(message)),
        }
    }
}
