//! `drumfire new`: writes a commented starter plan.

use super::plan_file;
use crate::exit::{Exit, Failure};
use crate::flags::NewFlags;
use crate::output::{Output, why_not_written};
use drumfire_document::form::Syntax;
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write as _};
use std::path::Path;

/// The plan, which runs against `drumfire serve`.
const PLAN: &str = include_str!("new.yaml");
/// The argument for standard output.
const STDOUT: &str = "-";

/// Writes the plan to a file, or to standard output.
pub(crate) fn run(flags: &NewFlags, output: &Output) -> Result<Exit, Failure> {
    let path = match flags.file.as_deref() {
        None | Some(STDOUT) => {
            output.print(PLAN.as_bytes())?;
            return Ok(Exit::Done);
        }
        Some(path) if plan_file::syntax(path) == Syntax::Toml => {
            return Err(Failure::usage(format!(
                "{path}: the plan is YAML; use a name that ends in .yaml"
            )));
        }
        Some(path) => path,
    };
    let mut options = OpenOptions::new();
    options.write(true);
    match flags.force {
        true => options.create(true).truncate(true),
        // The check for an existing file and its creation are one step.
        false => options.create_new(true),
    };
    let mut file = options.open(path).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => Failure::usage(format!(
            "{path} already exists; use --force to overwrite it"
        )),
        _ => {
            let why = why_not_written(Path::new(path), &error);
            Failure::usage(format!("can't write {path}: {why}"))
        }
    })?;
    let written = file.write_all(PLAN.as_bytes());
    written.map_err(|error| Failure::failed(format!("can't write {path}: {error}")))?;
    output.remark(&format!(
        "`drumfire check {path}` draws its load, `drumfire run {path}` runs it\n"
    ));
    Ok(Exit::Done)
}
