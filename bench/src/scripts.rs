//! Scripts of k6 with two programs: what a server received, and what the programs reported.
//!
//! [`compare`] runs a script twice with each program: once with one user and three iterations, of which the
//! requests have one order, and once with the script's own options, of which only counts can be compared.

pub mod cost;
mod echo;
mod outcome;
mod recorder;

use outcome::Outcome;
use recorder::Recorder;
use std::fs;
use std::io::{Error, Result};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The seconds after which a run is ended.
const RUN_MAX: &str = "60";

/// A program that runs scripts.
#[derive(Clone, Debug)]
pub struct Program {
    path: PathBuf,
    /// The words before `run`.
    words: &'static [&'static str],
}

impl Program {
    /// k6.
    #[must_use]
    pub fn k6(path: PathBuf) -> Self {
        Self { path, words: &[] }
    }

    /// drumfire.
    #[must_use]
    pub fn drumfire(path: PathBuf) -> Self {
        Self {
            path,
            words: &["k6"],
        }
    }

    /// Runs a script against a new server.
    fn run(&self, script: &Path, flags: &[&str]) -> Result<Outcome> {
        let server = Recorder::start()?;
        let folder = script.parent().unwrap_or_else(|| Path::new("."));
        let (export, rows) = (folder.join("export.json"), folder.join("rows.jsonl"));
        for file in [&export, &rows] {
            // There is none before the first run.
            drop(fs::remove_file(file));
        }
        // `timeout` passes the exit code on, and ends with 124 itself.
        let output = Command::new("timeout")
            .arg(RUN_MAX)
            .arg(&self.path)
            .args(self.words)
            .args(["run", "-q", "--summary-export"])
            .arg(&export)
            .arg("--out")
            .arg(format!("json={}", rows.display()))
            .args(["-e", &format!("BASE={}", server.url())])
            .args(["-e", &format!("WS={}", server.socket_url())])
            .args(flags)
            .arg(script)
            // k6 must not call its makers.
            .env("K6_NO_USAGE_REPORT", "true")
            .env("K6_AUTO_EXTENSION_RESOLUTION", "false")
            .stdin(Stdio::null())
            .output()?;
        let read = |path: &Path| fs::read_to_string(path).unwrap_or_default();
        Outcome::new(&output, &server.finish(), &read(&export), &read(&rows))
    }
}

/// A script of a folder.
#[derive(Clone, Debug)]
pub struct Script {
    /// The name of the file.
    pub name: String,
    path: PathBuf,
}

impl Script {
    /// The scripts of a folder, by name.
    ///
    /// # Errors
    /// If the folder can't be read.
    pub fn list(folder: &Path) -> Result<Vec<Self>> {
        let mut scripts = Vec::new();
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if !path.is_file() {
                continue;
            }
            scripts.push(Self {
                name: path
                    .file_name()
                    .unwrap_or_default()
                    .to_string_lossy()
                    .into_owned(),
                path,
            });
        }
        scripts.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(scripts)
    }

    /// A copy of the script's folder in which libraries at URLs are files, so that no program uses the network.
    fn prepare(&self) -> Result<Copy> {
        let folder = std::env::temp_dir().join(format!("drumfire-k6-{}", std::process::id()));
        let from = self.path.parent().unwrap_or_else(|| Path::new("."));
        copy(from, &folder, &folder)?;
        Ok(Copy {
            script: folder.join(&self.name),
            folder,
        })
    }
}

/// A folder that is removed in the end.
struct Copy {
    script: PathBuf,
    folder: PathBuf,
}

impl Drop for Copy {
    fn drop(&mut self) {
        // A folder that stays is no reason to fail.
        let _removed = fs::remove_dir_all(&self.folder);
    }
}

/// Copies a folder, and writes the libraries that its scripts import into the folder `root`.
fn copy(from: &Path, to: &Path, root: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let path = entry?.path();
        let target = to.join(path.file_name().unwrap_or_default());
        if path.is_dir() {
            copy(&path, &target, root)?;
        } else {
            fs::write(&target, localized(&fs::read_to_string(&path)?, root)?)?;
        }
    }
    Ok(())
}

/// A script that imports files instead of URLs. The libraries are written as files.
fn localized(script: &str, root: &Path) -> Result<String> {
    let mut text = script.to_owned();
    for part in script
        .split(['\'', '"'])
        .filter(|part| part.starts_with("https://"))
    {
        let Some(library) = drumfire_k6::library(part) else {
            return Err(Error::other(format!(
                "{part} is no library that drumfire has"
            )));
        };
        let name: String = part
            .chars()
            .map(|letter| {
                if letter.is_alphanumeric() {
                    letter
                } else {
                    '-'
                }
            })
            .collect();
        let file = root.join(format!("{name}.js"));
        fs::write(&file, localized(library, root)?)?;
        text = text.replace(part, &file.to_string_lossy());
    }
    Ok(text)
}

/// What differs between two programs that run a script.
///
/// # Errors
/// If a program can't be started.
pub fn compare(script: &Script, one: &Program, other: &Program) -> Result<Vec<String>> {
    let copy = script.prepare()?;
    let mut differences = Vec::new();
    let alone = ["-u", "1", "-i", "3"];
    let (first, second) = (
        one.run(&copy.script, &alone)?,
        other.run(&copy.script, &alone)?,
    );
    differences.extend(
        first
            .differences(&second, outcome::Order::Same)
            .into_iter()
            .map(|words| format!("alone: {words}")),
    );
    let (first, second) = (one.run(&copy.script, &[])?, other.run(&copy.script, &[])?);
    differences.extend(first.differences(&second, outcome::Order::Any));
    Ok(differences)
}
