//! Descriptors that came from outside, checked and put together.

use crate::{SchemaError, google};
use prost_reflect::DescriptorPool;
use prost_reflect::prost_types::field_descriptor_proto::{Label, Type};
use prost_reflect::prost_types::{DescriptorProto, FieldDescriptorProto, FileDescriptorProto};
use std::collections::HashMap;

/// How deep files may import each other; far beyond what anybody has.
const IMPORT_DEPTH_MAX: usize = 500;

/// A pool of these files, and of protobuf's and Google's own where they are imported and missing.
pub(crate) fn assemble(files: Vec<FileDescriptorProto>) -> Result<DescriptorPool, SchemaError> {
    let names: Vec<String> = files.iter().map(|file| file.name().to_owned()).collect();
    let mut known: HashMap<String, State> = HashMap::new();
    for file in files {
        known
            .entry(file.name().to_owned())
            .or_insert_with(|| State::Waiting(Box::new(file)));
    }
    let mut builder = Builder {
        known,
        pool: DescriptorPool::new(),
    };
    for name in names {
        builder.add(&name)?;
    }
    Ok(builder.pool)
}

/// Whether a file that nobody brought is one of those that everybody has.
pub(crate) fn own(name: &str) -> Option<FileDescriptorProto> {
    if let Some(source) = google::source(name) {
        return protox_file(name, source);
    }
    let global = DescriptorPool::global();
    let file = global.get_file_by_name(name)?;
    Some(file.file_descriptor_proto().clone())
}

fn protox_file(name: &str, source: &str) -> Option<FileDescriptorProto> {
    let file = protox::file::File::from_source(name, source).ok()?;
    Some(file.file_descriptor_proto().clone())
}

/// Where a file stands.
enum State {
    Waiting(Box<FileDescriptorProto>),
    /// Its imports are being added.
    Open,
    Done,
}

struct Builder {
    known: HashMap<String, State>,
    pool: DescriptorPool,
}

impl Builder {
    /// Adds a file after all that it imports. Walks with a stack of its own, as it is a stranger
    /// who says how deep files import each other.
    fn add(&mut self, name: &str) -> Result<(), SchemaError> {
        let mut stack: Vec<(FileDescriptorProto, usize)> = Vec::new();
        stack.extend(self.open(name, None)?.map(|file| (file, 0)));
        while let Some((file, next)) = stack.last_mut() {
            if let Some(import) = file.dependency.get(*next).cloned() {
                *next += 1;
                let importer = file.name().to_owned();
                if stack.len() >= IMPORT_DEPTH_MAX {
                    let message = format!("files import each other {IMPORT_DEPTH_MAX} deep");
                    return Err(SchemaError(message));
                }
                stack.extend(self.open(&import, Some(&importer))?.map(|file| (file, 0)));
            } else if let Some((file, _)) = stack.pop() {
                self.finish(file)?;
            }
        }
        Ok(())
    }

    /// Takes a file that is to be added now; `None` if it has been.
    fn open(
        &mut self,
        name: &str,
        importer: Option<&str>,
    ) -> Result<Option<FileDescriptorProto>, SchemaError> {
        let state = self.known.insert(name.to_owned(), State::Open);
        match state {
            Some(State::Waiting(file)) => Ok(Some(*file)),
            Some(State::Done) => {
                self.known.insert(name.to_owned(), State::Done);
                Ok(None)
            }
            Some(State::Open) => {
                let importer = importer.unwrap_or(name);
                Err(SchemaError(format!(
                    "{importer} imports {name}, which imports it in turn"
                )))
            }
            None => match own(name) {
                Some(file) => Ok(Some(file)),
                None => Err(SchemaError(format!(
                    "no descriptor found for {name:?}, which {} imports",
                    importer.unwrap_or("nobody")
                ))),
            },
        }
    }

    /// Adds a file whose imports are there.
    fn finish(&mut self, file: FileDescriptorProto) -> Result<(), SchemaError> {
        let name = file.name().to_owned();
        for message in &file.message_type {
            check_message(message).map_err(|what| SchemaError(format!("{name}: {what}")))?;
        }
        self.pool
            .add_file_descriptor_proto(file)
            .map_err(|error| SchemaError(format!("{name}: {error}")))?;
        self.known.insert(name, State::Done);
        Ok(())
    }
}

/// Refuses entries of maps that are none: everybody downstream relies on their form. Decoding has
/// bounded how deep messages are nested.
fn check_message(message: &DescriptorProto) -> Result<(), String> {
    let entry = message
        .options
        .as_ref()
        .is_some_and(|options| options.map_entry());
    if entry && !is_map_entry(message) {
        return Err(format!(
            "the map entry {} has no key and value",
            message.name()
        ));
    }
    message.nested_type.iter().try_for_each(check_message)
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
