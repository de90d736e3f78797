//! The workspace as cargo describes it.

use crate::Repository;
use serde_json::Value;
use std::collections::BTreeSet;
use std::process::Command;

/// The packages of the workspace. External packages are excluded, because cargo would have to fetch
/// packages that only other systems need.
pub(crate) fn packages(repository: &Repository) -> Result<Vec<Value>, String> {
    described(repository, &["--no-deps"])
}

/// The packages of the workspace and external packages that are built on this system.
pub(crate) fn linked_packages(repository: &Repository) -> Result<Vec<Value>, String> {
    packages_of(repository, &host()?)
}

/// The packages of the workspace and external packages that are built on a system.
pub(crate) fn packages_of(repository: &Repository, system: &str) -> Result<Vec<Value>, String> {
    let system = format!("--filter-platform={system}");
    described(repository, &["--locked", &system])
}

/// The name and the version of each package that is linked into `package` on a system, including
/// itself. Packages that only run during the build are excluded, and only the features that this
/// package requests count.
pub(crate) fn linked_into(
    repository: &Repository,
    package: &str,
    system: &str,
) -> Result<BTreeSet<(String, String)>, String> {
    let how = [
        "--offline",
        "--locked",
        "--edges=normal,no-proc-macro",
        "--prefix=none",
        "--format={p}",
        "--package",
        package,
        "--target",
        system,
    ];
    let printed = cargo(repository, "tree", &how)?;
    // A line is `name v1.2.3`, followed by a path or a mark.
    let text = String::from_utf8_lossy(&printed);
    let lines = text.lines().filter_map(|line| {
        let (name, rest) = line.split_once(" v")?;
        let version = rest.split(' ').next()?;
        Some((name.to_owned(), version.to_owned()))
    });
    Ok(lines.collect())
}

/// The output of a cargo command.
fn cargo(repository: &Repository, command: &str, how: &[&str]) -> Result<Vec<u8>, String> {
    let program = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let output = Command::new(program)
        .arg(command)
        .args(how)
        .current_dir(repository.root())
        .output()
        .map_err(|error| format!("failed to run cargo {command}: {error}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("cargo {command} failed: {}", said.trim()));
    }
    Ok(output.stdout)
}

/// The target triple of this system.
pub(crate) fn host() -> Result<String, String> {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let output = Command::new(rustc).arg("-vV").output();
    let output = output.map_err(|error| format!("failed to run rustc: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned)
        .ok_or_else(|| "rustc names no host".to_owned())
}

fn described(repository: &Repository, how: &[&str]) -> Result<Vec<Value>, String> {
    let how = [&["--offline", "--format-version=1"], how].concat();
    let printed = cargo(repository, "metadata", &how)?;
    let mut metadata: Value = serde_json::from_slice(&printed)
        .map_err(|error| format!("failed to read what cargo metadata says: {error}"))?;
    match metadata["packages"].take() {
        Value::Array(packages) => Ok(packages),
        other => Err(format!("cargo metadata lists no packages but {other}")),
    }
}
