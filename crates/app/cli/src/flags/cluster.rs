//! The flags of agents and of runs on several machines.

use super::{AttachSettings, OutputFlags, RunFlags, number};
use clap::{ArgGroup, Args, Subcommand, ValueEnum};
use drumfire_plan::Url;
use drumfire_units::ByteSize;
use std::net::IpAddr;
use std::path::PathBuf;
use std::str::FromStr;

/// The maximum length of an agent's name in bytes; further agents of its process append a number.
const AGENT_NAME_MAX: usize = 200;

/// The default maximum size of a plan's files on an agent, in bytes.
pub(crate) const FILES_BYTES_MAX: u64 = 1 << 30;

/// The prefix of variables with NATS credentials, which no plan may read.
pub(crate) const NATS_VARIABLES: &str = "NATS_";

/// The NATS server and its credentials.
#[derive(Args, Clone, Debug)]
pub(crate) struct NatsFlags {
    /// NATS credentials file, with a user's token and key
    #[arg(long, value_name = "FILE", help_heading = "Cluster")]
    pub(crate) creds: Option<PathBuf>,
    /// File with the seed of a NATS user's key. To use a name and a password, set NATS_USER and
    /// NATS_PASSWORD in the environment
    #[arg(long, value_name = "FILE", help_heading = "Cluster")]
    #[arg(conflicts_with = "creds")]
    pub(crate) nkey: Option<PathBuf>,
    /// CA certificate for NATS, in PEM; requires TLS
    #[arg(long, value_name = "FILE", help_heading = "Cluster")]
    pub(crate) nats_cacert: Option<PathBuf>,
    /// Client certificate for NATS, in PEM
    #[arg(long, value_name = "FILE", help_heading = "Cluster")]
    #[arg(requires = "nats_key")]
    pub(crate) nats_cert: Option<PathBuf>,
    /// Private key of --nats-cert
    #[arg(long, value_name = "FILE", help_heading = "Cluster")]
    #[arg(requires = "nats_cert")]
    pub(crate) nats_key: Option<PathBuf>,
    /// Group of agents, a part of each NATS subject: drumfire.GROUP.*
    #[arg(
        long,
        value_name = "GROUP",
        default_value = "default",
        help_heading = "Cluster"
    )]
    #[arg(value_parser = group)]
    pub(crate) group: String,
}

/// A group's name: one token of a NATS subject.
fn group(text: &str) -> Result<String, String> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    match !text.is_empty() && text.chars().all(is_word) {
        true => Ok(text.to_owned()),
        false => Err("use a word of letters, digits, - and _".to_owned()),
    }
}

/// The name of an agent.
fn agent_name(text: &str) -> Result<String, String> {
    match text.len() {
        1..=AGENT_NAME_MAX => Ok(text.to_owned()),
        _ => Err(format!("use a name of 1 to {AGENT_NAME_MAX} bytes")),
    }
}

/// The name of a variable that plans may read.
fn variable(text: &str) -> Result<String, String> {
    if text.starts_with(NATS_VARIABLES) {
        return Err("plans never read variables of the way to NATS; leave it out".to_owned());
    }
    match text.is_empty() || text.contains(['=', '\0', '$']) {
        true => Err("use the name of a variable such as TOKEN, or * for any".to_owned()),
        false => Ok(text.to_owned()),
    }
}

/// A host that plans may load, with or without a port. An entry that no target can equal would
/// permit nothing.
fn permitted(text: &str) -> Result<String, String> {
    let is_bare = !text.contains(['/', '?', '#', '@', '*']);
    let is_host = || Url::parse(&format!("http://{text}/")).is_ok();
    match text == "*" || is_bare && is_host() {
        true => Ok(text.to_owned()),
        false => Err(
            "use a host such as shop.test, 10.0.0.7 or [::1], with a port to allow only that port, \
             or * for any host"
                .to_owned(),
        ),
    }
}

/// Flags of `agent`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  drumfire agent --nats nats://10.0.0.5:4222 --allow shop.test:443
  drumfire agent --nats tls://nats.test --creds agent.creds --allow 10.0.0.7
