//! `drumfire grpc`.

use super::results::{self, Printed};
use crate::document;
use crate::exit::{Exit, Failure};
use crate::flags::GrpcFlags;
use crate::host::Machine;
use crate::output::Output;
use drumfire_compile::schema_of;
use drumfire_schema::Schema;
use drumfire_schema::reflection::Wanted;

/// Shows a schema, or runs the load that the flags describe and writes its results.
pub(crate) fn run(flags: &GrpcFlags, output: &Output) -> Result<Exit, Failure> {
    let document = document::of_grpc(flags)?;
    let host = Machine::here(output);
    let schema = |wanted: Wanted| -> Result<Schema, Failure> {
        schema_of(&document, &wanted, &host).map_err(|found| Failure::of(&found))
    };
    if flags.list {
        let methods = schema(Wanted::Everything)?.list();
        if methods.is_empty() {
            output.remark("the schema has no methods\n");
        }
        output.print_foreign(&methods)?;
        return Ok(Exit::Done);
    }
    if let Some(symbol) = &flags.describe {
        // A method may be written as for `--call`.
        let symbol = symbol.replace('/', ".");
        let schema = schema(Wanted::Symbol(symbol.clone()))?;
        let lines = schema.describe(&symbol);
        let lines = lines.map_err(|error| Failure::usage(format!("--describe: {error}")))?;
        output.print_foreign(&lines)?;
        return Ok(Exit::Done);
    }
    if !flags.settings.has("call") {
        return Err(Failure::usage(
            "set the method with --call package.Service/Method; --list prints all methods",
        ));
    }
    results::of(
        &document.into(),
        &host,
        &flags.output,
        Printed::of(flags.print_plan, flags.print_facts),
        output,
    )
}
