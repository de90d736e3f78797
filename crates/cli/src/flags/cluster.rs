//! The flags of agents and of runs on several machines.

use super::{OutputFlags, RunFlags, number};
use clap::{ArgGroup, Args, Subcommand, ValueEnum};
use drumfire_units::ByteSize;
use std::net::IpAddr;
use std::path::PathBuf;
use std::str::FromStr;

/// The most bytes that the files of a plan have on an agent.
pub(crate) const FILES_BYTES_MAX: u64 = 1 << 30;

/// The way to a server of NATS.
#[derive(Args, Clone, Debug)]
pub(crate) struct NatsFlags {
    /// A file with the token and the key of a user of NATS
    #[arg(long, value_name = "FILE", help_heading = "Cluster")]
    pub(crate) creds: Option<PathBuf>,
    /// A file with the seed of a user's key; a name and a password are NATS_USER and NATS_PASSWORD
    /// in the environment
    #[arg(long, value_name = "FILE", help_heading = "Cluster")]
    #[arg(conflicts_with = "creds")]
    pub(crate) nkey: Option<PathBuf>,
    /// The authority of the certificate of NATS, in PEM; asks for TLS
    #[arg(long, value_name = "FILE", help_heading = "Cluster")]
    pub(crate) nats_cacert: Option<PathBuf>,
    /// The certificate that is shown to NATS, in PEM
    #[arg(long, value_name = "FILE", help_heading = "Cluster")]
    #[arg(requires = "nats_key")]
    pub(crate) nats_cert: Option<PathBuf>,
    /// Its key
    #[arg(long, value_name = "FILE", help_heading = "Cluster")]
    #[arg(requires = "nats_cert")]
    pub(crate) nats_key: Option<PathBuf>,
    /// The group of agents, a part of each subject: drumfire.GROUP.*
    #[arg(
        long,
        value_name = "GROUP",
        default_value = "default",
        help_heading = "Cluster"
    )]
    #[arg(value_parser = group)]
    pub(crate) group: String,
}

/// A group's name, which is one word of a subject.
fn group(text: &str) -> Result<String, String> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    match !text.is_empty() && text.chars().all(is_word) {
        true => Ok(text.to_owned()),
        false => Err("a group is a word of letters, digits, - and _".to_owned()),
    }
}

/// Flags of `agent`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  drumfire agent --nats nats://10.0.0.5:4222 --allow shop.test:443
  drumfire agent --nats tls://nats.test --creds agent.creds --allow 10.0.0.7
It runs one share of one run and ends: with 0 when the coordinator has stored all of it.
What a plan's references name (secrets, variables) is looked up here, by the agent.")]
pub(crate) struct AgentFlags {
    /// The server of NATS, such as nats://127.0.0.1:4222
    #[arg(long, value_name = "URL", help_heading = "Cluster")]
    pub(crate) nats: String,
    #[command(flatten)]
    pub(crate) way: NatsFlags,
    /// A host that plans may load, with a port where only that may be; several times; * is any
    /// [default: this machine alone]
    #[arg(long, value_name = "HOST[:PORT]", help_heading = "Cluster")]
    pub(crate) allow: Vec<String>,
    /// A local address to send from, in place of the plan's; several times
    #[arg(long, value_name = "ADDRESS", help_heading = "Cluster")]
    pub(crate) source: Vec<IpAddr>,
    /// The folder of this agent's secrets: files that ${secret:file:PATH} and a plan's private keys
    /// name, which never travel
    #[arg(long, value_name = "DIR", help_heading = "Cluster")]
    pub(crate) secrets: Option<PathBuf>,
    /// The bytes that the files of a plan may have [default: 1GiB]
    #[arg(long, value_name = "SIZE", help_heading = "Cluster")]
    pub(crate) files_max: Option<ByteSize>,
    /// The name of this agent, which no other may have [default: the machine's, and the process]
    #[arg(long, value_name = "NAME", help_heading = "Cluster")]
    pub(crate) name: Option<String>,
    /// Keep the record of the share in this folder, also when the coordinator has stored it
    #[arg(long, value_name = "DIR", help_heading = "Cluster")]
    pub(crate) keep: Option<PathBuf>,
}

/// What is done on several machines.
#[derive(Debug, Subcommand)]
pub(crate) enum ClusterAct {
    /// Run a plan on agents, as one run
    Run(Box<ClusterRunFlags>),
    /// Go on with a run whose coordinator died, by its journal
    Attach(Box<AttachFlags>),
    /// Show the runs under way and their agents
    Status(ClusterStatusFlags),
}

