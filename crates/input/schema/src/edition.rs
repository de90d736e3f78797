//! Files in an edition of protobuf, which replaced `syntax`. The libraries for compiling and
//! reflection support only proto2 and proto3, so such a file is lowered to proto2: each field gets
//! the label, the packing and the encoding that its features require.
//!
//! Two properties are lost, which a receiver can't see: a field without presence that is set to
//! zero is sent as a zero, and a closed enum accepts any number. Features about generated code,
//! names, visibility or JSON do not change the bytes; the features that do have the same defaults
//! in every edition so far.

mod source;

use crate::SchemaError;
use prost::Message;
use prost_reflect::prost_types::field_descriptor_proto::{Label, Type};
use prost_reflect::prost_types::{
    DescriptorProto, FieldDescriptorProto, FieldOptions, FileDescriptorProto,
};
pub(crate) use source::parse;

/// The supported editions, by their number in protobuf's descriptor.proto.
const EDITIONS: [(i32, &str); 3] = [(1000, "2023"), (1001, "2024"), (1002, "2026")];

/// The features in a file: `FileDescriptorProto` without its other parts.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct File {
    #[prost(string, optional, tag = "1")]
    name: Option<String>,
    #[prost(message, repeated, tag = "4")]
    messages: Vec<MessagePart>,
    #[prost(message, repeated, tag = "7")]
    extensions: Vec<FieldPart>,
    #[prost(message, optional, tag = "8")]
    options: Option<FileFeatures>,
    #[prost(string, optional, tag = "12")]
    syntax: Option<String>,
    #[prost(int32, optional, tag = "14")]
    edition: Option<i32>,
}

/// The features in a message.
#[derive(Clone, PartialEq, Message)]
struct MessagePart {
    #[prost(message, repeated, tag = "2")]
    fields: Vec<FieldPart>,
    #[prost(message, repeated, tag = "3")]
    nested: Vec<Self>,
    #[prost(message, repeated, tag = "6")]
    extensions: Vec<FieldPart>,
}

/// The features in a field.
#[derive(Clone, PartialEq, Message)]
struct FieldPart {
    #[prost(message, optional, tag = "8")]
    options: Option<FieldFeatures>,
}

/// `FileOptions`.
#[derive(Clone, PartialEq, Message)]
struct FileFeatures {
    #[prost(message, optional, tag = "50")]
    features: Option<FeatureSet>,
}

/// `FieldOptions`.
#[derive(Clone, PartialEq, Message)]
struct FieldFeatures {
    #[prost(message, optional, tag = "21")]
    features: Option<FeatureSet>,
}

/// The features that change the bytes of a message. Only files and fields have them.
#[derive(Clone, PartialEq, Message)]
struct FeatureSet {
    #[prost(int32, optional, tag = "1")]
    field_presence: Option<i32>,
    #[prost(int32, optional, tag = "3")]
    repeated_field_encoding: Option<i32>,
    #[prost(int32, optional, tag = "5")]
    message_encoding: Option<i32>,
}

/// `FieldPresence`: the field is required.
const LEGACY_REQUIRED: i32 = 3;
/// `RepeatedFieldEncoding`: each element has a separate key.
const EXPANDED: i32 = 2;
/// `MessageEncoding`: as a group.
const DELIMITED: i32 = 2;

/// The effective features of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Features {
    is_required: bool,
    is_packed: bool,
    is_delimited: bool,
}

impl Features {
    /// The defaults in every edition so far.
    const DEFAULT: Self = Self {
        is_required: false,
        is_packed: true,
        is_delimited: false,
    };

    /// These features, overridden by those that a part sets.
    fn with(self, set: Option<&FeatureSet>) -> Self {
        let Some(set) = set else { return self };
        let or =
            |value: Option<i32>, is: i32, outer: bool| value.map_or(outer, |value| value == is);
        Self {
            is_required: or(set.field_presence, LEGACY_REQUIRED, self.is_required),
            is_packed: !or(set.repeated_field_encoding, EXPANDED, !self.is_packed),
            is_delimited: or(set.message_encoding, DELIMITED, self.is_delimited),
        }
    }
}

