//! `drumfire grpc`.

use super::results;
use crate::exit::{Exit, Failure};
use crate::flags::GrpcFlags;
use crate::{input, lower, output, reflect};
use drumfire_plan::{Header, Plan};
use drumfire_schema::Schema;
use drumfire_schema::reflection::Wanted;
use std::path::Path;

/// Shows a schema, or runs the load that the flags describe and writes what they ask for.
pub(crate) fn run(flags: &GrpcFlags) -> Result<Exit, Failure> {
    let plan = lower::grpc::reach(flags)?;
    if flags.list {
        let schema = schema(flags, &plan, Wanted::Everything)?;
        output::print(schema.list().as_bytes())?;
        return Ok(Exit::Done);
    }
    if let Some(symbol) = &flags.describe {
        // A method may be written as for --call.
        let symbol = symbol.replace('/', ".");
        let schema = schema(flags, &plan, Wanted::Symbol(symbol.clone()))?;
        let text = schema.describe(&symbol);
        let text = text.map_err(|error| Failure::usage(format!("--describe: {error}")))?;
        output::print(text.as_bytes())?;
        return Ok(Exit::Done);
    }
    let Some(call) = &flags.call else {
        return Err(Failure::usage(
            "say which method with --call package.Service/Method; --list shows what there is",
        ));
    };
    let wrong = |error: drumfire_schema::SchemaError| Failure::usage(format!("--call: {error}"));
    let wanted = Wanted::call(call).map_err(wrong)?;
    let method = schema(flags, &plan, wanted)?.method(call).map_err(wrong)?;
    let plan = lower::grpc::with_call(flags, plan, &method)?;
    results::of(plan, &flags.output)
}

/// The schema: from files where they are named, or else from the server.
fn schema(flags: &GrpcFlags, plan: &Plan, wanted: Wanted) -> Result<Schema, Failure> {
    if let Some(path) = &flags.protoset {
        let bytes = input::file("--protoset", path)?;
        return Schema::from_protoset(&bytes)
            .map_err(|error| Failure::usage(format!("--protoset: {}: {error}", path.display())));
    }
    for folder in &flags.import_path {
        if !Path::new(folder).is_dir() {
            return Err(Failure::usage(format!(
                "--import-path: there is no folder `{}`",
                folder.escape_default()
            )));
        }
    }
    if !flags.proto.is_empty() {
        return Schema::from_proto(&flags.proto, &flags.import_path, input::proto)
            .map_err(|error| Failure::usage(format!("--proto: {error}")));
    }
    let metadata: Vec<Header> = flags
        .reflect_metadata
        .iter()
        .map(|line| lower::metadata::fixed("--reflect-metadata", line))
        .collect::<Result<_, _>>()?;
    reflect::schema(plan, wanted, &metadata, plan.timeouts.connect)
}
