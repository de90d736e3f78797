//! A wire between two network namespaces that delays, loses, duplicates and damages packets.
//!
//! The kernel's own emulator (netem) is missing on many machines; VDE's `wirefilter` is an ordinary
//! program.

use super::folder::Folder;
use super::lab::{self, Namespace};
use super::patience::{PATIENCE, wait_until};
use super::process::Process;
use super::program::{PATH, neutral, words};
use std::process::{Command, Stdio};

/// The address of the built-in server at the far end.
pub(crate) const FAR: &str = "10.77.0.2:9000";

/// Two namespaces, a switch in each, and the wire between them.
#[derive(Debug)]
pub(crate) struct Wire {
    wire: Option<Process>,
    _switches: [Process; 2],
    pub(crate) near: Namespace,
    pub(crate) far: Namespace,
    folder: Folder,
}

impl Wire {
    /// A wire without faults; `None` if the machine does not allow one.
    pub(crate) fn new() -> Option<Self> {
        if !["vde_switch", "wirefilter", "ping"]
            .into_iter()
            .all(lab::has)
        {
            return None;
        }
        let folder = Folder::new();
        let (near, far) = (Namespace::new()?, Namespace::new()?);
        let switches = [(&near, "near"), (&far, "far")].map(|(namespace, name)| {
            let mut command = namespace.command("vde_switch");
            command.args(["-t", "tap0", "-s", &folder.at(name)]);
            interactive(&mut command)
        });
        for (namespace, own, other) in [(&near, 1, 2), (&far, 2, 1)] {
            wait_until("a switch has its interface", || {
                ip(namespace, "link show tap0")
            });
            // Addresses are not resolved over the wire, because its faults are meant for TCP.
            for line in [
                format!("link set tap0 address 02:00:00:00:00:0{own}"),
                format!("addr add 10.77.0.{own}/24 dev tap0"),
                "link set tap0 up".to_owned(),
                format!("neigh add 10.77.0.{other} lladdr 02:00:00:00:00:0{other} dev tap0"),
            ] {
                assert!(ip(namespace, &line), "ip {line}");
            }
        }
        let mut wire = Self {
            wire: None,
            _switches: switches,
            near,
            far,
            folder,
        };
        wire.set("");
        wait_until("the wire is up", || wire.ping(1, 1).is_some());
        Some(wire)
    }

    /// Replaces the wire with one with these faults, in the syntax of `wirefilter`.
    pub(crate) fn set(&mut self, faults: &str) {
        drop(self.wire.take());
        let mut command = neutral(lab::program("wirefilter"));
        let ends = format!("{}:{}", self.folder.at("near"), self.folder.at("far"));
        command.args(["-v", &ends]).args(words(faults));
        let wire = self.wire.insert(interactive(&mut command));
        wait_until("the wire starts", || {
            wire.stdout().contains("starting") || wire.stderr().contains("starting")
        });
    }

    /// Sets the maximum size of packets at both ends.
    pub(crate) fn set_mtu(&self, bytes: u32) {
        for namespace in [&self.near, &self.far] {
            assert!(ip(namespace, &format!("link set tap0 mtu {bytes}")));
        }
    }

    /// The mean round trip time of `count` pings in seconds; `None` if a ping is not answered
    /// within `seconds`.
    pub(crate) fn ping(&self, count: u32, seconds: u32) -> Option<f64> {
        let mut command = self.near.command("ping");
        let line = format!("-q -i 0.1 -W {seconds} -c {count} 10.77.0.2");
        let output = command.args(words(&line)).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        // rtt min/avg/max/mdev = 100.434/100.657/…
        let times = text
            .split_once("= ")
            .filter(|_| text.contains(" 0% packet loss"))?;
        let mean: f64 = times.1.split('/').nth(1)?.parse().ok()?;
        Some(mean / 1e3)
    }

    /// Starts the built-in server with these flags at the far end.
    pub(crate) fn serve(&self, line: &str) -> Process {
        let mut command = self.far.command(PATH);
        command
            .args(["serve", "--expose", "-l", FAR])
            .args(words(line));
        let serve = Process::start(&mut command);
        let url = serve.first_line(PATIENCE);
        assert!(url.ends_with("://10.77.0.2:9000/"), "{url}");
        serve
    }

    /// Starts `drumfire http` at the near end, with JSON on its standard output.
    pub(crate) fn http(&self, line: &str) -> Process {
        let mut command = self.near.command(PATH);
        command.args(["http", "--json", "-"]).args(words(line));
        Process::start(&mut command)
    }
}

/// Starts a program that has a console and ends with it.
fn interactive(command: &mut Command) -> Process {
    Process::start(command.stdin(Stdio::piped()))
}

fn ip(namespace: &Namespace, line: &str) -> bool {
    lab::run(namespace.command("ip").args(words(line)))
}