impl File {
    /// Lowers the file of these features, if it uses an edition.
    ///
    /// # Errors
    /// If the edition is unknown.
    pub(crate) fn lower(&self, file: &mut FileDescriptorProto) -> Result<(), SchemaError> {
        match self.edition {
            Some(number) if EDITIONS.iter().any(|(known, _)| *known == number) => {}
            Some(other) => return Err(self.refused(&format!("number {other}"))),
            None if self.syntax.as_deref() == Some("editions") => {
                return Err(self.refused("without a number"));
            }
            None => return Ok(()),
        }
        let options = self.options.as_ref();
        let outer = Features::DEFAULT.with(options.and_then(|options| options.features.as_ref()));
        file.syntax = Some("proto2".to_owned());
        for (message, part) in file.message_type.iter_mut().zip(&self.messages) {
            lower_message(message, part, outer);
        }
        lower_fields(&mut file.extension, &self.extensions, outer, &[]);
        Ok(())
    }

    fn refused(&self, edition: &str) -> SchemaError {
        SchemaError(refusal(self.name.as_deref().unwrap_or_default(), edition))
    }
}

/// The message on a file in an unknown edition: `place` is the file's name, with the line if it is
/// known.
fn refusal(place: &str, edition: &str) -> String {
    let edition: String = edition.chars().take(20).collect();
    let [first, second, last] = EDITIONS.map(|(_, name)| name);
    format!(
        "{place}: edition {} is not supported; use {first}, {second}, {last}, proto2 or proto3",
        edition.escape_debug(),
    )
}

fn lower_message(message: &mut DescriptorProto, part: &MessagePart, outer: Features) {
    let is_entry = |message: &DescriptorProto| {
        let options = message.options.as_ref();
        options.is_some_and(|options| options.map_entry())
    };
    // Map entries are unchanged, regardless of the file's features.
    let entries: Vec<String> = message
        .nested_type
        .iter()
        .filter(|nested| is_entry(nested))
        .map(|nested| nested.name().to_owned())
        .collect();
    lower_fields(&mut message.field, &part.fields, outer, &entries);
    lower_fields(&mut message.extension, &part.extensions, outer, &[]);
    for (nested, part) in message.nested_type.iter_mut().zip(&part.nested) {
        if !is_entry(nested) {
            lower_message(nested, part, outer);
        }
    }
}

/// Lowers the fields of a message with these map entries.
fn lower_fields(
    fields: &mut [FieldDescriptorProto],
    parts: &[FieldPart],
    outer: Features,
    entries: &[String],
) {
    for (field, part) in fields.iter_mut().zip(parts) {
        let set = part
            .options
            .as_ref()
            .and_then(|options| options.features.as_ref());
        let features = outer.with(set);
        let of = field.type_name().rsplit('.').next().unwrap_or_default();
        if entries.iter().any(|entry| entry == of) {
            continue;
        }
        let is_message = matches!(field.r#type, Some(number) if number == Type::Message as i32);
        if features.is_delimited && is_message {
            field.set_type(Type::Group);
        }
        match field.label() {
            Label::Repeated if is_packable(field) => {
                let options = field.options.get_or_insert_with(FieldOptions::default);
                options.packed = Some(features.is_packed);
            }
            Label::Optional if features.is_required => field.set_label(Label::Required),
            _ => {}
        }
    }
}

/// Whether elements of this type can be packed; a type that is not known yet may be an enum.
fn is_packable(field: &FieldDescriptorProto) -> bool {
    let longer = [Type::String, Type::Bytes, Type::Message, Type::Group];
    !longer.iter().any(|kind| field.r#type == Some(*kind as i32))
}

#[cfg(test)]
mod tests {
    use super::{FeatureSet, Features};

    #[test]
    fn a_part_stands_above_its_file() {
        let set = |presence, repeated, message| FeatureSet {
            field_presence: presence,
            repeated_field_encoding: repeated,
            message_encoding: message,
        };
        let file = Features::DEFAULT.with(Some(&set(Some(3), Some(2), Some(2))));
        let told = |features: Features| {
            let Features {
                is_required,
                is_packed,
                is_delimited,
            } = features;
            (is_required, is_packed, is_delimited)
        };
        assert_eq!(told(Features::DEFAULT), (false, true, false));
        assert_eq!(told(file), (true, false, true));
        assert_eq!(file.with(Some(&set(None, None, None))), file);
        let field = file.with(Some(&set(Some(1), Some(1), Some(1))));
        assert_eq!(field, Features::DEFAULT);
    }
}
