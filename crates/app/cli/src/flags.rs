//! The command line. A flag that sets a key is made from the key's row ([`settings`]); any other
//! flag is a field with its help.

mod ab;
mod capacity;
mod cluster;
mod compare;
mod grpc;
mod http;
mod llm;
mod load;
mod number;
mod serve;
mod settings;
mod ui;
mod ws;

pub(crate) use ab::AbFlags;
pub(crate) use capacity::CapacityFlags;
pub(crate) use cluster::{
    AgentFlags, AttachFlags, ClusterAct, ClusterRunFlags, ClusterStatusFlags, FILES_BYTES_MAX,
    LocalAgentsChoice, LossChoice, NATS_VARIABLES, NatsFlags,
};
pub(crate) use compare::CompareFlags;
pub(crate) use grpc::GrpcFlags;
pub(crate) use http::HttpFlags;
pub(crate) use llm::LlmFlags;
pub(crate) use load::LoadFlags;
pub(crate) use serve::{ServeFlags, parsed};
pub(crate) use settings::{
    AttachSettings, GrpcSettings, HttpSettings, LlmFlagSettings, ReportSettings, ResumeSettings,
    RunSettings, SettingFlags, WsSettings, result_flags, with_choices,
};
pub(crate) use ui::UiFlags;
pub(crate) use ws::WsFlags;

use crate::schemas;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser, ValueParser};
use clap::{Arg, ArgAction, ArgGroup, Args, CommandFactory as _, Parser, Subcommand, ValueEnum};
use drumfire_dialects::Dialect;
use drumfire_document::form::Setting;
use drumfire_plan::ChangeKind;
use std::ffi::OsString;
use std::path::PathBuf;

/// The version, with the commit and its date if the build was given them (`tools/version.sh`). A
/// build script that queried git would recompile this crate after each commit.
pub(crate) const VERSION: &str = match option_env!("DRUMFIRE_VERSION") {
    Some(version) if !version.is_empty() => version,
    _ => env!("CARGO_PKG_VERSION"),
};

/// Load-test HTTP, gRPC, WebSocket and LLM services at an exact rate.
#[derive(Debug, Parser)]
#[command(name = "drumfire", version = VERSION, subcommand_required = true)]
#[command(after_help = "Examples:
  drumfire demo                                  ten seconds, explained
  drumfire http localhost:8080                   10 requests/s for 10 s
  drumfire http -r 500/s -z 1m localhost:8080    500 requests/s for a minute
  drumfire http -c 64 -z 30s localhost:8080      64 users, as fast as possible
`drumfire http -h` lists the most used flags, `drumfire http --help` lists all.

Exit codes: 0 done · 1 nothing measured, or every request failed ·
  2 usage error · 3 run not valid, or load not kept (--strict) · 4 stopped
  early, by Ctrl-C or ctl · 99 a threshold failed · 130 interrupted three times
Manual: docs/manual; `drumfire man DIR` writes man pages")]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The arguments of `drumfire ctl`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  drumfire ctl                        list the active runs
  drumfire ctl last rate 500/s        change the rate of the only active run
  drumfire ctl last mark 'deployed'   put a mark in its report")]
pub(crate) struct CtlFlags {
    /// The run: its name, a prefix of its name, its directory, or last. Without RUN, list all active
    /// runs; without ACT, show the run
    pub(crate) run: Option<String>,
    /// The command: rate LAW, users LAW, pause, resume, mark TEXT or stop
    #[arg(hide_possible_values = true, value_parser = acts())]
    pub(crate) act: Option<ChangeKind>,
    /// The rate or the number of users (a number or a law), or the text of the mark
    #[arg(allow_hyphen_values = true)]
    pub(crate) argument: Option<String>,
    /// Change only this pool
    #[arg(long, value_name = "NAME")]
    pub(crate) pool: Option<String>,
}

