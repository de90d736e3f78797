//! A cluster of processes on this machine: a NATS server, agents with separate addresses, and a
//! coordinator. Each of them can be killed, stopped or cut off.

use crate::process::Guarded;
use drumfire_net::Clock;
use drumfire_units::Nanos;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs::{self, File};
use std::io::{Error, Result};
use std::net::{IpAddr, Ipv4Addr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

/// The time within which the NATS server must listen.
const LISTEN: Nanos = Nanos::from_secs(10);

/// The paths of the programs.
#[derive(Clone, Debug)]
pub struct Binaries {
    /// drumfire.
    pub drumfire: PathBuf,
    /// The NATS server.
    pub nats: PathBuf,
}

/// A NATS server at one address, which can be killed and restarted.
#[derive(Debug)]
pub struct NatsServer {
    program: PathBuf,
    address: Ipv4Addr,
    port: u16,
    folder: PathBuf,
    child: Option<Guarded>,
}

impl NatsServer {
    /// Starts the server with JetStream; its store is below a folder.
    ///
    /// # Errors
    /// If it does not listen in time.
    pub fn start(programs: &Binaries, address: Ipv4Addr, folder: &Path) -> Result<Self> {
        let port = std::net::TcpListener::bind((address, 0))?
            .local_addr()?
            .port();
        let mut server = Self {
            program: programs.nats.clone(),
            address,
            port,
            folder: folder.join("store"),
            child: None,
        };
        server.start_again()?;
        Ok(server)
    }

    /// The URL of the server.
    #[must_use]
    pub fn url(&self) -> String {
        format!("nats://{}:{}", self.address, self.port)
    }

    /// The id of the process.
    #[must_use]
    pub fn id(&self) -> Option<u32> {
        self.child.as_ref().map(|child| child.0.id())
    }

    /// Kills the process.
    pub fn kill(&mut self) {
        self.child = None;
    }

    /// Removes all stored data.
    pub fn wipe(&self) {
        let _was_empty = fs::remove_dir_all(&self.folder);
    }

    /// Starts the server at the same address, and waits until it listens.
    ///
    /// # Errors
    /// If it does not listen in time.
    pub fn start_again(&mut self) -> Result<()> {
        let mut command = Command::new(&self.program);
        let (address, port) = (self.address.to_string(), self.port.to_string());
        command.args(["-a", &address, "-p", &port, "-js", "-sd"]);
        command.arg(&self.folder);
        self.child = Some(Guarded(silent(&mut command).spawn()?));
        let begun = Clock::start();
        while TcpStream::connect((self.address, self.port)).is_err() {
            if begun.now() > LISTEN {
                return Err(Error::other("nats-server did not start"));
            }
            thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }
}

/// An agent, and the address from which it loads.
#[derive(Debug)]
pub struct AgentProcess {
    /// The name in reports.
    pub name: String,
    /// The address that the target sees.
    pub address: IpAddr,
    child: Guarded,
}

impl AgentProcess {
    /// Starts an agent for a group at a server; `command` contains `drumfire` without arguments.
    ///
    /// # Errors
    /// If it can't be started.
    pub fn start(
        mut command: Command,
        (name, address): (&str, IpAddr),
        (url, group): (&str, &str),
        folder: &Path,
    ) -> Result<Self> {
        command.args(["agent", "--nats", url, "--group", group, "--name", name]);
        command.args(["--allow", "*", "--source", &address.to_string()]);
        command.env("XDG_STATE_HOME", folder);
        let said = File::create(folder.join(format!("{name}.txt")))?;
        silent(&mut command).stderr(said);
        Ok(Self {
            name: name.to_owned(),
            address,
            child: Guarded(command.spawn()?),
        })
    }

    /// Sends a signal to the agent.
    ///
    /// # Errors
    /// If the agent has ended.
    pub fn signal(&self, signal: Signal) -> Result<()> {
        let pid = i32::try_from(self.child.0.id()).map_err(Error::other)?;
        Ok(kill(Pid::from_raw(pid), signal)?)
    }

    /// Whether the agent ends within a time.
    #[must_use]
    pub fn ends_within(&mut self, time: Duration) -> bool {
        ends_within(&mut self.child.0, time)
    }
}

/// A coordinator's process, whose report goes to a file.
#[derive(Debug)]
pub struct CoordinatorProcess {
    child: Guarded,
    folder: PathBuf,
}

impl CoordinatorProcess {
    /// Starts a coordinator with arguments after `cluster`, such as `run PLAN`.
    ///
    /// # Errors
    /// If it can't be started.
    pub fn start(programs: &Binaries, args: &[&str], folder: &Path) -> Result<Self> {
        let mut command = Command::new(&programs.drumfire);
        command.arg("cluster").args(args).arg("-q").arg("--json");
        command.arg(folder.join("out.json"));
        command.env("XDG_STATE_HOME", folder);
        let said = File::create(folder.join("coordinator.txt"))?;
        silent(&mut command).stderr(said);
        Ok(Self {
            child: Guarded(command.spawn()?),
            folder: folder.to_owned(),
        })
    }

    /// The id of the process.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.0.id()
    }

    /// Kills the process.
    pub fn kill(mut self) {
        let _ended = self.child.0.kill();
        let _reaped = self.child.0.wait();
    }

    /// Waits for the end of the coordinator, and returns its report.
    ///
    /// # Errors
    /// If it does not end within a time, or leaves no report.
    pub fn report(mut self, time: Duration) -> Result<serde_json::Value> {
        if !ends_within(&mut self.child.0, time) {
            return Err(Error::other("the coordinator did not exit"));
        }
        let said = || fs::read_to_string(self.folder.join("coordinator.txt")).unwrap_or_default();
        let text = fs::read_to_string(self.folder.join("out.json"));
        let text = text.map_err(|error| Error::other(format!("{error}: {}", said())))?;
        Ok(serde_json::from_str(&text)?)
    }
}

fn silent(command: &mut Command) -> &mut Command {
    command.stdin(Stdio::null()).stdout(Stdio::null());
    command.stderr(Stdio::null())
}

fn ends_within(child: &mut Child, time: Duration) -> bool {
    let begun = Clock::start();
    while begun.now().as_duration() < time {
        if !matches!(child.try_wait(), Ok(None)) {
            return true;
        }
        thread::sleep(Duration::from_millis(5));
    }
    false
}

/// A network namespace with two links to the host's: one to NATS, and one to the target. Each link
/// can be cut without the other.
#[derive(Debug)]
pub struct Island {
    name: String,
    net: u8,
}

impl Island {
    /// Creates the namespace; requires root.
    ///
    /// # Errors
    /// If the machine does not allow it.
    pub fn new(net: u8) -> Result<Self> {
        let island = Self {
            name: format!("dfi{}-{net}", std::process::id()),
            net,
        };
        let name = island.name.as_str();
        ip(&["netns", "add", name])?;
        for link in 0..2 {
            let (near, far) = (island.link(link), format!("dff{net}-{link}"));
            ip(&[
                "link", "add", &near, "type", "veth", "peer", "name", &far, "netns", name,
            ])?;
            let (here, there) = (island.here(link), island.there(link));
            ip(&["addr", "add", &format!("{here}/24"), "dev", &near])?;
            ip(&["link", "set", &near, "up"])?;
            ip(&[
                "-n",
                name,
                "addr",
                "add",
                &format!("{there}/24"),
                "dev",
                &far,
            ])?;
            ip(&["-n", name, "link", "set", &far, "up"])?;
        }
        Ok(island)
    }

    /// The host's address on a link.
    #[must_use]
    pub const fn here(&self, link: u8) -> Ipv4Addr {
        Ipv4Addr::new(10, self.net, link, 1)
    }

    /// The namespace's address on a link.
    #[must_use]
    pub const fn there(&self, link: u8) -> Ipv4Addr {
        Ipv4Addr::new(10, self.net, link, 2)
    }

    /// A command that runs in the namespace.
    #[must_use]
    pub fn command(&self, program: &Path) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.name]).arg(program);
        command
    }

    /// Cuts or restores the first link.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn set_link(&self, state: &str) -> Result<()> {
        ip(&["link", "set", &self.link(0), state])
    }

    fn link(&self, link: u8) -> String {
        format!("dfn{}-{link}", self.net)
    }
}

impl Drop for Island {
    fn drop(&mut self) {
        // The links are removed with the namespace.
        let _gone = ip(&["netns", "del", &self.name]);
    }
}

fn ip(args: &[&str]) -> Result<()> {
    let output = Command::new("ip").args(args).output()?;
    match output.status.success() {
        true => Ok(()),
        false => {
            let words = String::from_utf8_lossy(&output.stderr).into_owned();
            Err(Error::other(format!("ip {}: {words}", args.join(" "))))
        }
    }
}
