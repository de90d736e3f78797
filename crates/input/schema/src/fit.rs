//! Makes descriptors from outside safe for the reflection library.
//!
//! The library relies on the output of protobuf's compiler. Some other descriptors crash the
//! program, keep it busy forever or fill the memory:
//!
//! - an unknown `syntax`;
//! - a default of bytes with an incomplete escape;
//! - `google.protobuf.FieldOptions` and similar messages, redefined in another form;
//! - options that are not interpreted yet, such as a message in text form with unbounded nesting;
//! - a map entry without key and value;
//! - public imports that lead to a file on very many paths;
//! - reserved numbers, compared with every field;
//! - names, which are stored in full for every nested item.

use prost_reflect::prost_types::field_descriptor_proto::{Label, Type};
use prost_reflect::prost_types::{
    DescriptorProto, EnumDescriptorProto, EnumOptions, FieldDescriptorProto, FieldOptions,
    FileDescriptorProto, MessageOptions, UninterpretedOption,
};

/// The maximum length of a file's name in bytes; every mistake in the file repeats it.
const FILE_NAME_BYTES: usize = 512;
/// The maximum length of a full name in bytes, which includes the enclosing names.
const NAME_BYTES: usize = 1000;
/// The maximum size of all full names of a schema together, in bytes.
const NAMES_BYTES: usize = 128 << 20;
/// The maximum number of comparisons of numbers with reserved ranges, in total.
const COMPARISONS_MAX: usize = 100_000_000;

/// An option of protobuf that changes the encoding of messages.
struct OwnOption {
    message: &'static str,
    field: &'static str,
    number: i32,
}

const OPTIONS: [OwnOption; 3] = [
    OwnOption {
        message: "google.protobuf.FieldOptions",
        field: "packed",
        number: 2,
    },
    OwnOption {
        message: "google.protobuf.MessageOptions",
        field: "map_entry",
        number: 7,
    },
    OwnOption {
        message: "google.protobuf.EnumOptions",
        field: "allow_alias",
        number: 2,
    },
];

/// Examines the files of one schema.
#[derive(Debug, Default)]
pub(crate) struct Fitting {
    /// The full name of the item under examination.
    scope: String,
    /// The size of all full names so far, in bytes.
    names: usize,
    /// The number of comparisons so far. Comparisons for extensions are separate, because the
    /// extended message is not known yet.
    comparisons: usize,
    extensions: usize,
    /// The maximum number of ranges in any message.
    ranges: usize,
}

impl Fitting {
    /// Reduces a file to the parts that are used.
    ///
    /// # Errors
    /// A message, if the file could harm the library.
    pub(crate) fn fit(&mut self, file: &mut FileDescriptorProto) -> Result<(), String> {
        if file.name().len() > FILE_NAME_BYTES {
            return Err(format!(
                "the name of a file has more than {FILE_NAME_BYTES} bytes"
            ));
        }
        match file.syntax.as_deref() {
            None | Some("proto2" | "proto3") => {}
            // An empty syntax is the default, as in protobuf's own compiler.
            Some("") => file.syntax = None,
            Some(other) => {
                let shown: String = other.chars().take(20).collect();
                return Err(format!(
                    "the syntax {shown:?} is not supported; use proto2 or proto3"
                ));
            }
        }
        file.options = None;
        file.source_code_info = None;
        self.scope.clear();
        // Each part of a package's name is a symbol.
        for (end, _) in file.package().match_indices('.') {
            self.name(&file.package()[..end])?;
        }
        self.enter(file.package())?;
        for message in &mut file.message_type {
            self.message(message)?;
        }
        for found in &mut file.enum_type {
            self.enumeration(found)?;
        }
        for extension in &mut file.extension {
            self.extension(extension)?;
        }
        for service in &mut file.service {
            service.options = None;
            let outer = self.enter(service.name())?;
            for method in &mut service.method {
                method.options = None;
                self.name(method.name())?;
            }
            self.scope.truncate(outer);
        }
        let extensions = self.extensions.saturating_mul(self.ranges);
        if self.comparisons.saturating_add(extensions) > COMPARISONS_MAX {
            return Err("there are too many reserved numbers for this many fields".to_owned());
        }
        Ok(())
    }

    /// A message with its nested items. Decoding has bounded their depth.
    fn message(&mut self, message: &mut DescriptorProto) -> Result<(), String> {
        let outer = self.enter(message.name())?;
        let entry = message.options.take().and_then(|options| options.map_entry);
        message.options = entry.map(|entry| MessageOptions {
            map_entry: Some(entry),
            ..MessageOptions::default()
        });
        if entry == Some(true) && !is_map_entry(message) {
            let name = message.name();
            return Err(format!("the map entry {name} has no key and value"));
        }
        self.options_message(message)?;
        for field in &mut message.field {
            self.field(field)?;
        }
        for extension in &mut message.extension {
            self.extension(extension)?;
        }
        for oneof in &mut message.oneof_decl {
            oneof.options = None;
            self.name(oneof.name())?;
        }
        for range in &mut message.extension_range {
            range.options = None;
        }
        let reserved = message.reserved_range.iter();
        let reserved: Vec<(i64, i64)> = reserved
            .map(|range| (range.start().into(), range.end().into()))
            .collect();
        let ranges = reserved.len() + message.extension_range.len();
        self.disjoint(reserved)?;
        self.ranges = self.ranges.max(ranges);
        self.compare(message.field.len(), ranges);
        for inner in &mut message.nested_type {
            self.message(inner)?;
        }
        for inner in &mut message.enum_type {
            self.enumeration(inner)?;
        }
        self.scope.truncate(outer);
        Ok(())
    }