/// The acts of `drumfire ctl`, by their names.
fn acts() -> impl TypedValueParser<Value = ChangeKind> {
    let value = |kind: ChangeKind| {
        PossibleValue::new(kind.name()).help(match kind {
            ChangeKind::Rate => "Change the rate",
            ChangeKind::Users => "Change the number of users",
            ChangeKind::Pause => "Pause the load",
            ChangeKind::Resume => "Continue the load",
            ChangeKind::Mark => "Put a mark in the report",
            ChangeKind::Stop => "Stop the load",
        })
    };
    let names = PossibleValuesParser::new(ChangeKind::ALL.map(value));
    names.try_map(|name| ChangeKind::of_name(&name).ok_or("unknown command"))
}

/// The text after the flags of `drumfire capacity`.
const CAPACITY_EXAMPLES: &str = "Examples:
  drumfire capacity --slo 'p99<50ms' localhost:8080
  drumfire capacity --slo 'p99<50ms' --slo 'failed<0.1%' @urls.txt
  drumfire capacity --slo 'p95<200ms' --from 100 --max 5k plan.yaml
  drumfire capacity --slo 'p99<50ms' 'grpc --plaintext --call hello.Greeter/Hi localhost:8080'
  drumfire capacity --slo 'p99<50ms' --hold 10m localhost:8080
The rate doubles until an objective is missed. The load is then held at the
point where the objectives are just kept, and a rate just below it is confirmed.
Exit codes: 0 found, or --max keeps the objectives · 1 nothing measured, or
  every request failed · 2 usage error · 3 drumfire was the limit, or the rate
  was not confirmed · 4 stopped by Ctrl-C or ctl, with the result so far ·
  99 the first rate misses the objectives";

/// The command to run.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Load-test an HTTP service
    Http(Box<HttpFlags>),
    /// Load-test a gRPC service, or show its schema
    Grpc(Box<GrpcFlags>),
    /// Load-test a language model behind an API such as OpenAI's
    Llm(Box<LlmFlags>),
    /// Load-test a WebSocket
    Ws(Box<WsFlags>),
    /// Run a plan
    Run(Box<RunFlags>),
    /// Run one plan on several machines
    Cluster {
        #[command(subcommand)]
        act: ClusterAct,
    },
    /// Run a share of a plan for `drumfire cluster run`, over NATS
    Agent(AgentFlags),
    /// Control a running test: rate, users, pause, mark, stop
    Ctl(CtlFlags),
    /// Print the results of a stored run, complete or interrupted
    Report(ReportFlags),
    /// Compare stored runs: is the candidate worse, and by how much
    Compare(CompareFlags),
    /// Run two loads alternately and compare them: is B worse, and by how much
    Ab(AbFlags),
    /// Find the maximum rate that keeps objectives such as `p99<50ms`
    #[command(after_help = CAPACITY_EXAMPLES)]
    Capacity(Box<CapacityFlags>),
    /// List, tag, annotate and delete stored runs
    #[command(args_conflicts_with_subcommands = true)]
    Runs {
        #[command(flatten)]
        list: ListFlags,
        #[command(subcommand)]
        act: Option<RunsAct>,
    },
    /// Show stored runs in a browser, and control active ones
    Ui(UiFlags),
    /// Run the rest of a stored run's plan, and print the results of the whole run
    Resume(ResumeFlags),
    /// Validate a plan and draw its load profile
    Check(CheckFlags),
    /// Write a commented starter plan
    New(NewFlags),
    /// Convert curl, HAR, OpenAPI, Postman or access logs to a plan
    Import(ImportFlags),
    /// Print the JSON Schema of plans or results
    Schema {
        /// The format: plan, summary, interval, comparison, history, capacity, runs, info, event or
        /// cluster
        #[arg(
            value_name = "FORM",
            hide_possible_values = true,
            value_parser = PossibleValuesParser::new(schemas::names())
        )]
        form: String,
    },
    /// Start the built-in test server
    Serve(Box<ServeFlags>),
    /// Start a server, load-test it for 10 s, and explain the report
    Demo(DemoFlags),
    /// Print shell completions for bash, zsh or fish
    Completions {
        /// The shell
        #[arg(value_name = "SHELL")]
        shell: Shell,
    },
    /// Write man pages into a directory
    Man {
        /// An existing directory
        #[arg(value_name = "DIR")]
        folder: PathBuf,
    },
    /// Behave like ghz: same flags, same output
    #[command(name = "ghz", disable_help_flag = true)]
    Ghz {
        /// ghz's own command line
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<OsString>,
    },
    /// Behave like go-wrk: same flags, same output
    #[command(name = "go-wrk", disable_help_flag = true)]
    GoWrk {
        /// go-wrk's own command line
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<OsString>,
    },
    /// Run a k6 script, unchanged
    #[command(disable_help_flag = true)]
    K6 {
        /// k6's own command line
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<OsString>,
    },
    /// Behave like Pandora: same configuration files, same output
    #[command(disable_help_flag = true)]
    Pandora {
        /// Pandora's own command line
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<OsString>,
    },
    /// Behave like slow_cooker: same flags, same output
    #[command(name = "slow_cooker", disable_help_flag = true)]
    SlowCooker {
        /// slow_cooker's own command line
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<OsString>,
    },
    /// Behave like `vllm bench serve`: same flags, same output
    #[command(disable_help_flag = true)]
    Vllm {
        /// vLLM's own command line, from `bench serve` on
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<OsString>,
    },
}

