//! A NATS server as a process.

use super::folder::Folder;
use super::patience::wait_until;
use super::process::Process;
use super::program::drumfire;
use std::fs;
use std::path::Path;
use std::process::Command;

/// A NATS server on a free port. Dropping the value ends the server.
#[derive(Debug)]
pub(crate) struct Nats {
    _process: Process,
    _folder: Folder,
    /// The port on the loopback address.
    pub(crate) port: u16,
}

impl Nats {
    /// Starts the server with JetStream.
    pub(crate) fn new(program: &Path) -> Self {
        Self::configured(program, "", &[])
    }

    /// Starts the server with JetStream, this configuration and these variables.
    pub(crate) fn configured(
        program: &Path,
        configuration: &str,
        variables: &[(&str, &str)],
    ) -> Self {
        let folder = Folder::new();
        let file = folder.write("nats.conf", configuration);
        let mut command = Command::new(program);
        let ports = folder.at("");
        command.args(["-a", "127.0.0.1", "-p", "-1", "-js", "-c", &file]);
        command.args(["--ports_file_dir", &ports, "-sd", &folder.at("jetstream")]);
        command.envs(variables.iter().copied());
        let process = Process::start(&mut command);
        let name = format!("nats-server_{}.ports", process.id());
        let mut port = None;
        wait_until("the server names its port", || {
            let text = fs::read_to_string(folder.at(&name)).unwrap_or_default();
            let ports: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
            let url = ports["nats"][0].as_str().unwrap_or_default();
            port = url.rsplit(':').next().and_then(|port| port.parse().ok());
            port.is_some()
        });
        Self {
            _process: process,
            _folder: folder,
            port: port.unwrap(),
        }
    }

    /// The URL of the server.
    pub(crate) fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }
}

/// The program with this NATS server in its PATH.
pub(crate) fn with_nats(server: &Path, args: &[&str]) -> Command {
    let mut command = drumfire(args);
    let path = std::env::var("PATH").unwrap_or_default();
    let folder = server.parent().unwrap();
    command.env("PATH", format!("{}:{path}", folder.display()));
    command
}
