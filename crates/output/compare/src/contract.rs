//! The JSON documents of runs, comparisons, histories, capacities and clusters. One set of types
//! serializes and deserializes each document.
//!
//! A struct is an object of a document, with its fields in the order of the output. The doc comment
//! of a field is its description in `docs/schema`. A test derives those files from these types;
//! `DRUMFIRE_BLESS=1` writes them.
//!
//! The contract is public: a field may be added, with a default for documents without it, but no
//! field may be removed or change its meaning. Readers ignore unknown fields. A quantity has its
//! unit in its name (`_ns`, `_per_s`, `_share`) or is a count. An unknown figure is `null` or
//! absent, never 0: absent if only some runs have it, `null` if readers expect it in every run.

pub mod capacity;
pub mod cluster;
pub mod comparison;
pub mod history;
pub mod info;
mod named;
mod plan_texts;
pub mod runs;
pub mod summary;
pub mod tools;

pub use named::{Named, Word};
pub use plan_texts::{PlanTexts, Texts};

/// The name and version of the JSON summary format.
pub const SUMMARY_SCHEMA: &str = "drumfire.summary.v1";
/// The name and version of the JSON interval format.
pub const INTERVAL_SCHEMA: &str = "drumfire.interval.v1";
/// The name and version of the JSON comparison format.
pub const COMPARISON_SCHEMA: &str = "drumfire.comparison.v1";
/// The name and version of the JSON format of a comparison with another tool.
pub const TOOLS_SCHEMA: &str = "drumfire.tools.v1";
/// The name and version of the JSON history format.
pub const HISTORY_SCHEMA: &str = "drumfire.history.v1";
/// The name and version of the JSON capacity format.
pub const CAPACITY_SCHEMA: &str = "drumfire.capacity.v1";
/// The name and version of the JSON format of a list of runs.
pub const RUNS_SCHEMA: &str = "drumfire.runs.v1";
/// The name and version of the JSON format of the facts of a stored run.
pub const INFO_SCHEMA: &str = "drumfire.info.v1";
/// The name and version of the JSON format of the active runs of a cluster.
pub const CLUSTER_SCHEMA: &str = "drumfire.cluster.v1";

#[cfg(test)]
mod tests {
    use super::{
        CAPACITY_SCHEMA, CLUSTER_SCHEMA, COMPARISON_SCHEMA, HISTORY_SCHEMA, INFO_SCHEMA,
        INTERVAL_SCHEMA, RUNS_SCHEMA, SUMMARY_SCHEMA, TOOLS_SCHEMA, capacity, cluster, comparison,
        history, info, runs, summary, tools,
    };
    use schemars::JsonSchema;
    use schemars::generate::SchemaSettings;
    use serde_json::Value;
    use std::fs;
    use std::path::Path;

    /// Compares the schema of a type with its file; with `DRUMFIRE_BLESS=1`, writes the file.
    #[expect(clippy::disallowed_methods, reason = "schemas are files")]
    fn check<T: JsonSchema>(name: &str) {
        let settings = SchemaSettings::draft2020_12().for_serialize();
        let mut schema = settings.into_generator().into_root_schema_for::<T>();
        if let Some(root) = schema.as_object_mut() {
            root.values_mut().for_each(join_lines);
        }
        schema.insert("title".to_owned(), name.into());
        let id = format!("urn:drumfire:schema:{name}");
        schema.insert("$id".to_owned(), id.into());
        let text = serde_json::to_string_pretty(&schema);
        let derived = text.expect("a schema has string keys only") + "\n";
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/schema");
        let file = folder.join(format!("{name}.json"));
        if std::env::var_os("DRUMFIRE_BLESS").is_some() {
            fs::write(&file, &derived).expect("the file can be written");
        }
        let written = fs::read_to_string(&file).expect("the file can be read");
        assert!(
            written == derived,
            "{name} differs from its type (DRUMFIRE_BLESS=1 accepts it)"
        );
    }

    /// Joins the lines of each description: doc comments are wrapped.
    fn join_lines(value: &mut Value) {
        match value {
            Value::Object(map) => map.values_mut().for_each(join_lines),
            Value::Array(all) => all.iter_mut().for_each(join_lines),
            Value::String(text) => *text = text.replace('\n', " "),
            _ => {}
        }
    }

    #[test]
    fn the_schemas_in_docs_are_derived() {
        check::<summary::Document>(SUMMARY_SCHEMA);
        check::<summary::Line>(INTERVAL_SCHEMA);
        check::<comparison::Document>(COMPARISON_SCHEMA);
        check::<tools::Document>(TOOLS_SCHEMA);
        check::<history::Document>(HISTORY_SCHEMA);
        check::<capacity::Document>(CAPACITY_SCHEMA);
        check::<runs::Document>(RUNS_SCHEMA);
        check::<info::Document>(INFO_SCHEMA);
        check::<info::Line>("drumfire.event.v1");
        check::<cluster::Document>(CLUSTER_SCHEMA);
    }
}
