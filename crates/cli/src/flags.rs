//! The command line: one field a flag, its help beside it.

mod ab;
mod capacity;
mod cluster;
mod compare;
mod data;
mod files;
mod grpc;
mod http;
mod intervals;
mod metering;
mod number;
mod serve;
mod ui;

pub(crate) use ab::AbFlags;
pub(crate) use capacity::CapacityFlags;
pub(crate) use cluster::{
    AgentFlags, AttachFlags, ClusterAct, ClusterRunFlags, ClusterStatusFlags, FILES_BYTES_MAX,
    LocalAgentsChoice, LossChoice, NatsFlags,
};
pub(crate) use compare::CompareFlags;
pub(crate) use data::DataFlags;
pub(crate) use files::{FileFlags, RESULTS};
pub(crate) use grpc::GrpcFlags;
pub(crate) use http::{HttpFlags, LoadFlags, OutputFlags, TransportFlags};
pub(crate) use intervals::IntervalFlags;
pub(crate) use metering::MeteringFlags;
pub(crate) use serve::ServeFlags;
pub(crate) use ui::UiFlags;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, ArgGroup, Args, CommandFactory as _, Parser, Subcommand, ValueEnum};
use drumfire_document::form::Setting;
use drumfire_plan::ChangeKind;
use std::ffi::OsString;
use std::path::PathBuf;

/// The version, with the commit and its date where the build was given them (`tools/version.sh`). A
/// build script that asked git would compile this crate anew after each commit.
const VERSION: &str = match option_env!("DRUMFIRE_VERSION") {
    Some(version) if !version.is_empty() => version,
    _ => env!("CARGO_PKG_VERSION"),
};

/// Puts an exact load on an HTTP or gRPC service, and says how the service did.
#[derive(Debug, Parser)]
#[command(name = "drumfire", version = VERSION, subcommand_required = true)]
#[command(after_help = "Examples:
  drumfire demo                                  ten seconds, and how to read it
  drumfire http localhost:8080                   10 requests/s for 10 s
  drumfire http -r 500/s -z 1m localhost:8080    500 requests/s for a minute
  drumfire http -c 64 -z 30s localhost:8080      64 users, as fast as they can
`drumfire http -h` has the flags that are used most, `drumfire http --help` all.

Exit codes: 0 done · 1 nothing measured, or every request failed ·
  2 usage · 3 not valid or load not kept (--strict) · 4 ended before its plan,
  by Ctrl-C or ctl · 99 a threshold failed · 130 interrupted three times
Manual: docs/manual, and `drumfire man DIR` for pages of man(1)")]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The arguments of `drumfire ctl`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  drumfire ctl                        the runs that go on
  drumfire ctl last rate 500/s        another rate for the one that began last
  drumfire ctl last mark 'deployed'   a note in its report")]
pub(crate) struct CtlFlags {
    /// The run: its name or the beginning of one, its directory, or last; without it, all are listed,
    /// and alone it is shown
    pub(crate) run: Option<String>,
    /// What to do: rate LAW, users LAW, pause, resume, mark TEXT or stop
    #[arg(hide_possible_values = true, value_parser = acts())]
    pub(crate) act: Option<ChangeKind>,
    /// The rate or the number of users, a law of either, or the text of a mark
    #[arg(allow_hyphen_values = true)]
    pub(crate) argument: Option<String>,
    /// The pool that changes, in place of all
    #[arg(long, value_name = "NAME")]
    pub(crate) pool: Option<String>,
}

/// The acts of `drumfire ctl`, by their names.
fn acts() -> impl TypedValueParser<Value = ChangeKind> {
    let value = |kind: ChangeKind| {
        PossibleValue::new(kind.name()).help(match kind {
            ChangeKind::Rate => "The load follows another rate",
            ChangeKind::Users => "Another number of users",
            ChangeKind::Pause => "Nothing becomes due",
            ChangeKind::Resume => "The load goes on where it stood",
            ChangeKind::Mark => "A note in the report",
            ChangeKind::Stop => "The load ends",
        })
    };
    let names = PossibleValuesParser::new(ChangeKind::ALL.map(value));
    names.try_map(|name| ChangeKind::of_name(&name).ok_or("no act has this name"))
}

/// What stands behind the flags of `drumfire capacity`.
const CAPACITY_EXAMPLES: &str = "Examples:
  drumfire capacity --slo 'p99<50ms' localhost:8080
  drumfire capacity --slo 'p99<50ms' --slo 'failed<0.1%' @urls.txt
  drumfire capacity --slo 'p95<200ms' --from 100 --max 5k plan.yaml
  drumfire capacity --slo 'p99<50ms' 'grpc --plaintext --call hello.Greeter/Hi localhost:8080'
  drumfire capacity --slo 'p99<50ms' --hold 10m localhost:8080
