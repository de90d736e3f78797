//! Reads file descriptors from outside.
//!
//! The parts of a descriptor are counted before it is decoded, because a part takes two bytes on
//! the wire and hundreds in memory. Source positions are removed: they make up most of many
//! descriptors, and are not used.

use crate::edition;
use crate::wire::{Reader, Wire, WireFault};
use prost::Message;
use prost_reflect::prost_types::FileDescriptorProto;
use std::borrow::Cow;

/// The maximum number of messages, fields, values and so on in all files of a schema.
const PARTS_MAX: usize = 1_000_000;
/// The maximum nesting depth of messages; decoding has about the same limit.
const DEPTH_MAX: usize = 100;
/// The number of `FileDescriptorProto.source_code_info`.
const SOURCE_CODE_INFO: u32 = 9;

/// Reads the files of one schema.
#[derive(Debug, Default)]
pub(crate) struct SchemaFiles {
    parts: usize,
}

/// A part of a descriptor that contains others, by its message in protobuf's descriptor.proto.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    File,
    Message,
    Field,
    Oneof,
    Range,
    Enum,
    Value,
    Service,
    Method,
    Options,
    Option,
    /// A part without inner parts.
    Leaf,
}

impl Part {
    /// The kind of the parts in a repeated field of this part, or in its options; `None` for every
    /// other field.
    const fn inner(self, number: u32) -> Option<Self> {
        Some(match (self, number) {
            (Self::File, 4) | (Self::Message, 3) => Self::Message,
            (Self::File, 5) | (Self::Message, 4) => Self::Enum,
            (Self::File, 6) => Self::Service,
            (Self::File, 7) | (Self::Message, 2 | 6) => Self::Field,
            (Self::Message, 5) => Self::Range,
            (Self::Message, 8) => Self::Oneof,
            (Self::Enum, 2) => Self::Value,
            (Self::Service, 2) => Self::Method,
            (Self::File | Self::Field, 8)
            | (Self::Message, 7)
            | (Self::Enum | Self::Value | Self::Service | Self::Range, 3)
            | (Self::Method, 4)
            | (Self::Oneof, 2) => Self::Options,
            (Self::Options, 999) => Self::Option,
            (Self::File, 3) | (Self::Message, 9 | 10) | (Self::Enum, 4 | 5) | (Self::Option, 2) => {
                Self::Leaf
            }
            _ => return None,
        })
    }
}

impl SchemaFiles {
    /// The files of a serialized `FileDescriptorSet`.
    ///
    /// # Errors
    /// A message, if the bytes are malformed, a file has an unknown edition, or a limit is
    /// exceeded.
    pub(crate) fn set(&mut self, bytes: &[u8]) -> Result<Vec<FileDescriptorProto>, String> {
        let none = |reason: WireFault| {
            format!(
                "the bytes are not a file descriptor set: {}",
                reason.words()
            )
        };
        let mut files = Vec::new();
        let mut rest = Reader::new(bytes);
        while !rest.is_empty() {
            match rest.key().map_err(none)? {
                (1, Wire::Delimited) => files.push(self.file(rest.delimited().map_err(none)?)?),
                (_, wire) => rest.skip(wire).map_err(none)?,
            }
        }
        Ok(files)
    }

    /// A serialized `FileDescriptorProto`.
    ///
    /// # Errors
    /// See [`SchemaFiles::set`].
    pub(crate) fn file(&mut self, bytes: &[u8]) -> Result<FileDescriptorProto, String> {
        self.count(Part::File, bytes, 0)
            .map_err(|excess| match excess {
                Excess::Malformed(reason) => {
                    format!("a file descriptor can't be read: {}", reason.words())
                }
                Excess::Parts => format!("the descriptors have more than {PARTS_MAX} parts"),
            })?;
        let bytes = without_source(bytes);
        let mut file = FileDescriptorProto::decode(bytes.as_ref())
            .map_err(|error| format!("a file descriptor can't be read: {error}"))?;
        if let Ok(edition) = edition::File::decode(bytes.as_ref()) {
            edition.lower(&mut file).map_err(|error| error.0)?;
        }
        Ok(file)
    }

    /// Counts the contents of a part.
    fn count(&mut self, part: Part, bytes: &[u8], depth: usize) -> Result<(), Excess> {
        let mut rest = Reader::new(bytes);
        while !rest.is_empty() {
            let (number, wire) = rest.key()?;
            let (Some(inner), Wire::Delimited) = (part.inner(number), wire) else {
                rest.skip(wire)?;
                continue;
            };
            self.parts += 1;
            if self.parts > PARTS_MAX {
                return Err(Excess::Parts);
            }
            let bytes = rest.delimited()?;
            if inner != Part::Leaf {
                let depth = Some(depth + 1).filter(|depth| *depth <= DEPTH_MAX);
                self.count(inner, bytes, depth.ok_or(WireFault::Depth)?)?;
            }
        }
        Ok(())
    }
}

/// The reason why a descriptor is refused.
enum Excess {
    Malformed(WireFault),
    Parts,
}

impl From<WireFault> for Excess {
    fn from(reason: WireFault) -> Self {
        Self::Malformed(reason)
    }
}

/// The bytes of an already parsed file, without its source code info.
fn without_source(bytes: &[u8]) -> Cow<'_, [u8]> {
    let mut kept = Cow::Borrowed(bytes);
    let mut rest = Reader::new(bytes);
    let mut start = 0;
    while let Ok((number, wire)) = rest.key() {
        if rest.skip(wire).is_err() {
            break;
        }
        let end = bytes.len() - rest.len();
        match &mut kept {
            Cow::Owned(kept) if number != SOURCE_CODE_INFO => {
                kept.extend_from_slice(&bytes[start..end]);
            }
            Cow::Borrowed(_) if number == SOURCE_CODE_INFO => {
                kept = Cow::Owned(bytes[..start].to_vec());
            }
            _ => {}
        }
        start = end;
    }
    kept
}
