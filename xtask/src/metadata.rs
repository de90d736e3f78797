//! The workspace as cargo describes it.

use crate::Repository;
use serde_json::Value;
use std::process::Command;

/// The packages of the workspace, without those of others: for these cargo would have to fetch
/// packages that only other systems need.
pub(crate) fn packages(repository: &Repository) -> Result<Vec<Value>, String> {
    described(repository, &["--no-deps"])
}

/// The packages of the workspace and of others, all that is built on this system.
pub(crate) fn linked_packages(repository: &Repository) -> Result<Vec<Value>, String> {
    let system = format!("--filter-platform={}", host()?);
    described(repository, &["--locked", &system])
}

/// The system that this is, in the compiler's words.
fn host() -> Result<String, String> {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let output = Command::new(rustc).arg("-vV").output();
    let output = output.map_err(|error| format!("failed to run rustc: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned)
        .ok_or_else(|| "rustc names no host".to_owned())
}

fn described(repository: &Repository, how: &[&str]) -> Result<Vec<Value>, String> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let output = Command::new(cargo)
        .args(["metadata", "--offline", "--format-version=1"])
        .args(how)
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