The rate doubles until an objective is missed; the load is then held where it is
just kept, and a rate just below is confirmed.
Exit codes: 0 found, or --max keeps them · 1 nothing measured, or every request
  failed · 2 usage · 3 no answer since the generator was the limit, or not
  confirmed · 4 ended by Ctrl-C or ctl, with what was known by then ·
  99 the first rate misses them";

/// The command to run.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Send HTTP requests and measure the responses
    Http(Box<HttpFlags>),
    /// Make gRPC calls and measure them, or show a server's schema
    Grpc(Box<GrpcFlags>),
    /// Run a plan that was written down, by a person or by --print-plan
    Run(Box<RunFlags>),
    /// Run a plan on several machines, as one run
    Cluster {
        #[command(subcommand)]
        act: ClusterAct,
    },
    /// Run a share of a plan for `drumfire cluster run`, as it comes over NATS
    Agent(AgentFlags),
    /// Change a run that goes on: its rate, its users, a pause, a mark, its end
    Ctl(CtlFlags),
    /// Print the results of a stored run, whole or cut off, as the run itself did
    Report(ReportFlags),
    /// Say whether runs are worse than others, and by how much
    Compare(CompareFlags),
    /// Run two loads in turn, and say whether the second is worse, and by how much
    Ab(AbFlags),
    /// Find the greatest rate that keeps objectives such as `p99<50ms`
    #[command(after_help = CAPACITY_EXAMPLES)]
    Capacity(Box<CapacityFlags>),
    /// List the stored runs, tag them, write notes on them, delete them
    #[command(args_conflicts_with_subcommands = true)]
    Runs {
        #[command(flatten)]
        list: ListFlags,
        #[command(subcommand)]
        act: Option<RunsAct>,
    },
    /// Show the stored runs in a browser, and command those that go on
    Ui(UiFlags),
    /// Go on with the rest of a stored run's plan, and print the results of the whole
    Resume(ResumeFlags),
    /// Say everything that is wrong with a plan, or draw the load that it makes
    Check(CheckFlags),
    /// Write a commented plan to begin with
    New(NewFlags),
    /// Print a plan for what others wrote or recorded: curl, HAR, OpenAPI, Postman, access logs
    Import(ImportFlags),
    /// Print the JSON Schema of plans, or of results
    Schema {
        /// The form: plan, summary, interval, comparison or history
        #[arg(value_name = "FORM", hide_possible_values = true)]
        contract: Contract,
    },
    /// Start the built-in server to fire at
    Serve(Box<ServeFlags>),
    /// Start a server, run a load against it for 10 s, and explain the report
    Demo(DemoFlags),
    /// Print the completions of a shell: bash, zsh or fish
    Completions {
        /// The shell
        #[arg(value_name = "SHELL")]
        shell: Shell,
    },
    /// Write man pages into a folder
    Man {
        /// The folder, which must exist
        #[arg(value_name = "DIR")]
        folder: PathBuf,
    },
    /// Behave as ghz, with its flags and its output
    #[command(name = "ghz", disable_help_flag = true)]
    Ghz {
        /// ghz's own command line
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<OsString>,
    },
    /// Behave as go-wrk, with its flags and its output
    #[command(name = "go-wrk", disable_help_flag = true)]
    GoWrk {
        /// go-wrk's own command line
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<OsString>,
    },
    /// Behave as Pandora, with its configuration files and its output
    #[command(disable_help_flag = true)]
    Pandora {
        /// Pandora's own command line
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<OsString>,
    },
    /// Behave as slow_cooker, with its flags and its output
    #[command(name = "slow_cooker", disable_help_flag = true)]
    SlowCooker {
        /// slow_cooker's own command line
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<OsString>,
    },
}

/// When text carries colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorChoice {
    /// On a terminal, unless the environment says otherwise.
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

/// Flags that stay in `-h`: those of a first day.
const FIRST: [&str; 27] = [
    "slos",
    "from",
    "max",
    "hold",
    "confirm",
    "urls",
    "method",
    "headers",
    "data",
    "http2",
    "rate",
    "connections",
    "users",
    "duration",
    "requests",
    "timeout",
    "insecure",
    "json",
    "threshold",
    "target",
    "plaintext",
    "list",
    "call",
    "proto",
    "explain",
    "show",
    "help",
];

/// The program, with the flags of a first day alone in the help of commands that have many.
pub(crate) fn short_help() -> clap::Command {
    let mut cli = Cli::command();
    for name in ["http", "grpc", "capacity"] {
        cli = cli.mut_subcommand(name, |command| {
            let more = format!("All flags: drumfire {name} --help");
            command.after_help(more).mut_args(|arg| {
                let first = FIRST.contains(&arg.get_id().as_str());
                let hidden = arg.is_hide_set();
                arg.hide(hidden || !first)
            })
        });
    }
    cli
}

