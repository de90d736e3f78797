//! The schema of a pool's calls: from a set of descriptors, from `.proto` files, or otherwise from
//! the server.
//!
//! Schema files in the document are always sufficient. A server is queried by reflection only if
//! the document has no schema files, and only while no mistake was found. After the first query was
//! answered, a second one is sent in spite of later mistakes, because the server is known to answer
//! fast.
//!
//! The answer of a server is untrusted: the reflection in `schema` bounds its services, files and
//! bytes, and its time limit is the timeout for opening a connection. A failure is blamed on the
//! world instead of the document ([`Fault::World`]), and the exit codes differ.

use crate::host::{Found, SchemaQuestion};
use crate::metadata;
use crate::scope::Scope;
use drumfire_document::{Diagnostic, Fault};
use drumfire_document::{Place, SchemaSource as Written, names};
use drumfire_plan::Inquiry;
use drumfire_schema::Schema;
use drumfire_schema::reflection::Wanted;
use std::sync::Arc;

/// The schema that contains the wanted symbol. `place` is the place of the symbol in the document.
/// Returns `None` after a mistake was noted. `.proto` files are compiled to one schema, regardless
/// of the wanted symbol.
pub(crate) fn schema(
    written: &Written,
    server: &Inquiry,
    wanted: &Wanted,
    place: &Place,
    scope: &mut Scope<'_>,
) -> Option<Schema> {
    if let Some(path) = &written.protoset {
        if let Some(file) = written.proto.first() {
            let message = "use either `.proto` files or a descriptor set, not both";
            scope.found.add(&file.place, message);
        }
        let bytes = scope.file(path)?;
        let schema = Schema::from_protoset(&bytes);
        let schema = schema.map_err(|error| format!("{}: {error}", path.value));
        return scope.found.ok(&path.place, schema);
    }
    for folder in &written.import_path {
        if scope.host.look(&folder.value) != Found::Folder {
            let shown = folder.value.escape_debug();
            let message = format!("`{shown}` is not a folder");
            scope.found.add(&folder.place, message);
        }
    }
    for file in &written.proto {
        if scope.host.look(&file.value) == Found::Folder {
            let (shown, import) = (
                file.value.escape_debug(),
                names::name(&file.place, "import_path"),
            );
            let message = format!(
                "`{shown}` is a folder; name a `.proto` file in it, and use {import} for a folder \
                 with imported files"
            );
            scope.found.add(&file.place, message);
            return None;
        }
    }
    if let Some(first) = written.proto.first() {
        let values = |texts: &[drumfire_document::Text]| -> Vec<String> {
            texts.iter().map(|text| text.value.clone()).collect()
        };
        let host = Arc::clone(scope.host);
        let read = move |path: &str| host.read(path);
        let (files, folders) = (values(&written.proto), values(&written.import_path));
        let schema = Schema::from_proto(&files, &folders, read);
        return scope.found.ok(&first.place, schema);
    }
    let metadata = metadata::fixed(&written.reflection.metadata, scope);
    // The server is queried only if there are no mistakes, or if it has answered before.
    if !scope.found.is_empty() && !scope.has_answer {
        return None;
    }
    let question = SchemaQuestion {
        server,
        wanted,
        metadata: &metadata,
        limit: server.pool().timeouts.connect,
    };
    match scope.host.schema(&question) {
        Ok(schema) => {
            scope.has_answer = true;
            Some(schema)
        }
        Err(error) => {
            scope.found.push(Diagnostic {
                remedy: error.remedy,
                fault: Fault::World,
                ..Diagnostic::new(place, error.message)
            });
            None
        }
    }
}