/// When text carries colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorChoice {
    /// On a terminal, unless the environment decides otherwise.
    #[default]
    Auto,
    Always,
    Never,
}

/// A shell that completes our command lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Shell {
    Bash,
    Zsh,
    Fish,
}

/// Flags and arguments without a key that stay in `-h`, because a first-time user needs them.
const FIRST: [&str; 12] = [
    "slos", "from", "max", "hold", "confirm", "urls", "url", "target", "list", "replies", "show",
    "help",
];

/// The program with short help: commands with many flags list only the most important ones.
pub(crate) fn short_help() -> clap::Command {
    let mut cli = Cli::command();
    for name in ["http", "grpc", "llm", "ws", "capacity"] {
        cli = cli.mut_subcommand(name, |command| {
            let more = format!("All flags: drumfire {name} --help");
            command.after_help(more).mut_args(|arg| {
                let id = arg.get_id().as_str();
                let first = FIRST.contains(&id) || settings::is_first(id);
                let hidden = arg.is_hide_set();
                arg.hide(hidden || !first)
            })
        });
    }
    cli
}

/// The program with only the given command, if it is one of those that start most often. The result
/// parses a command line as the whole program does.
pub(crate) fn alone(command: &str) -> Option<clap::Command> {
    let command = match command {
        "check" => CheckFlags::augment_args(clap::Command::new("check")),
        "compare" => CompareFlags::augment_args(clap::Command::new("compare")),
        "ctl" => CtlFlags::augment_args(clap::Command::new("ctl")),
        "http" => HttpFlags::augment_args(clap::Command::new("http")),
        "grpc" => GrpcFlags::augment_args(clap::Command::new("grpc")),
        "llm" => LlmFlags::augment_args(clap::Command::new("llm")),
        "ws" => WsFlags::augment_args(clap::Command::new("ws")),
        "report" => ReportFlags::augment_args(clap::Command::new("report")),
        "run" => RunFlags::augment_args(clap::Command::new("run")),
        "serve" => ServeFlags::augment_args(clap::Command::new("serve")),
        name => other_tool(name)?,
    };
    Some(clap::Command::new("drumfire").subcommand(command))
}

