//! The JSON Schema of plans is equal to the stored one, and judges plans like the program.

#![expect(
    clippy::disallowed_methods,
    reason = "a test reads the files that are its data"
)]

use drumfire_document::form::json_schema;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

fn text_of(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Whether the schema accepts a plan.
fn accepts(validator: &jsonschema::Validator, plan: &str) -> bool {
    let options = serde_saphyr::options! { strict_booleans: true };
    let value: serde_json::Value = serde_saphyr::from_str_with_options(plan, options).expect(plan);
    validator.is_valid(&value)
}

fn validator() -> jsonschema::Validator {
    let schema = serde_json::from_str(&json_schema()).expect("JSON");
    jsonschema::validator_for(&schema).expect("a schema")
}

#[test]
fn the_schema_is_the_one_that_is_kept() {
    let path = root().join("docs/schema/drumfire.plan.v1.json");
    if env::var_os("DRUMFIRE_BLESS").is_some() {
        fs::write(&path, json_schema()).expect("the schema");
    }
    assert_eq!(text_of(&path), json_schema());
}

/// Every plan in the manual, the examples, and those that the program writes.
#[test]
fn plans_of_the_manual_are_accepted() {
    let folder = |name: &str, end: &str| -> Vec<PathBuf> {
        let entries = fs::read_dir(root().join(name)).expect(name);
        let paths = entries.map(|entry| entry.expect(name).path());
        let ends = |path: &PathBuf| path.to_string_lossy().ends_with(end);
        paths.filter(ends).collect()
    };
    let mut plans: Vec<String> = folder("examples", ".yaml")
        .iter()
        .map(|path| text_of(path))
        .collect();
    plans.push(text_of(&root().join("crates/app/cli/src/command/new.yaml")));
    for page in folder("docs/manual", ".md") {
        let page = text_of(&page);
        let blocks = page.split("```yaml\n").skip(1);
        let blocks = blocks.filter_map(|block| block.split("```").next());
        plans.extend(
            blocks
                .filter(|block| block.starts_with("drumfire:"))
                .map(str::to_owned),
        );
    }
    assert!(plans.len() > 15, "only {}", plans.len());
    let validator = validator();
    for plan in plans {
        assert!(accepts(&validator, &plan), "{plan}");
    }
}

/// Plans with an invalid form. A schema can't detect mistakes within a value, such as a law.
#[test]
fn broken_plans_are_refused() {
    let validator = validator();
    let table = text_of(&root().join("crates/input/compile/tests/form/broken.txt"));
    let of_form = [
        "has no key",
        "needs exactly one of",
        "must be a mapping",
        "one request can't have",
        "is not a whole number",
        "write true or false",
        "expected a single value",
        "version is missing",
        "reads plans of version",
    ];
    let mut refused = 0;
    for case in table.split("\n== ").skip(1) {
        let (name, rest) = case.split_once('\n').expect("a name");
        let (plan, said) = rest.split_once("--\n").expect("the end of the plan");
        let is_yaml = serde_saphyr::from_str::<serde_json::Value>(plan).is_ok();
        if !of_form.iter().any(|words| said.contains(words)) || plan.is_empty() || !is_yaml {
            continue;
        }
        assert!(!accepts(&validator, plan), "{name}: {plan}");
        refused += 1;
    }
    assert!(refused >= 15, "only {refused}");
}
