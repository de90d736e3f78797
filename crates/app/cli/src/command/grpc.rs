//! `drumfire grpc`.

use super::results::{self, Printed};
use crate::document;
use crate::exit::{Exit, Failure};
use crate::flags::GrpcFlags;
use crate::host::Machine;
use crate::output::Output;
use drumfire_compile::schema_of;
use drumfire_document::flags::{Flag, Group};
use drumfire_schema::Schema;
use drumfire_schema::reflection::Wanted;

/// The flags in groups of a load that are of use beside a schema.
const OF_SERVERS: [&str; 7] = [
    "plaintext",
    "authority",
    "max-receive",
    "live",
    "no-tui",
    "stay",
    "quiet",
];

/// Refuses the flags of a load beside `shows`, which only prints a part of the schema.
fn check_flags(flags: &GrpcFlags, shows: &str) -> Result<(), Failure> {
    let is_idle = |flag: &&Flag| {
        let group = matches!(
            flag.group,
            Group::Call
                | Group::Streams
                | Group::Request
                | Group::Data
                | Group::Load
                | Group::Output
        );
        group && !OF_SERVERS.contains(&flag.long())
    };
    let given = flags.settings.given().iter().map(|given| given.row.flag);
    let mut idle: Vec<&str> = given.filter(is_idle).map(Flag::name).collect();
    if flags.output.show {
        idle.push("--show");
    }
    if flags.output.store.is_some() {
        idle.push("-o");
    }
    let (verb, them) = match idle.len() {
        0 => return Ok(()),
        1 => ("has", "it"),
        _ => ("have", "them"),
    };
    let metadata = match idle.contains(&"-H") {
        true => "; for metadata of the server's reflection, use --reflect-metadata",
        false => "",
    };
    Err(Failure::usage(format!(
        "{} {verb} no effect: {shows} sends no calls; leave {them} out{metadata}",
        idle.join(", ")
    )))
}

/// Shows a schema, or runs the load that the flags describe and writes its results.
pub(crate) fn run(flags: &GrpcFlags, output: &Output) -> Result<Exit, Failure> {
    let document = document::of_grpc(flags)?;
    let host = Machine::here(output);
    let schema = |wanted: Wanted| -> Result<Schema, Failure> {
        schema_of(&document, &wanted, &host).map_err(|found| Failure::from_diagnostics(&found))
    };
    if flags.list {
        check_flags(flags, "--list")?;
        let methods = schema(Wanted::Everything)?.list();
        if methods.is_empty() {
            output.remark("the schema has no methods\n");
        }
        output.print_foreign(&methods)?;
        return Ok(Exit::Done);
    }
    if let Some(symbol) = &flags.describe {
        check_flags(flags, "--describe")?;
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
    results::run_or_print(
        &document.into(),
        &host,
        &flags.output,
        Printed::from_flags(flags.print_plan, flags.print_facts),
        output,
    )
}
