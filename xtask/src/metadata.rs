//! The workspace as cargo describes it.

use crate::Repository;
use serde_json::Value;
use std::process::Command;

/// The packages of the workspace, without those of others: for these cargo would have to fetch
/// packages that only other systems need.
pub(crate) fn packages(repository: &Repository) -> Result<Vec<Value>, String> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let output = Command::new(cargo)
        .args(["metadata", "--no-deps", "--offline", "--format-version=1"])
        .current_dir(repository.root())
        .output()
        .map_err(|error| format!("failed to run cargo metadata: {error}"))?;
    let mut metadata: Value = serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("failed to read what cargo metadata says: {error}"))?;
    match metadata["packages"].take() {
        Value::Array(packages) => Ok(packages),
        other => Err(format!("cargo metadata lists no packages but {other}")),
    }
}