    fn enumeration(&mut self, found: &mut EnumDescriptorProto) -> Result<(), String> {
        let outer = self.enter(found.name())?;
        let alias = found.options.take().and_then(|options| {
            let named = named(&options.uninterpreted_option, "allow_alias");
            options.allow_alias.or(named)
        });
        found.options = alias.map(|alias| EnumOptions {
            allow_alias: Some(alias),
            ..EnumOptions::default()
        });
        for value in &mut found.value {
            value.options = None;
            self.name(value.name())?;
        }
        let reserved = found.reserved_range.iter();
        // The ranges of an enum include their last number.
        let reserved = reserved.map(|range| (range.start().into(), i64::from(range.end()) + 1));
        self.disjoint(reserved.collect())?;
        self.compare(found.value.len(), found.reserved_range.len());
        self.scope.truncate(outer);
        Ok(())
    }

    fn extension(&mut self, extension: &mut FieldDescriptorProto) -> Result<(), String> {
        self.extensions += 1;
        self.field(extension)
    }

    fn field(&mut self, field: &mut FieldDescriptorProto) -> Result<(), String> {
        self.name(field.name())?;
        let packed = field.options.take().and_then(|options| {
            let named = named(&options.uninterpreted_option, "packed");
            options.packed.or(named)
        });
        field.options = packed.map(|packed| FieldOptions {
            packed: Some(packed),
            ..FieldOptions::default()
        });
        if field.r#type() == Type::Bytes && !is_escaped(field.default_value()) {
            let name = field.name();
            return Err(format!(
                "the default value of the bytes field {name} is not escaped"
            ));
        }
        Ok(())
    }

    /// Refuses redefined options messages that could not be decoded like protobuf's own.
    fn options_message(&self, message: &DescriptorProto) -> Result<(), String> {
        let Some(own) = OPTIONS.iter().find(|own| own.message == self.scope) else {
            return Ok(());
        };
        let mut fields = message.field.iter();
        let is_there = fields.any(|field| {
            field.number() == own.number
                && field.name() == own.field
                && field.r#type.is_some()
                && field.r#type() == Type::Bool
                && field.type_name.is_none()
                && !is_repeated(field)
        });
        match is_there {
            true => Ok(()),
            false => Err(format!("{} is not protobuf's own", own.message)),
        }
    }

    /// Enters a named item; returns the length to which the scope must be truncated at the end of
    /// the item.
    fn enter(&mut self, name: &str) -> Result<usize, String> {
        self.name(name)?;
        let outer = self.scope.len();
        if outer > 0 {
            self.scope.push('.');
        }
        self.scope.push_str(name);
        Ok(outer)
    }

    /// Counts a name with its enclosing names.
    fn name(&mut self, name: &str) -> Result<(), String> {
        let length = self.scope.len() + 1 + name.len();
        if length > NAME_BYTES {
            return Err(format!("a full name has more than {NAME_BYTES} bytes"));
        }
        self.names += length;
        if self.names > NAMES_BYTES {
            return Err(format!(
                "the names have more than {NAMES_BYTES} bytes in total"
            ));
        }
        Ok(())
    }

    fn compare(&mut self, numbers: usize, ranges: usize) {
        let comparisons = numbers.saturating_mul(ranges);
        self.comparisons = self.comparisons.saturating_add(comparisons);
    }

    /// Refuses overlapping ranges, as protobuf's own compiler does: a number could be in many.
    fn disjoint(&self, mut ranges: Vec<(i64, i64)>) -> Result<(), String> {
        ranges.sort_unstable();
        match ranges.windows(2).any(|pair| pair[1].0 < pair[0].1) {
            false => Ok(()),
            true => Err(format!("reserved numbers of {} overlap", self.scope)),
        }
    }
}

/// The value of an uninterpreted boolean option.
fn named(options: &[UninterpretedOption], name: &str) -> Option<bool> {
    let option = options.iter().find(|option| match option.name.as_slice() {
        [part] => !part.is_extension && part.name_part == name,
        _ => false,
    });
    match option?.identifier_value() {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    }
}

/// Whether the escapes in a text for bytes are complete, and each is a byte.
fn is_escaped(text: &str) -> bool {
    let mut bytes = text.bytes().peekable();
    while let Some(byte) = bytes.next() {
        if byte != b'\\' {
            continue;
        }
        let is_whole = match bytes.next() {
            Some(digit @ b'0'..=b'7') => {
                let mut value = u32::from(digit - b'0');
                for _ in 0..2 {
                    match bytes.next_if(|byte| matches!(byte, b'0'..=b'7')) {
                        Some(digit) => value = value * 8 + u32::from(digit - b'0'),
                        None => break,
                    }
                }
                value <= 0xff
            }
            Some(b'x' | b'X') => {
                (0..2).all(|_| bytes.next().is_some_and(|byte| byte.is_ascii_hexdigit()))
            }
            Some(byte) => b"abfnrtv\\?'\"".contains(&byte),
            None => false,
        };
        if !is_whole {
            return false;
        }
    }
    true
}

fn is_map_entry(message: &DescriptorProto) -> bool {
    let field = |number| message.field.iter().find(|field| field.number() == number);
    let (Some(key), Some(_)) = (field(1), field(2)) else {
        return false;
    };
    let wrong = [
        Type::Double,
        Type::Float,
        Type::Bytes,
        Type::Enum,
        Type::Message,
        Type::Group,
    ];
    message.field.len() == 2
        && message.field.iter().all(|field| !is_repeated(field))
        && key.type_name.is_none()
        && key.r#type.is_some()
        && !wrong.contains(&key.r#type())
}

fn is_repeated(field: &FieldDescriptorProto) -> bool {
    field.label() == Label::Repeated
}