/// The program with the one command that is named, where it is one that puts a load on a server:
/// what it parses, the whole program parses alike.
pub(crate) fn alone(command: &str) -> Option<clap::Command> {
    let command = match command {
        "http" => HttpFlags::augment_args(clap::Command::new("http")),
        "grpc" => GrpcFlags::augment_args(clap::Command::new("grpc")),
        "run" => RunFlags::augment_args(clap::Command::new("run")),
        _ => return None,
    };
    Some(clap::Command::new("drumfire").subcommand(command))
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

/// Flags of `run`.
#[derive(Args, Debug)]
#[command(disable_help_flag = true)]
#[command(
    after_help = "Flags stand above what the plan says: -z, -n and --iterations in the place of the
stop of every pool; -r, -c, -u and others of a pool's load where there is one pool;
--set reaches every key, as --set pools.buy.users=10 or --set defaults.timeout=2s"
)]
pub(crate) struct RunFlags {
    /// The plan as YAML or JSON, or as TOML by the end of its name; - reads it from stdin
    #[arg(value_name = "PLAN")]
    pub(crate) plan: String,
    /// Send files of requests with their own timing, this much faster, as 2
    #[arg(long, value_name = "FACTOR")]
    pub(crate) speed: Option<String>,
    /// Set a key of the plan, such as pools.buy.users=10; may be given several times
    #[arg(long = "set", value_name = "PATH=VALUE", help_heading = "Plan")]
    pub(crate) settings: Vec<Setting>,
    #[command(flatten)]
    pub(crate) load: LoadFlags,
    #[command(flatten)]
    pub(crate) output: OutputFlags,
    /// Print the plan as it would be run, and end
    #[arg(long, help_heading = "Output")]
    pub(crate) print_plan: bool,
}

/// Flags of `report`.
#[derive(Args, Debug)]
#[command(
    after_help = "A run is stored in the directory that -o names, or else in one that `drumfire runs` lists.
Exit codes are those of the run itself."
)]
pub(crate) struct ReportFlags {
    /// The run: its directory, its id or the beginning of one, or last
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
    #[command(flatten)]
    pub(crate) files: FileFlags,
    #[command(flatten)]
    pub(crate) intervals: IntervalFlags,
    /// Explain each part of the summary
    #[arg(long)]
    pub(crate) explain: bool,
    /// Print the summary as one line
    #[arg(long, conflicts_with = "explain")]
    pub(crate) brief: bool,
    /// Exit with 3 unless the run is valid and its load was kept
    #[arg(long)]
    pub(crate) strict: bool,
    /// When the text has colour: auto, always or never
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    #[arg(hide_possible_values = true)]
    pub(crate) color: ColorChoice,
}

/// Flags of `resume`.
#[derive(Args, Debug)]
#[command(
    after_help = "What is left is that of the duration and of the number of requests; a law goes on where it was.
The results are those of all parts together, and the gap between them is noted; lines of
intervals and metrics are those of the part that is run."
)]
pub(crate) struct ResumeFlags {
    #[command(flatten)]
    pub(crate) report: ReportFlags,
    #[command(flatten)]
    pub(crate) metering: MeteringFlags,
    /// No live display
    #[arg(long)]
    pub(crate) no_tui: bool,
    /// In GitHub Actions, no summary on the job's page and no annotations
    #[arg(long)]
    pub(crate) no_github: bool,
    /// Print nothing but the result
    #[arg(short = 'q', long)]
    pub(crate) quiet: bool,
}

/// What is done to stored runs.
#[derive(Debug, Subcommand)]
pub(crate) enum RunsAct {
    /// Give a run tags; one with a tag is not pruned
    Tag {
        /// The run: its directory, its id or the beginning of one, or last
        #[arg(value_name = "RUN")]
        run: String,
        /// The tags, a word each
        #[arg(value_name = "TAG", required = true)]
        tags: Vec<String>,
        /// Take them away
        #[arg(long)]
        remove: bool,
    },
    /// Write a note on a run, in the place of the one before
    Note {
        /// The run: its directory, its id or the beginning of one, or last
        #[arg(value_name = "RUN")]
        run: String,
        /// The note
        #[arg(value_name = "TEXT")]
        text: String,
    },
    /// Delete runs
    Rm {
        /// The runs: their directories or ids
        #[arg(value_name = "RUN", required = true)]
        runs: Vec<String>,
        /// Also those with a tag
        #[arg(long)]
        tagged: bool,
    },
    /// Name the runs without a tag that a rule finds, or delete them
    Prune(PruneFlags),
}