/// The command of another tool, whose whole line is an argument.
fn other_tool(name: &str) -> Option<clap::Command> {
    let dialect = Dialect::ALL.iter().find(|dialect| dialect.name() == name)?;
    let args = Arg::new("args")
        .value_name("ARGS")
        .action(ArgAction::Append)
        .num_args(1..)
        .value_parser(ValueParser::os_string())
        .trailing_var_arg(true)
        .allow_hyphen_values(true);
    let command = clap::Command::new(dialect.name()).disable_help_flag(true);
    Some(command.arg(args))
}

/// The long flags of a command, and their aliases.
pub(crate) fn longs(command: &str) -> Vec<String> {
    let cli = alone(command).unwrap_or_else(Cli::command);
    let Some(command) = cli.find_subcommand(command) else {
        return Vec::new();
    };
    let names = command.get_arguments().flat_map(|arg| {
        let aliases = arg.get_all_aliases().unwrap_or_default();
        arg.get_long().into_iter().chain(aliases)
    });
    names.chain(["help"]).map(str::to_owned).collect()
}

/// The flags of a command that have a letter and a name.
pub(crate) fn spellings(command: &str) -> Vec<(char, String)> {
    let cli = Cli::command();
    let Some(command) = cli.find_subcommand(command) else {
        return Vec::new();
    };
    let both = |arg: &Arg| arg.get_short().zip(arg.get_long().map(str::to_owned));
    command.get_arguments().filter_map(both).collect()
}

/// Where a run is stored and how it is shown.
#[derive(Args, Debug)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputFlags {
    /// Store the run in this directory [default: a new one, listed by `drumfire runs`]
    #[arg(short = 'o', long, value_name = "DIR", conflicts_with = "show")]
    pub(crate) store: Option<PathBuf>,
    /// Don't store the run
    #[arg(long, conflicts_with = "store")]
    pub(crate) no_store: bool,
    /// Send one request, or one iteration of a scenario, and print the full exchange
    #[arg(long)]
    pub(crate) show: bool,
    /// When to use colour: auto (on a terminal, unless NO_COLOR is set), always or never [default:
    /// auto]
    #[arg(
        long,
        value_name = "WHEN",
        default_value = "auto",
        hide_default_value = true
    )]
    #[arg(hide_possible_values = true)]
    pub(crate) color: ColorChoice,
    /// Print help: the most used flags with -h, all flags with --help
    #[arg(short = 'h', long, action = ArgAction::Help)]
    pub(crate) help: Option<bool>,
}

/// Flags of `run`.
#[derive(Args, Debug)]
#[command(disable_help_flag = true)]
#[command(
    after_help = "Flags override the plan: -z, -n and --iterations replace the stop of every pool;
-r, -c, -u and other flags of a pool's load need a plan with only one pool;
--set sets any key, such as --set pools.buy.users=10 or --set defaults.timeout=2s"
)]
pub(crate) struct RunFlags {
    /// The plan: YAML, JSON, or TOML if the name ends in .toml; - reads it from stdin
    #[arg(value_name = "PLAN")]
    pub(crate) plan: String,
    /// Set a key of the plan, such as pools.buy.users=10; repeatable
    #[arg(long = "set", value_name = "PATH=VALUE", help_heading = "Plan")]
    pub(crate) settings: Vec<Setting>,
    #[command(flatten)]
    pub(crate) keys: RunSettings,
    #[command(flatten)]
    pub(crate) output: OutputFlags,
    /// Print the effective plan and exit
    #[arg(long, help_heading = "Output")]
    pub(crate) print_plan: bool,
    /// Print the facts of the run in the binary form of the store, for `drumfire ab`, and exit
    #[arg(long, hide = true, conflicts_with = "print_plan")]
    pub(crate) print_facts: bool,
}

/// Flags of `report`.
#[derive(Args, Debug)]
#[command(
    after_help = "A run is stored in the directory given with -o, or in one that `drumfire runs`
