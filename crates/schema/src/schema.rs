//! Services, and the types of their messages.

use crate::files::Files;
use crate::intake::Intake;
use crate::{Method, SchemaError, assemble, describe, lookup};
use prost_reflect::DescriptorPool;
use std::fmt;
use std::io;

/// Services, and the types of their messages.
#[derive(Clone)]
pub struct Schema {
    pool: DescriptorPool,
}

/// In short: descriptors of messages that contain themselves never end when they are shown.
impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Schema").field(&self.services()).finish()
    }
}

impl Schema {
    /// Compiles `.proto` files.
    ///
    /// An import is looked for in the folder of each file (unless the file lies below one of
    /// `import_paths` and so has its name from there), in the working directory, in
    /// `import_paths` in turn, and then among protobuf's own files and `google/api`,
    /// `google/rpc` and `google/type`. `read` gives the bytes of a file by its path, or
    /// [`io::ErrorKind::NotFound`].
    ///
    /// # Errors
    /// A file that can't be read, a syntax error, a missing import, names that collide: with the
    /// file, line and column.
    pub fn from_proto(
        files: &[String],
        import_paths: &[String],
        read: impl Fn(&str) -> io::Result<Vec<u8>> + 'static,
    ) -> Result<Self, SchemaError> {
        let pool = Files::new(files, import_paths, read).compile()?;
        Ok(Self { pool })
    }

    /// Takes a serialised `FileDescriptorSet`, as `protoc --descriptor_set_out` writes it with
    /// `--include_imports`.
    ///
    /// # Errors
    /// When the bytes are none, or a file that another imports is missing.
    pub fn from_protoset(bytes: &[u8]) -> Result<Self, SchemaError> {
        let files = Intake::default().set(bytes).map_err(SchemaError)?;
        let pool = assemble::assemble(files)?;
        Ok(Self { pool })
    }

    pub(crate) const fn of(pool: DescriptorPool) -> Self {
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

    /// Finds a method: `pkg.Service/Method` or `pkg.Service.Method`, with a dot before it perhaps.
    ///
    /// # Errors
    /// When the text is no such name, or there is no such service or method; the nearest name is
    /// given.
    pub fn method(&self, call: &str) -> Result<Method, SchemaError> {
        lookup::method(&self.pool, call)
    }

    /// Every service with its methods, one a line: `pkg.Service/Method(Input) returns (Output)`.
    /// Names are as they came, and may hold anything.
    #[must_use]
    pub fn list(&self) -> Vec<String> {
        describe::list(&self.pool)
    }

    /// A service, method, message or enum as a `.proto` file would have it, in lines. Names are as
    /// they came, and may hold anything.
    ///
    /// # Errors
    /// When there is none of this name; the nearest is given.
    pub fn describe(&self, symbol: &str) -> Result<Vec<String>, SchemaError> {
        describe::describe(&self.pool, symbol)
    }
}

/// The service that a call names, which is what reflection is asked for.
///
/// # Errors
/// When the text is not of the form that [`Schema::method`] takes.
pub(crate) fn service_of(call: &str) -> Result<String, SchemaError> {
    lookup::parse(call).map(|(service, _)| service.to_owned())
}
