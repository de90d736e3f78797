//! `.proto` files and their imports.

use crate::assemble::{self, IMPORT_DEPTH_MAX, too_deep};
use crate::fit::Fitting;
use crate::{SchemaError, edition, google, tokens};
use drumfire_units::utf8;
use miette::Diagnostic;
use prost_reflect::DescriptorPool;
use protox::Compiler;
use protox::file::{File, FileResolver, GoogleFileResolver};
use std::cell::RefCell;
use std::collections::HashMap;
use std::io;

/// `.proto` files, and the folders of their imports.
pub(crate) struct Files<R> {
    /// The names under which the files are compiled, and their paths.
    roots: Vec<(String, String)>,
    /// The folders of imports, in order; an empty name is the working directory.
    folders: Vec<String>,
    read: R,
}

impl<R: Fn(&str) -> io::Result<Vec<u8>> + 'static> Files<R> {
    pub(crate) fn new(files: &[String], import_paths: &[String], read: R) -> Self {
        let mut roots = Vec::new();
        let mut folders = Vec::new();
        for path in files {
            let path = &located_file(path, import_paths, &read);
            let below = import_paths.iter().find_map(|folder| below(path, folder));
            let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
            // `/a.proto` is in `/`.
            let folder = if path.starts_with('/') && folder.is_empty() {
                "/"
            } else {
                folder
            };
            add_folder(&mut folders, folder);
            roots.push((below.unwrap_or(file).to_owned(), path.to_owned()));
        }
        add_folder(&mut folders, "");
        for folder in import_paths {
            add_folder(&mut folders, folder);
        }
        Self {
            roots,
            folders,
            read,
        }
    }

    /// Compiles the files with all their imports.
    pub(crate) fn compile(self) -> Result<DescriptorPool, SchemaError> {
        let roots = self.roots.clone();
        let searched = self.searched();
        let resolver = ProtoResolver {
            roots: roots.iter().cloned().collect(),
            folders: self.folders,
            read: self.read,
            google: GoogleFileResolver::new(),
            importing: RefCell::default(),
            fitting: RefCell::default(),
        };
        let mut compiler = Compiler::with_file_resolver(resolver);
        compiler.include_imports(true);
        for (name, path) in &roots {
            compiler.open_file(name).map_err(|error| {
                // The compiler's message on a missing root mentions include paths.
                if error.is_file_not_found() && error.file().is_none() {
                    return SchemaError(format!("can't read {path}: no such file"));
                }
                let mut text = located(&error, &roots);
                if error.is_file_not_found() {
                    text.push_str(&searched);
                }
                SchemaError(text)
            })?;
        }
        // The compiler's pool has the fields before options were applied, so none of them is
        // packed.
        assemble::assemble(compiler.file_descriptor_set().file)
    }

    /// The searched folders, for an error.
    fn searched(&self) -> String {
        let named = |folder: &String| match folder.as_str() {
            "" => ".".to_owned(),
            folder => folder.to_owned(),
        };
        let folders: Vec<String> = self.folders.iter().map(named).collect();
        format!("; looked in {}", folders.join(", "))
    }
}

/// The path of a file: as given, or otherwise below the first import path that contains it, in the
/// order in which protoc searches its input files.
fn located_file<R: Fn(&str) -> io::Result<Vec<u8>>>(
    path: &str,
    import_paths: &[String],
    read: &R,
) -> String {
    let path = path.strip_prefix("./").unwrap_or(path);
    let is_there =
        |path: &str| !matches!(read(path), Err(error) if error.kind() == io::ErrorKind::NotFound);
    if path.starts_with('/') || is_there(path) {
        return path.to_owned();
    }
    let mut below = import_paths
        .iter()
        .map(|folder| in_folder(&clean(folder), path));
    below
        .find(|path| is_there(path))
        .unwrap_or_else(|| path.to_owned())
}

/// The path of a file in a folder with a normalized name.
fn in_folder(folder: &str, name: &str) -> String {
    match folder {
        "" => name.to_owned(),
        "/" => format!("/{name}"),
        folder => format!("{folder}/{name}"),
    }
}

/// The compiler's message after the file, line and column of its error. If there are several
/// places, the last one is used: a second definition conflicts with the first.
fn located(error: &protox::Error, roots: &[(String, String)]) -> String {
    let root = |name: &str| {
        roots
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, path)| path)
    };
    let Some(name) = error.file() else {
        return error.to_string();
    };
    let path = root(name).map_or(name, String::as_str);
    let span = error.labels().and_then(|labels| labels.last());
    let contents = span.as_ref().zip(error.source_code());
    match contents.and_then(|(span, source)| source.read_span(span.inner(), 0, 0).ok()) {
        Some(at) => {
            let words = match dotted_import(at.data()) {
                Some(import) => format!(
                    "an import is relative to an import path and can't contain `./` or `../`; \
                     write `import \"{import}\";`"
                ),
                None => error.to_string(),
            };
            format!("{path}:{}:{}: {words}", at.line() + 1, at.column() + 1)
        }
        // An import cycle has no single place; the error lists its files.
        None if error.to_string().contains(name) => error.to_string(),
        None => format!("{path}: {error}"),
    }
}