lists. The exit code is that of the run itself."
)]
pub(crate) struct ReportFlags {
    /// The run: its directory, its id, a prefix of its id, or last
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
    #[command(flatten)]
    pub(crate) settings: ReportSettings,
    /// When to use colour: auto, always or never
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    #[arg(hide_possible_values = true)]
    pub(crate) color: ColorChoice,
}

/// Flags of `resume`.
#[derive(Args, Debug)]
#[command(
    after_help = "The rest of the duration or of the number of requests is run; a law continues
where it stopped. The results cover all parts and note the gap between them.
Interval lines and metrics cover only the part that is run now."
)]
pub(crate) struct ResumeFlags {
    #[command(flatten)]
    pub(crate) report: ReportFlags,
    #[command(flatten)]
    pub(crate) settings: ResumeSettings,
}

/// The commands on stored runs.
#[derive(Debug, Subcommand)]
pub(crate) enum RunsAct {
    /// Tag a run; tagged runs are not pruned
    Tag {
        /// The run: its directory, its id, a prefix of its id, or last
        #[arg(value_name = "RUN")]
        run: String,
        /// The tags, one word each
        #[arg(value_name = "TAG", required = true)]
        tags: Vec<String>,
        /// Remove the tags
        #[arg(long)]
        remove: bool,
    },
    /// Write a note on a run, replacing the previous one
    Note {
        /// The run: its directory, its id, a prefix of its id, or last
        #[arg(value_name = "RUN")]
        run: String,
        /// The note
        #[arg(value_name = "TEXT")]
        text: String,
    },
    /// Delete runs
    Rm {
        /// The runs: directories or ids
        #[arg(value_name = "RUN", required = true)]
        runs: Vec<String>,
        /// Delete tagged runs, too
        #[arg(long)]
        tagged: bool,
    },
    /// List the untagged runs that match a rule, or delete them
    Prune(PruneFlags),
}

/// Flags of `runs` without a command.
#[derive(Args, Debug)]
pub(crate) struct ListFlags {
    /// Show the trend of one plan's runs, and when it changed. PLAN is a plan file, or one of its
    /// runs: its name, its directory, or last [default: last]
    #[arg(long, value_name = "PLAN", num_args = 0..=1, default_missing_value = "last")]
    pub(crate) trend: Option<String>,
    /// List only the newest N [default: as many as fit the terminal; all without one]
    #[arg(long, value_name = "N", value_parser = number::count)]
    pub(crate) limit: Option<u64>,
    /// Write JSON to standard output, or to FILE
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    pub(crate) json: Option<PathBuf>,
}

/// Flags of `runs prune`.
#[derive(Args, Debug)]
#[command(group = ArgGroup::new("rule").required(true).multiple(true).args(["older_than", "keep"]))]
pub(crate) struct PruneFlags {
    /// Runs that started longer ago than this, such as 30d
    #[arg(long, value_name = "TIME")]
    pub(crate) older_than: Option<String>,
    /// All runs but the newest N
    #[arg(long, value_name = "N", value_parser = number::count)]
    pub(crate) keep: Option<u64>,
    /// Delete the runs instead of listing them
    #[arg(long)]
    pub(crate) yes: bool,
}

/// The form of a text that is imported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ImportForm {
    Curl,
    Har,
    Openapi,
    Postman,
    AccessLog,
}

/// Flags of `import`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  drumfire import curl \"curl -H 'Accept: */*' https://shop.test/\" > plan.yaml
  drumfire import har shop.har --pauses > plan.yaml
  drumfire import openapi shop.yaml --target http://localhost:8080 > plan.yaml