/// Flags of `runs` without a command.
#[derive(Args, Debug)]
pub(crate) struct ListFlags {
    /// Show how the runs of one plan went, and what changed: PLAN is a file, or a run of it: its
    /// name, its directory, or last [default: last]
    #[arg(long, value_name = "PLAN", num_args = 0..=1, default_missing_value = "last")]
    pub(crate) trend: Option<String>,
    /// Only the newest N [default: as many as the terminal shows, all elsewhere]
    #[arg(long, value_name = "N", value_parser = number::count)]
    pub(crate) limit: Option<u64>,
    /// As JSON, to standard output or into a file
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    pub(crate) json: Option<PathBuf>,
}

/// Flags of `runs prune`.
#[derive(Args, Debug)]
#[command(group = ArgGroup::new("rule").required(true).multiple(true).args(["older_than", "keep"]))]
pub(crate) struct PruneFlags {
    /// Those that began longer ago than this, such as 30d
    #[arg(long, value_name = "TIME")]
    pub(crate) older_than: Option<String>,
    /// All but the newest N
    #[arg(long, value_name = "N", value_parser = number::count)]
    pub(crate) keep: Option<u64>,
    /// Delete them
    #[arg(long)]
    pub(crate) yes: bool,
}

/// A form that others read or write, with a JSON Schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Contract {
    Plan,
    Summary,
    Interval,
    Comparison,
    History,
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
What a plan can't say is a note on standard error.")]
pub(crate) struct ImportFlags {
    /// The form: curl, har, openapi, postman or access-log
    #[arg(value_name = "FORM", hide_possible_values = true)]
    pub(crate) form: ImportForm,
    /// The file; - reads stdin; of curl, the command line itself as one argument
    #[arg(value_name = "FILE")]
    pub(crate) file: String,
    /// Where requests go, in place of what the file says
    #[arg(long, value_name = "URL")]
    pub(crate) target: Option<String>,
    /// Keep the pauses between the requests of a HAR file
    #[arg(long)]
    pub(crate) pauses: bool,
    /// Keep the requests of a HAR file to other hosts than the first one's, and operations of OpenAPI
    /// that are deprecated or change something
    #[arg(long)]
    pub(crate) all: bool,
}

/// Flags of `new`.
#[derive(Args, Debug)]
pub(crate) struct NewFlags {
    /// The file to write [default: stdout]
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<String>,
    /// Replace a file that is there already
    #[arg(long)]
    pub(crate) force: bool,
}

/// Flags of `check`.
#[derive(Args, Debug)]
#[command(
    after_help = "Nothing is sent, except that a server is asked for the schema of calls that
come without one. Exit codes: 0 the plan can be run, 1 a server did not answer, 2 it is wrong"
)]
pub(crate) struct CheckFlags {
    /// The plan as YAML or JSON, or as TOML by the end of its name; - reads it from stdin
    #[arg(value_name = "PLAN")]
    pub(crate) plan: String,
    /// Set a key of the plan, such as pools.buy.users=10; may be given several times
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub(crate) settings: Vec<Setting>,
    /// Say only what is wrong
    #[arg(short = 'q', long)]
    pub(crate) quiet: bool,
    /// When the text has colour: auto, always or never
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    #[arg(hide_possible_values = true)]
    pub(crate) color: ColorChoice,
}

/// Flags of `demo`.
#[derive(Args, Debug)]
pub(crate) struct DemoFlags {
    /// How long the load lasts
    #[arg(short = 'z', long, default_value = "10s", value_name = "TIME")]
    pub(crate) duration: String,
    /// The rate, or a rate law
    #[arg(short = 'r', long, default_value = "500/s", value_name = "RATE")]
    pub(crate) rate: String,
    /// Compare the run with this one: its id, last, tag:NAME, its directory, or a file of its --json
    #[arg(long, value_name = "RUN")]
    pub(crate) baseline: Option<String>,
    /// No live display
    #[arg(long)]
    pub(crate) no_tui: bool,
    /// When the text has colour: auto, always or never
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    #[arg(hide_possible_values = true)]
    pub(crate) color: ColorChoice,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_flags_of_a_load() {
        for command in ["http", "grpc", "run"] {
            let longs = longs(command);
            let is_flag = |flag: &&str| longs.iter().any(|long| flag[2..] == **long);
            assert!(RESULTS.iter().all(is_flag), "{command}");
        }
    }

    #[test]
    fn a_command_alone_has_the_arguments_that_it_has_in_the_program() {
        let mut whole = Cli::command();
        whole.build();
        for name in ["http", "grpc", "run"] {
            let mut cli = alone(name).unwrap();
            cli.build();
            // How an argument is parsed, and its words.
            let args = |cli: &clap::Command| -> Vec<String> {
                let command = cli.find_subcommand(name).unwrap();
                command.get_arguments().map(|a| format!("{a:?}")).collect()
            };
            assert_eq!(args(&cli), args(&whole));
        }
    }
}