An agent runs one share of one run, then exits: with 0 if the coordinator has
stored all of it. The agent itself looks up the secrets and variables of a plan.")]
pub(crate) struct AgentFlags {
    /// NATS server, such as nats://127.0.0.1:4222
    #[arg(long, value_name = "URL", help_heading = "Cluster")]
    pub(crate) nats: String,
    #[command(flatten)]
    pub(crate) way: NatsFlags,
    /// Host that plans may load, with a port to allow only that port; * allows any host; repeatable
    /// [default: this machine only]
    #[arg(long, value_name = "HOST[:PORT]", help_heading = "Cluster")]
    #[arg(value_parser = permitted)]
    pub(crate) allow: Vec<String>,
    /// Local address to send from, instead of the plan's; repeatable
    #[arg(long, value_name = "ADDRESS", help_heading = "Cluster")]
    pub(crate) source: Vec<IpAddr>,
    /// Directory of this agent's secrets: the files of ${secret:file:PATH} and of private keys in
    /// plans, which never leave this machine
    #[arg(long, value_name = "DIR", help_heading = "Cluster")]
    pub(crate) secrets: Option<PathBuf>,
    /// Environment variable that plans may read with ${env:NAME} and ${secret:env:NAME}; * allows
    /// any, but none that begins with NATS_; repeatable [default: none]
    #[arg(long, value_name = "NAME", help_heading = "Cluster")]
    #[arg(value_parser = variable)]
    pub(crate) env: Vec<String>,
    /// Maximum size of all files of a plan [default: 1GiB]
    #[arg(long, value_name = "SIZE", help_heading = "Cluster")]
    pub(crate) files_max: Option<ByteSize>,
    /// Name of this agent, which must be unique [default: from the machine and the process]
    #[arg(long, value_name = "NAME", value_parser = agent_name, help_heading = "Cluster")]
    pub(crate) name: Option<String>,
    /// Keep the record of the share in this directory, even if the coordinator has stored it
    #[arg(long, value_name = "DIR", help_heading = "Cluster")]
    pub(crate) keep: Option<PathBuf>,
}

/// The commands for runs on several machines.
#[derive(Debug, Subcommand)]
pub(crate) enum ClusterAct {
    /// Run a plan on agents, as one run
    Run(Box<ClusterRunFlags>),
    /// Continue a run whose coordinator died, from its journal
    Attach(Box<AttachFlags>),
    /// Show active runs and their agents
    Status(ClusterStatusFlags),
}

/// Flags of `cluster status`.
#[derive(Args, Debug)]
pub(crate) struct ClusterStatusFlags {
    /// The run: its name or a prefix of it [default: all runs of the group]
    #[arg(value_name = "RUN")]
    pub(crate) run: Option<String>,
    /// NATS server, such as nats://127.0.0.1:4222
    #[arg(long, value_name = "URL", help_heading = "Cluster")]
    pub(crate) nats: String,
    #[command(flatten)]
    pub(crate) way: NatsFlags,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Flags of `cluster attach`.
#[derive(Args, Debug)]
#[command(disable_help_flag = true)]
#[command(
    after_help = "Agents continue if their lease of 3 s has not expired; from other agents, the
data sent so far is used. Results go where the run was to write them; flags add
more."
)]
pub(crate) struct AttachFlags {
    /// The run: its name, a prefix of it, or last
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
    /// NATS server, if it is not the one that the run had
    #[arg(long, value_name = "URL", help_heading = "Cluster")]
    pub(crate) nats: Option<String>,
    #[command(flatten)]
    pub(crate) way: NatsFlags,
    /// Take over the run even if its coordinator's process still exists, such as when it hangs
    #[arg(long, help_heading = "Cluster")]
    pub(crate) take_over: bool,
    #[command(flatten)]
    pub(crate) settings: AttachSettings,
    #[command(flatten)]
    pub(crate) output: OutputFlags,
}

/// The maximum number of local agents, which share this machine's cores.
const LOCAL_MAX: u64 = 256;

/// Parses the number of agents.
fn agents(text: &str) -> Result<u64, String> {
    match number::count(text)? {
        0 => Err("a run needs at least 1 agent".to_owned()),
        count => Ok(count),
    }
}

/// The agents on this machine.
#[derive(Clone, Debug)]
pub(crate) enum LocalAgentsChoice {
    /// This number of agents.
    Count(u64),
    /// One agent per address, which sends from it.
    Addresses(Vec<IpAddr>),
}

impl LocalAgentsChoice {
    /// The number of agents.
    pub(crate) fn count(&self) -> u64 {
        match self {
            Self::Count(count) => *count,
            Self::Addresses(addresses) => addresses.len() as u64,
        }
    }
}

