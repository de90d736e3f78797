//! A cluster on this machine: a server of NATS and agents as processes, which end with the run.
//!
//! They are in process groups of their own, so that Ctrl-C on the terminal is the coordinator's
//! alone, which drains the agents.

use crate::exit::Failure;
use std::fs;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

/// The time that the server has to name its port, in looks.
const LOOKS: u32 = 200;
/// The time between two looks.
const LOOK: Duration = Duration::from_millis(50);

/// A server of NATS and agents, which are ended when this is dropped.
#[derive(Debug)]
pub(super) struct Local {
    /// The URL of the server.
    pub(super) url: String,
    server: Child,
    agents: Vec<Child>,
    folder: PathBuf,
}

/// Agents that are to be started.
#[derive(Clone, Copy, Debug)]
pub(super) struct LocalAgents<'a> {
    pub(super) count: u64,
    pub(super) group: &'a str,
    /// The folder in which they keep the records of their shares.
    pub(super) keep: Option<&'a Path>,
    /// The folder in which the plan's secrets are.
    pub(super) secrets: &'a Path,
}

impl Local {
    /// Starts a server with JetStream on a port of the loopback address that is free.
    ///
    /// # Errors
    /// When there is none in the PATH, or it does not start.
    pub(super) fn start() -> Result<Self, Failure> {
        let folder = std::env::temp_dir().join(format!("drumfire-nats-{}", std::process::id()));
        let made = fs::create_dir_all(&folder);
        made.map_err(|error| Failure::failed(format!("can't make {}: {error}", folder.display())))?;
        let server = Command::new("nats-server")
            .args(["-a", "127.0.0.1", "-p", "-1", "-js", "--ports_file_dir"])
            .arg(&folder)
            .arg("-sd")
            .arg(folder.join("store"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .map_err(not_started)?;
        let mut local = Self {
            url: String::new(),
            server,
            agents: Vec::new(),
            folder,
        };
        local.url = local.wait_for_port()?;
        Ok(local)
    }

    /// Starts agents that run this program.
    ///
    /// # Errors
    /// When one can't be started.
    pub(super) fn start_agents(&mut self, agents: &LocalAgents<'_>) -> Result<(), Failure> {
        let wrong = |error: io::Error| Failure::failed(format!("can't start an agent: {error}"));
        let program = std::env::current_exe().map_err(wrong)?;
        for _ in 0..agents.count {
            let mut command = Command::new(&program);
            command.args(["agent", "--group", agents.group, "--nats", &self.url]);
            // It is the same user on the same machine, who wrote the plan.
            command.args(["--allow", "*", "--files-max", "1TiB"]);
            command.arg("--secrets").arg(match agents.secrets {
                here if here.as_os_str().is_empty() => Path::new("."),
                folder => folder,
            });
            if let Some(folder) = agents.keep {
                command.arg("--keep").arg(folder);
            }
            command.stdin(Stdio::null()).stdout(Stdio::null());
            command.stderr(Stdio::null()).process_group(0);
            self.agents.push(command.spawn().map_err(wrong)?);
        }
        Ok(())
    }

    /// Waits until the agents have ended by themselves, for a while.
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
        let file = self
            .folder
            .join(format!("nats-server_{}.ports", self.server.id()));
        for _ in 0..LOOKS {
            if let Ok(Some(status)) = self.server.try_wait() {
                return Err(Failure::failed(format!("nats-server has ended: {status}")));
            }
            let text = fs::read_to_string(&file).unwrap_or_default();
            // {"nats":["nats://127.0.0.1:40123"], …}
            let quoted = text.split('"').find(|part| part.starts_with("nats://"));
            if let Some(url) = quoted {
                return Ok(url.to_owned());
            }
            thread::sleep(LOOK);
        }
        Err(Failure::failed(
            "nats-server does not say which port it has",
        ))
    }
}

fn not_started(error: io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::NotFound => Failure::failed("there is no nats-server in the PATH")
            .with_remedy(
                "; `go install github.com/nats-io/nats-server/v2@latest` builds one, or name one \
                 that runs by --nats",
            ),
        _ => Failure::failed(format!("can't start nats-server: {error}")),
    }
}

impl Drop for Local {
    fn drop(&mut self) {
        for child in self.agents.iter_mut().chain([&mut self.server]) {
            // It may have ended by itself.
            let _ended = child.kill();
            let _ended = child.wait();
        }
        let _left_behind = fs::remove_dir_all(&self.folder);
    }
}
