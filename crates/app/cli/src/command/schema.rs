//! `drumfire schema`.

use crate::exit::{Exit, Failure};
use crate::flags::Contract;
use crate::output::Output;
use drumfire_document::form;

/// The schema of a result.
const SUMMARY: &str = include_str!("../../schema/drumfire.summary.v1.json");
/// The schema of a line of `--json-lines`.
const INTERVAL: &str = include_str!("../../schema/drumfire.interval.v1.json");

/// The schema of the results of `compare` and `ab`.
const COMPARISON: &str = include_str!("../../schema/drumfire.comparison.v1.json");
/// The schema of the result of `runs --trend`.
const HISTORY: &str = include_str!("../../schema/drumfire.history.v1.json");

/// Prints the JSON Schema of a form.
pub(crate) fn run(contract: Contract, output: &Output) -> Result<Exit, Failure> {
    let schema = match contract {
        Contract::Plan => form::json_schema(),
        Contract::Summary => SUMMARY.to_owned(),
        Contract::Interval => INTERVAL.to_owned(),
        Contract::Comparison => COMPARISON.to_owned(),
        Contract::History => HISTORY.to_owned(),
    };
    output.print(schema.as_bytes())?;
    Ok(Exit::Done)
}