impl FromStr for LocalAgentsChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if !text.contains(['.', ':']) {
            return match agents(text)? {
                count if count > LOCAL_MAX => Err(format!(
                    "{count} agents are too many for one machine; use at most {LOCAL_MAX}"
                )),
                count => Ok(Self::Count(count)),
            };
        }
        let address = |text: &str| {
            let shown = text.escape_debug();
            let wrong =
                |_| format!("invalid address `{shown}`; use a list such as 127.0.0.2,127.0.0.3");
            text.trim().parse().map_err(wrong)
        };
        let addresses: Result<Vec<IpAddr>, String> = text.split(',').map(address).collect();
        addresses.map(Self::Addresses)
    }
}

/// The effect of a lost agent on the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum LossChoice {
    /// Continue without the agent's share.
    #[default]
    Drop,
    /// Stop the load.
    Abort,
    /// Give the agent's share to the others, from a later time.
    Redistribute,
}

/// Flags of `cluster run`.
#[derive(Args, Debug)]
#[command(disable_help_flag = true)]
#[command(group = ArgGroup::new("where").required(true).args(["nats", "local"]))]
#[command(
    after_help = "The flags of `drumfire run` work here, too. Start agents with `drumfire agent`,
or use --local N to start N of them here, with a nats-server from the PATH that
stops with the run."
)]
pub(crate) struct ClusterRunFlags {
    #[command(flatten)]
    pub(crate) run: RunFlags,
    /// NATS server, such as nats://127.0.0.1:4222
    #[arg(
        long,
        value_name = "URL",
        requires = "agents",
        help_heading = "Cluster"
    )]
    pub(crate) nats: Option<String>,
    #[command(flatten)]
    pub(crate) way: NatsFlags,
    /// Number of agents to divide the load among
    #[arg(long, value_name = "N", value_parser = agents, help_heading = "Cluster")]
    #[arg(conflicts_with = "local")]
    pub(crate) agents: Option<u64>,
    /// Start N agents here, and a nats-server; a list of local addresses such as
    /// 127.0.0.2,127.0.0.3 starts one agent per address, which sends from it
    #[arg(long, value_name = "N", help_heading = "Cluster")]
    pub(crate) local: Option<LocalAgentsChoice>,
    /// How long to wait for agents, such as 30s
    #[arg(
        long,
        value_name = "TIME",
        default_value = "30s",
        help_heading = "Cluster"
    )]
    pub(crate) wait: String,
    /// If an agent is lost: drop its share, abort the run, or redistribute its share
    #[arg(
        long,
        value_name = "WHAT",
        default_value = "drop",
        help_heading = "Cluster"
    )]
    #[arg(hide_possible_values = true)]
    pub(crate) on_loss: LossChoice,
    /// Keep the records of local agents in this directory
    #[arg(long, value_name = "DIR", help_heading = "Cluster", hide = true)]
    pub(crate) keep: Option<PathBuf>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_has_as_many_agents_as_a_machine_can_have() {
        for (text, expected) in [("1", 1), ("256", 256), ("127.0.0.2,127.0.0.3", 2)] {
            let choice: LocalAgentsChoice = text.parse().unwrap();
            assert_eq!(choice.count(), expected);
        }
        for (text, said) in [
            ("0", "at least 1 agent"),
            ("257", "257 agents are too many for one machine"),
            ("100k", "too many for one machine"),
            ("127.0.0.2,here", "invalid address `here`"),
        ] {
            let error = text.parse::<LocalAgentsChoice>().unwrap_err();
            assert!(error.contains(said), "{text}: {error}");
        }
        assert_eq!(agents("1000"), Ok(1_000));
        assert!(agents("0").is_err());
    }

    #[test]
    fn entries_that_permit_nothing_are_refused() {
        for text in ["*", "shop.test", "SHOP.test:81", "10.0.0.7", "[::1]:81"] {
            assert_eq!(permitted(text).as_deref(), Ok(text));
        }
        for text in [
            "",
            "http://shop.test",
            "shop.test/",
            "shop.test:99999",
            "*.shop.test",
            "::1",
            "me@shop.test",
            "a b",
        ] {
            assert!(permitted(text).is_err(), "{text}");
        }
        assert_eq!(variable("TOKEN").as_deref(), Ok("TOKEN"));
        assert_eq!(variable("*").as_deref(), Ok("*"));
        for text in ["", "TOKEN=x", "$TOKEN", "${env:TOKEN}"] {
            assert!(variable(text).is_err(), "{text}");
        }
    }
}
