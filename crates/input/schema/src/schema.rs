//! Services, and the types of their messages.

use crate::files::Files;
use crate::intake::SchemaFiles;
use crate::{Method, SchemaError, assemble, describe, lookup};
use prost_reflect::DescriptorPool;
use std::fmt;
use std::io;

/// Services, and the types of their messages.
#[derive(Clone)]
pub struct Schema {
    pool: DescriptorPool,
}

/// The output is short: descriptors of recursive messages would be printed without end.
impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Schema").field(&self.services()).finish()
    }
}

impl Schema {
    /// Compiles `.proto` files.
    ///
    /// An import is searched in the folder of each file (unless the file is below one of
    /// `import_paths` and is therefore named relative to it), in the working directory, in
    /// `import_paths` in order, and then among protobuf's own files and `google/api`, `google/rpc`
    /// and `google/type`. `read` returns the bytes of a file by its path, or
    /// [`io::ErrorKind::NotFound`].
    ///
    /// # Errors
    /// An unreadable file, a syntax error, a missing import, or conflicting names, with the file,
    /// line and column.
    pub fn from_proto(
        files: &[String],
        import_paths: &[String],
        read: impl Fn(&str) -> io::Result<Vec<u8>> + 'static,
    ) -> Result<Self, SchemaError> {
        let pool = Files::new(files, import_paths, read).compile()?;
        Ok(Self { pool })
    }

    /// Reads a serialized `FileDescriptorSet`, as `protoc --descriptor_set_out` writes it with
    /// `--include_imports`.
    ///
    /// # Errors
    /// If the bytes are malformed, or an imported file is missing.
    pub fn from_protoset(bytes: &[u8]) -> Result<Self, SchemaError> {
        let files = SchemaFiles::default().set(bytes).map_err(SchemaError)?;
        let pool = assemble::assemble(files)?;
        Ok(Self { pool })
    }

    pub(crate) const fn from_pool(pool: DescriptorPool) -> Self {
        Self { pool }
    }

    /// The full names of the services, sorted.
    #[must_use]
    pub fn services(&self) -> Vec<String> {
        let services = self.pool.services();
        let mut names: Vec<String> = services.map(|s| s.full_name().to_owned()).collect();
        names.sort();
        names
    }

    /// Finds a method: `pkg.Service/Method` or `pkg.Service.Method`, optionally with a leading dot.
    ///
    /// # Errors
    /// If the text has another form, or the service or method is unknown; the error suggests the
    /// most similar name.
    pub fn method(&self, call: &str) -> Result<Method, SchemaError> {
        lookup::method(&self.pool, call)
    }

    /// Every service with its methods, one per line: `pkg.Service/Method(Input) returns (Output)`.
    /// Names are unescaped, and may contain any characters.
    #[must_use]
    pub fn list(&self) -> Vec<String> {
        describe::list(&self.pool)
    }

    /// A service, method, message or enum in the form of a `.proto` file, line by line. Names are
    /// unescaped, and may contain any characters.
    ///
    /// # Errors
    /// If the symbol is unknown; the error suggests the most similar one.
    pub fn describe(&self, symbol: &str) -> Result<Vec<String>, SchemaError> {
        describe::describe(&self.pool, symbol)
    }
}

/// The service of a call, which reflection requests.
///
/// # Errors
/// If the text does not have the form that [`Schema::method`] accepts.
pub(crate) fn service_of(call: &str) -> Result<String, SchemaError> {
    lookup::parse(call).map(|(service, _)| service.to_owned())
}