/// Flags of `cluster status`.
#[derive(Args, Debug)]
pub(crate) struct ClusterStatusFlags {
    /// The run, or the beginning of its name [default: all of the group]
    #[arg(value_name = "RUN")]
    pub(crate) run: Option<String>,
    /// The server of NATS, such as nats://127.0.0.1:4222
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
    after_help = "Agents go on where their lease of 3 s has not passed; of others, what they had \
                  sent until then is taken.
The results go where those of the run were to go; flags say more."
)]
pub(crate) struct AttachFlags {
    /// The run: its name, the beginning of it, or last
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
    /// The server of NATS, where it is another than the run had
    #[arg(long, value_name = "URL", help_heading = "Cluster")]
    pub(crate) nats: Option<String>,
    #[command(flatten)]
    pub(crate) way: NatsFlags,
    /// Take the run from a coordinator that is there and does not go on
    #[arg(long, help_heading = "Cluster")]
    pub(crate) take_over: bool,
    #[command(flatten)]
    pub(crate) output: OutputFlags,
}

/// The most agents that are started here: they share this machine's cores.
const LOCAL_MAX: u64 = 256;

/// The number of agents.
fn agents(text: &str) -> Result<u64, String> {
    match number::count(text)? {
        0 => Err("a run needs 1 agent at least".to_owned()),
        count => Ok(count),
    }
}

/// The agents of this machine.
#[derive(Clone, Debug)]
pub(crate) enum LocalAgentsChoice {
    /// This many.
    Count(u64),
    /// One for each address, from which it sends.
    Addresses(Vec<IpAddr>),
}

impl LocalAgentsChoice {
    /// Their number.
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
                    "{count} agents are too many for one machine; it takes up to {LOCAL_MAX}"
                )),
                count => Ok(Self::Count(count)),
            };
        }
        let address = |text: &str| {
            let shown = text.escape_default();
            let wrong =
                |_| format!("`{shown}` is no address; write some such as 127.0.0.2,127.0.0.3");
            text.trim().parse().map_err(wrong)
        };
        let addresses: Result<Vec<IpAddr>, String> = text.split(',').map(address).collect();
        addresses.map(Self::Addresses)
    }
}

/// What the loss of an agent does to the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum LossChoice {
    /// The others go on.
    #[default]
    Drop,
    /// The load stops.
    Abort,
    /// The others take its share from a later time on.
    Redistribute,
}

/// Flags of `cluster run`.
#[derive(Args, Debug)]
#[command(disable_help_flag = true)]
#[command(group = ArgGroup::new("where").required(true).args(["nats", "local"]))]
#[command(
    after_help = "Flags of `drumfire run` hold here too. Agents are started with `drumfire agent`;
--local N starts N of them here, with a nats-server from the PATH that ends with the run."
)]
pub(crate) struct ClusterRunFlags {
    #[command(flatten)]
    pub(crate) run: RunFlags,
    /// The server of NATS, such as nats://127.0.0.1:4222
    #[arg(
        long,
        value_name = "URL",
        requires = "agents",
        help_heading = "Cluster"
    )]
    pub(crate) nats: Option<String>,
    #[command(flatten)]
    pub(crate) way: NatsFlags,
    /// The number of agents that the load is divided among
    #[arg(long, value_name = "N", value_parser = agents, help_heading = "Cluster")]
    #[arg(conflicts_with = "local")]
    pub(crate) agents: Option<u64>,
    /// Start this many agents here, and a nats-server; a list of local addresses such as
    /// 127.0.0.2,127.0.0.3 starts one for each, which sends from it
    #[arg(long, value_name = "N", help_heading = "Cluster")]
    pub(crate) local: Option<LocalAgentsChoice>,
    /// The time that agents have to come, such as 30s
    #[arg(
        long,
        value_name = "TIME",
        default_value = "30s",
        help_heading = "Cluster"
    )]
    pub(crate) wait: String,
    /// What the loss of an agent does: drop its share, abort the run, or redistribute its share
    #[arg(
        long,
        value_name = "WHAT",
        default_value = "drop",
        help_heading = "Cluster"
    )]
    #[arg(hide_possible_values = true)]
    pub(crate) on_loss: LossChoice,
    /// Keep the records of local agents in this folder
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
            ("0", "1 agent at least"),
            ("257", "257 agents are too many for one machine"),
            ("100k", "too many for one machine"),
            ("127.0.0.2,here", "is no address"),
        ] {
            let error = text.parse::<LocalAgentsChoice>().unwrap_err();
            assert!(error.contains(said), "{text}: {error}");
        }
        assert_eq!(agents("1000"), Ok(1_000));
        assert!(agents("0").is_err());
    }
}
