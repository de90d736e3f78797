//! `drumfire schema`.

use crate::exit::{Exit, Failure};
use crate::output::Output;
use crate::schemas::schema;

/// Prints the JSON Schema of the form with this name.
pub(crate) fn run(name: &str, output: &Output) -> Result<Exit, Failure> {
    output.print(schema(name).as_bytes())?;
    Ok(Exit::Done)
}