/// The name without dots for an import that contains some, which the compiler's message does not
/// explain. `at` is the text at the error's place.
fn dotted_import(at: &[u8]) -> Option<String> {
    let name = std::str::from_utf8(at).ok()?.trim_matches(['"', '\'']);
    let is_file = name.ends_with(".proto");
    let has_dots = name.split('/').any(|part| part == "." || part == "..");
    let parts = name
        .split('/')
        .filter(|part| !matches!(*part, "." | ".." | ""));
    (is_file && has_dots).then(|| parts.collect::<Vec<_>>().join("/"))
}

/// Adds a folder once, by its normalized name.
fn add_folder(folders: &mut Vec<String>, folder: &str) {
    let folder = clean(folder);
    if !folders.contains(&folder) {
        folders.push(folder);
    }
}

fn clean(folder: &str) -> String {
    let folder = folder.strip_prefix("./").unwrap_or(folder);
    match folder.trim_end_matches('/') {
        "" if folder.starts_with('/') => "/".to_owned(),
        "." => String::new(),
        folder => folder.to_owned(),
    }
}

/// The name of a file relative to a folder above it.
fn below<'a>(path: &'a str, folder: &str) -> Option<&'a str> {
    let folder = clean(folder);
    if folder.is_empty() {
        return (!path.starts_with('/')).then_some(path);
    }
    let rest = path.strip_prefix(&folder)?;
    if folder == "/" {
        Some(rest)
    } else {
        rest.strip_prefix('/')
    }
}

/// Finds files for the compiler.
struct ProtoResolver<R> {
    roots: HashMap<String, String>,
    folders: Vec<String>,
    read: R,
    google: GoogleFileResolver,
    importing: RefCell<Importing>,
    /// The limits of all files together.
    fitting: RefCell<Fitting>,
}

/// The files whose imports are being opened, from a root on, with the imports of each.
///
/// The compiler opens imports depth-first by recursion, without a bound.
#[derive(Default)]
struct Importing(Vec<Vec<String>>);

impl Importing {
    /// Records an opened file and its imports; returns its depth.
    fn open(&mut self, name: &str, imports: &[String]) -> usize {
        // A file is opened once: if a file that imports it were finished, it would already be open.
        while self
            .0
            .last()
            .is_some_and(|open| !open.iter().any(|import| import == name))
        {
            self.0.pop();
        }
        self.0.push(imports.to_vec());
        self.0.len()
    }
}

impl<R: Fn(&str) -> io::Result<Vec<u8>>> FileResolver for ProtoResolver<R> {
    fn open_file(&self, name: &str) -> Result<File, protox::Error> {
        let file = self.find(name)?;
        // The compiler's library stores full names, and has other weaknesses, as with descriptors.
        let mut looked_at = file.file_descriptor_proto().clone();
        let fits = self.fitting.borrow_mut().fit(&mut looked_at);
        fits.map_err(|what| protox::Error::new(format!("{name}: {what}")))?;
        let imports = &file.file_descriptor_proto().dependency;
        if self.importing.borrow_mut().open(name, imports) > IMPORT_DEPTH_MAX {
            let message = format!("{name}: {}", too_deep());
            return Err(protox::Error::new(message));
        }
        Ok(file)
    }
}

impl<R: Fn(&str) -> io::Result<Vec<u8>>> ProtoResolver<R> {
    /// Finds a file among the roots, among protobuf's own files, in the folders, or among the
    /// built-in files.
    fn find(&self, name: &str) -> Result<File, protox::Error> {
        if let Some(path) = self.roots.get(name) {
            return match self.read(name, path)? {
                Some(file) => Ok(file),
                None => Err(protox::Error::file_not_found(name)),
            };
        }
        // An installed version of protobuf's own files may be newer than the compiler.
        if name.starts_with("google/protobuf/")
            && let Ok(own) = self.own(name)
        {
            return Ok(own);
        }
        for folder in &self.folders {
            if let Some(file) = self.read(name, &in_folder(folder, name))? {
                return Ok(file);
            }
        }
        self.own(name)
    }

    /// A built-in file.
    fn own(&self, name: &str) -> Result<File, protox::Error> {
        match google::source(name) {
            Some(source) => tokens::parsed(name, source),
            None => self.google.open_file(name),
        }
    }

    /// Reads a file, if it exists.
    fn read(&self, name: &str, path: &str) -> Result<Option<File>, protox::Error> {
        let bytes = match (self.read)(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => {
                return Err(protox::Error::new(format!("can't read {path}: {error}")));
            }
        };
        if let Some(what) = utf8::other_form(&bytes) {
            return Err(protox::Error::new(format!("{path} is {what}")));
        }
        // Comments in Latin-1 or another code have no part in the schema.
        let source = String::from_utf8_lossy(&bytes);
        // Editors may add a byte order mark, which protoc skips.
        let source = source.strip_prefix('\u{feff}').unwrap_or(&source);
        match edition::parse(name, path, source)? {
            Some(file) => Ok(Some(File::from_file_descriptor_proto(file))),
            None => tokens::parsed(name, source).map(Some),
        }
    }
}
