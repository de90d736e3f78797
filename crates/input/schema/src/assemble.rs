//! Checks descriptors from outside, and combines them.

use crate::fit::Fitting;
use crate::{SchemaError, google, tokens};
use prost_reflect::DescriptorPool;
use prost_reflect::prost_types::FileDescriptorProto;
use std::collections::HashMap;

/// The maximum depth of imports, far more than any real schema has.
pub(crate) const IMPORT_DEPTH_MAX: usize = 500;
/// The maximum number of paths through public imports that are followed to find the files visible
/// to each file.
const IMPORT_WAYS_MAX: usize = 100_000_000;

/// protobuf's own files. An `Any` may contain their messages even if no file imports them.
const WELL_KNOWN: [&str; 7] = [
    "google/protobuf/any.proto",
    "google/protobuf/duration.proto",
    "google/protobuf/empty.proto",
    "google/protobuf/field_mask.proto",
    "google/protobuf/struct.proto",
    "google/protobuf/timestamp.proto",
    "google/protobuf/wrappers.proto",
];

/// A pool with these files, with Google's files if they are imported and missing, and with
/// protobuf's.
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
        fitting: Fitting::default(),
        ways: 0,
        pool: DescriptorPool::new(),
    };
    for name in names {
        builder.add_file(&name)?;
    }
    for name in WELL_KNOWN {
        // A file with another name may already contain these messages.
        let _there = builder.add_file(name);
    }
    Ok(builder.pool)
}

/// One of protobuf's own files, which need not be supplied; `None` for others.
pub(crate) fn own(name: &str) -> Option<FileDescriptorProto> {
    if let Some(source) = google::source(name) {
        return protox_file(name, source);
    }
    let global = DescriptorPool::global();
    let file = global.get_file_by_name(name)?;
    Some(file.file_descriptor_proto().clone())
}

fn protox_file(name: &str, source: &str) -> Option<FileDescriptorProto> {
    let file = tokens::parsed(name, source).ok()?;
    Some(file.file_descriptor_proto().clone())
}

/// The message on files that import each other deeper than [`IMPORT_DEPTH_MAX`].
pub(crate) fn too_deep() -> String {
    format!("files import each other more than {IMPORT_DEPTH_MAX} deep")
}

/// The state of a file.
enum State {
    Waiting(Box<FileDescriptorProto>),
    /// The imports of the file are being added.
    Open,
    /// The file has been added; the number of paths from it through public imports.
    Done(usize),
}

struct Builder {
    known: HashMap<String, State>,
    fitting: Fitting,
    /// The number of paths followed so far.
    ways: usize,
    pool: DescriptorPool,
}

impl Builder {
    /// Adds a file after all its imports. The traversal uses an explicit stack, because an
    /// untrusted server determines the depth of the imports.
    fn add_file(&mut self, name: &str) -> Result<(), SchemaError> {
        let mut stack: Vec<(FileDescriptorProto, usize)> = Vec::new();
        stack.extend(self.open(name, None)?.map(|file| (file, 0)));
        while let Some((file, next)) = stack.last_mut() {
            if let Some(import) = file.dependency.get(*next).cloned() {
                *next += 1;
                let importer = file.name().to_owned();
                if stack.len() >= IMPORT_DEPTH_MAX {
                    return Err(SchemaError(too_deep()));
                }
                stack.extend(self.open(&import, Some(&importer))?.map(|file| (file, 0)));
            } else if let Some((file, _)) = stack.pop() {
                self.finish(file)?;
            }
        }
        Ok(())
    }

    /// Takes a file to be added now; `None` if it was already added.
    fn open(
        &mut self,
        name: &str,
        importer: Option<&str>,
    ) -> Result<Option<FileDescriptorProto>, SchemaError> {
        let state = self.known.insert(name.to_owned(), State::Open);
        match state {
            Some(State::Waiting(file)) => Ok(Some(*file)),
            Some(State::Done(ways)) => {
                self.known.insert(name.to_owned(), State::Done(ways));
                Ok(None)
            }
            Some(State::Open) => {
                let importer = importer.unwrap_or(name);
                Err(SchemaError(format!(
                    "{importer} imports {name}, which leads back to {importer}"
                )))
            }
            None => match own(name) {
                Some(file) => Ok(Some(file)),
                None => Err(SchemaError(format!(
                    "no descriptor found for {name:?}, which {} imports",
                    importer.unwrap_or("another file")
                ))),
            },
        }
    }

    /// Adds a file whose imports have been added.
    fn finish(&mut self, mut file: FileDescriptorProto) -> Result<(), SchemaError> {
        let name = file.name().to_owned();
        let shown: String = name.chars().take(100).collect();
        let wrong = |what: String| SchemaError(format!("{shown}: {what}"));
        self.fitting.fit(&mut file).map_err(wrong)?;
        let ways = self.go_ways(&file);
        if self.ways > IMPORT_WAYS_MAX {
            let message = "files import each other publicly in too many ways";
            return Err(wrong(message.to_owned()));
        }
        self.pool
            .add_file_descriptor_proto(file)
            .map_err(|error| wrong(error.to_string()))?;
        self.known.insert(name, State::Done(ways));
        Ok(())
    }

    /// Counts the paths followed for a file, which are the paths from each of its imports; returns
    /// the number of paths from the file itself.
    fn go_ways(&mut self, file: &FileDescriptorProto) -> usize {
        let on_from = |name: &String| match self.known.get(name) {
            Some(State::Done(ways)) => *ways,
            _ => 0,
        };
        let gone = file.dependency.iter().map(on_from);
        let gone = gone.fold(0, usize::saturating_add);
        // A public file is searched in the list of all dependencies.
        let looked = file.dependency.len() * (1 + file.public_dependency.len());
        let public = file.public_dependency.iter();
        let public = public.filter_map(|&index| file.dependency.get(usize::try_from(index).ok()?));
        let ways = public.map(on_from).fold(looked, usize::saturating_add);
        self.ways = self.ways.saturating_add(gone);
        ways
    }
}