Anything that a plan cannot express is noted on standard error.")]
pub(crate) struct ImportFlags {
    /// The format: curl, har, openapi, postman or access-log
    #[arg(value_name = "FORM", hide_possible_values = true)]
    pub(crate) form: ImportForm,
    /// The file; - reads stdin; for curl, the command line as one argument
    #[arg(value_name = "FILE")]
    pub(crate) file: String,
    /// Send requests to URL instead of the file's host
    #[arg(long, value_name = "URL")]
    pub(crate) target: Option<String>,
    /// Keep the pauses between the requests of a HAR file
    #[arg(long)]
    pub(crate) pauses: bool,
    /// Keep HAR requests to all hosts, not only to the first one's, and OpenAPI operations that are
    /// deprecated or not read-only
    #[arg(long)]
    pub(crate) all: bool,
}

/// Flags of `new`.
#[derive(Args, Debug)]
pub(crate) struct NewFlags {
    /// The file to write [default: stdout]
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<String>,
    /// Overwrite an existing file
    #[arg(long)]
    pub(crate) force: bool,
}

/// Flags of `check`.
#[derive(Args, Debug)]
#[command(
    after_help = "Nothing is sent, except to fetch the schema of gRPC calls that come without one.
Exit codes: 0 the plan can run · 1 a server did not answer · 2 invalid plan"
)]
pub(crate) struct CheckFlags {
    /// The plan: YAML, JSON, or TOML if the name ends in .toml; - reads it from stdin
    #[arg(value_name = "PLAN")]
    pub(crate) plan: String,
    /// Set a key of the plan, such as pools.buy.users=10; repeatable
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub(crate) settings: Vec<Setting>,
    /// Print only errors
    #[arg(short = 'q', long)]
    pub(crate) quiet: bool,
    /// When to use colour: auto, always or never
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    #[arg(hide_possible_values = true)]
    pub(crate) color: ColorChoice,
}

/// Flags of `demo`.
#[derive(Args, Debug)]
pub(crate) struct DemoFlags {
    /// Length of the load
    #[arg(short = 'z', long, default_value = "10s", value_name = "TIME")]
    pub(crate) duration: String,
    /// The rate, or a rate law
    #[arg(short = 'r', long, default_value = "500/s", value_name = "RATE")]
    pub(crate) rate: String,
    /// Compare the run with this one: its id, last, tag:NAME, its directory, or a --json file
    #[arg(long, value_name = "RUN")]
    pub(crate) baseline: Option<String>,
    /// Show the run on the whole screen, as one line, or not: screen, line or none
    #[arg(long, value_name = "FORM", conflicts_with = "no_tui")]
    pub(crate) live: Option<String>,
    /// Disable the live display, as --live none
    #[arg(long)]
    pub(crate) no_tui: bool,
    /// Keep the screen after the end of the run until `q` is pressed
    #[arg(long)]
    pub(crate) stay: bool,
    /// When to use colour: auto, always or never
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    #[arg(hide_possible_values = true)]
    pub(crate) color: ColorChoice,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_flags_of_a_load() {
        for command in ["http", "grpc", "llm", "run"] {
            let longs = longs(command);
            let is_flag = |flag: &&str| longs.iter().any(|long| flag[2..] == **long);
            assert!(result_flags().all(|flag| is_flag(&flag)), "{command}");
        }
    }

    #[test]
    fn a_command_alone_has_the_arguments_that_it_has_in_the_program() {
        let mut whole = Cli::command();
        whole.build();
        let tools = Dialect::ALL.iter().map(|dialect| dialect.name());
        let own = [
            "check", "compare", "ctl", "grpc", "http", "llm", "report", "run", "serve", "ws",
        ];
        for name in own.into_iter().chain(tools) {
            let mut cli = alone(name).unwrap();
            cli.build();
            // How an argument is parsed, and its texts, which nobody sees of another tool's line.
            let shown = |arg: &Arg| match own.contains(&name) {
                true => format!("{arg:?}"),
                false => format!("{:?}", arg.clone().help(None::<&str>)),
            };
            let args = |cli: &clap::Command| -> Vec<String> {
                let command = cli.find_subcommand(name).unwrap();
                command.get_arguments().map(shown).collect()
            };
            assert_eq!(args(&cli), args(&whole));
        }
    }
}
