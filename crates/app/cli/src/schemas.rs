//! The JSON Schemas of the forms that others read or write.

use drumfire_document::form;

/// The form of plans, whose schema is made of their keys.
const PLAN: &str = "plan";

/// Declares the forms of results with their schemas.
macro_rules! results {
    ($($name:literal)*) => {
        /// The forms of results, each with its schema.
        const RESULTS: &[(&str, &str)] = &[
            $(($name, include_str!(concat!("../schema/drumfire.", $name, ".v1.json"))),)*
        ];
    };
}

results! { "summary" "interval" "comparison" "history" "capacity" "runs" "info" "event" "cluster" "tools" }

/// The names of all forms.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    let results = RESULTS.iter().map(|(name, _)| *name);
    std::iter::once(PLAN).chain(results)
}

/// The schema of the form with this name. An unknown name means plans.
pub(crate) fn schema(name: &str) -> String {
    let result = RESULTS.iter().find(|(other, _)| *other == name);
    result.map_or_else(form::json_schema, |(_, schema)| (*schema).to_owned())
}

#[cfg(test)]
mod tests {
    use super::names;
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    #[test]
    fn every_schema_is_printed() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("schema");
        let files = fs::read_dir(folder).expect("the folder of schemas");
        let files = files.map(|file| file.expect("a file").file_name());
        let files: BTreeSet<String> = files
            .map(|name| name.to_string_lossy().into_owned())
            .collect();
        let printed = names().map(|name| format!("drumfire.{name}.v1.json"));
        assert_eq!(printed.collect::<BTreeSet<String>>(), files);
    }
}
