//! vLLM: `vllm bench serve`, the load test of an inference server.
//!
//! Knows the flags of vLLM's Python client, its table and its result file. The figures themselves
//! are computed in `drumfire_report::vllm`. `docs/dialects/vllm.md` lists the differences from the
//! original, with reasons.

mod args;
mod backend;
mod dataset;
mod flags;
mod load;
mod lower;
mod lower_setup;
mod meaning;
mod render;
mod result_file;

use crate::Outcome;
use crate::outcome::LastWords;
use crate::written::ToolFlags;
use args::{Args, Parsed};
use drumfire_compile::Host;
use std::sync::Arc;

/// The program's name.
const PROGRAM: &str = "vllm";

/// The command whose flags are supported.
const COMMAND: &str = "vllm bench serve";

/// The bits of a nonce, which is short enough to be typed.
const NONCE_MASK: u64 = (1 << 40) - 1;

/// The tool whose flags are the places of a document's values.
const TOOL: ToolFlags = ToolFlags(COMMAND);

/// Turns the arguments into a run, or into the text that is printed instead. Prompts follow from
/// the flag `--seed` and from `nonce`, which differs from run to run.
pub(crate) fn parse(args: &[String], host: &Arc<dyn Host>, nonce: u64) -> Outcome {
    let flags = match args {
        [bench, serve, flags @ ..] if bench == "bench" && serve == "serve" => flags,
        _ => return wrong_command(args).into(),
    };
    let parsed = match Args::parse(flags) {
        Ok(Parsed::Help) => return LastWords::on_stdout(flags::help(), 0).into(),
        Ok(Parsed::Args(args)) => lower::lower(&args, host, nonce & NONCE_MASK),
        Err(mistake) => Err(mistake),
    };
    match parsed {
        Ok(run) => Outcome::Run(Box::new(run)),
        Err(mistake) => refusal(&mistake).into(),
    }
}

/// The text about a mistake on the command line.
fn refusal(mistake: &str) -> LastWords {
    let text = format!("usage: {COMMAND} [options]\n{COMMAND}: error: {mistake}\n");
    LastWords::on_stderr(text, 2)
}

/// The text about a command of vLLM's program that is not supported.
fn wrong_command(args: &[String]) -> LastWords {
    let is_help = matches!(args.first().map(String::as_str), Some("-h" | "--help"));
    if is_help || args.is_empty() {
        let text =
            format!("usage: {COMMAND} [options]\n\nOnly this command of vLLM is supported; ");
        let text = format!("{text}`{COMMAND} --help` lists its flags.\n");
        return match is_help {
            true => LastWords::on_stdout(text, 0),
            false => LastWords::on_stderr(text, 2),
        };
    }
    let given: Vec<&str> = args.iter().take(2).map(String::as_str).collect();
    let given = given.join(" ").escape_debug().to_string();
    let why = match args.first().map(String::as_str) {
        Some("serve") => {
            "it starts a model, which needs vLLM itself; `drumfire serve --llm` starts a \
                          test server with the same API"
        }
        _ => "use `vllm bench serve`",
    };
    let text = format!("{PROGRAM}: `{given}` is not supported: {why}\n");
    LastWords::on_stderr(text, 2)
}
