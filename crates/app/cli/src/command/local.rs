//! A cluster on this machine: a NATS server and agents as processes that end with the run.
//!
//! The processes have their own process groups, so that Ctrl-C on the terminal reaches only the
//! coordinator, which drains the agents. The kernel ends them with the coordinator, however the
//! coordinator ends. The server accepts one user with a generated password. The password is in a
//! file and in environments that only this user can read, so other users of the machine can neither
//! send a plan to the agents nor read results.

mod server_folder;

use server_folder::ServerFolder;

use crate::exit::Failure;
use crate::flags::LocalAgentsChoice;
use crate::random::random;
use drumfire_cluster::NatsUser;
use drumfire_net::end_with_this;
use std::fs;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

/// The name of the server's one user.
const USER: &str = "drumfire";
/// The maximum number of polls until the server prints its port.
const LOOKS: u32 = 200;
/// The time between two polls.
const LOOK: Duration = Duration::from_millis(50);

/// A NATS server and agents. Dropping the value ends them.
#[derive(Debug)]
pub(super) struct Local {
    /// The URL of the server.
    pub(super) url: String,
    password: String,
    server: Child,
    agents: Vec<Child>,
    folder: ServerFolder,
}

/// The settings of agents before their start.
#[derive(Clone, Copy, Debug)]
pub(super) struct LocalAgents<'a> {
    pub(super) choice: &'a LocalAgentsChoice,
    pub(super) group: &'a str,
    /// The folder in which agents keep the records of their shares.
    pub(super) keep: Option<&'a Path>,
    /// The folder of the plan's secrets.
    pub(super) secrets: &'a Path,
}

impl Local {
    /// Starts a server with JetStream on a free port of the loopback address.
    ///
    /// # Errors
    /// If `nats-server` is not in the PATH or does not start.
    pub(super) fn start() -> Result<Self, Failure> {
        let wrong = |error: io::Error| Failure::failed(format!("can't start nats-server: {error}"));
        let password = password().map_err(wrong)?;
        let text = format!("authorization {{ user: {USER}, password: \"{password}\" }}\n");
        let folder = ServerFolder::make(&std::env::temp_dir(), &text).map_err(wrong)?;
        let mut server = Command::new("nats-server");
        server
            .args(["-a", "127.0.0.1", "-p", "-1", "-js", "--ports_file_dir"])
            .arg(folder.path())
            .arg("-sd")
            .arg(folder.path().join("store"))
            .arg("-c")
            .arg(folder.configuration())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0);
        let server = end_with_this(&mut server).spawn().map_err(not_started)?;
        let mut local = Self {
            url: String::new(),
            password,
            server,
            agents: Vec::new(),
            folder,
        };
        local.url = local.wait_for_port()?;
        Ok(local)
    }

    /// The credentials of the server's user.
    pub(super) fn user(&self) -> NatsUser {
        NatsUser::Password(USER.to_owned(), self.password.clone())
    }

    /// Starts agents as processes of this program.
    ///
    /// # Errors
    /// If an agent cannot be started.
    pub(super) fn start_agents(&mut self, agents: &LocalAgents<'_>) -> Result<(), Failure> {
        let wrong = |error: io::Error| Failure::failed(format!("can't start an agent: {error}"));
        let program = std::env::current_exe().map_err(wrong)?;
        for index in 0..agents.choice.count() {
            let mut command = Command::new(&program);
            command.args(["agent", "--group", agents.group, "--nats", &self.url]);
            // The agents run as the user who wrote the plan, on the same machine, so they may read
            // all its files and variables.
            command.args(["--allow", "*", "--env", "*", "--files-max", "1TiB"]);
            command.arg("--secrets").arg(match agents.secrets {
                here if here.as_os_str().is_empty() => Path::new("."),
                folder => folder,
            });
            if let LocalAgentsChoice::Addresses(addresses) = agents.choice
                && let Some(address) = addresses.get(index as usize)
            {
                command.args(["--source", &address.to_string()]);
            }
            if let Some(folder) = agents.keep {
                command.arg("--keep").arg(folder);
            }
            command.stdin(Stdio::null()).stdout(Stdio::null());
            command.stderr(Stdio::null()).process_group(0);
            command.env("NATS_USER", USER);
            command.env("NATS_PASSWORD", &self.password);
            let agent = end_with_this(&mut command).spawn();
            self.agents.push(agent.map_err(wrong)?);
        }
        Ok(())
    }

    /// Waits for the agents to end, for a limited time.
    pub(super) fn wait(&mut self) {
        for _ in 0..LOOKS {
            self.agents
                .retain_mut(|agent| matches!(agent.try_wait(), Ok(None)));
            if self.agents.is_empty() {
                return;
            }
            thread::sleep(LOOK);
        }
    }

    fn wait_for_port(&mut self) -> Result<String, Failure> {
        let name = format!("nats-server_{}.ports", self.server.id());
        let file = self.folder.path().join(name);
        for _ in 0..LOOKS {
            if let Ok(Some(status)) = self.server.try_wait() {
                return Err(Failure::failed(format!("nats-server exited: {status}")));
            }
            let text = fs::read_to_string(&file).unwrap_or_default();
            // {"nats":["nats://127.0.0.1:40123"], …}
            let quoted = text.split('"').find(|part| part.starts_with("nats://"));
            if let Some(url) = quoted {
                return Ok(url.to_owned());
            }
            thread::sleep(LOOK);
        }
        Err(Failure::failed("nats-server did not report its port"))
    }
}

/// A password of 128 random bits, in hexadecimal digits.
fn password() -> io::Result<String> {
    let bytes = random()?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn not_started(error: io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::NotFound => Failure::failed("nats-server was not found in the PATH")
            .with_remedy(
                "; build it with `go install github.com/nats-io/nats-server/v2@latest`, or use \
                 --nats for a server that is running",
            ),
        _ => Failure::failed(format!("can't start nats-server: {error}")),
    }
}

impl Drop for Local {
    fn drop(&mut self) {
        for child in self.agents.iter_mut().chain([&mut self.server]) {
            // The process may have ended already.
            let _ended = child.kill();
            let _ended = child.wait();
        }
    }
}
