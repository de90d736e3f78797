//! `drumfire serve` as a process.

use super::patience::{PATIENCE, wait_until};
use super::process::{Process, Run, Signal};
use super::program::{drumfire, words};
use super::script::get;
use serde_json::Value;
use std::net::SocketAddr;

/// The built-in server with given flags.
#[derive(Debug)]
pub(crate) struct Serve {
    process: Process,
    /// `http://127.0.0.1:PORT/`, or `unix:PATH`.
    pub(crate) url: String,
}

impl Serve {
    /// Starts the server on a free port, unless the flags contain one.
    pub(crate) fn new(line: &str) -> Self {
        let mut command = drumfire(["serve"]);
        if !line.contains("-l ") {
            command.args(["-l", "127.0.0.1:0"]);
        }
        command.args(words(line));
        let process = Process::start(&mut command);
        let url = process.first_line(PATIENCE);
        Self { process, url }
    }

    /// `127.0.0.1:PORT`.
    pub(crate) fn address(&self) -> SocketAddr {
        let rest = self.url.split_once("://").unwrap().1;
        rest.trim_end_matches('/').parse().unwrap()
    }

    pub(crate) fn port(&self) -> u16 {
        self.address().port()
    }

    /// A counter of the server.
    pub(crate) fn count(&self, name: &str) -> u64 {
        self.counters()[name].as_u64().unwrap()
    }

    /// All counters of the server.
    pub(crate) fn counters(&self) -> Value {
        serde_json::from_str(&get(self.address(), "/counters").unwrap()).unwrap()
    }

    /// Waits until the server has received `count` requests.
    pub(crate) fn await_requests(&self, count: u64) {
        wait_until("a load", || self.count("requests") >= count);
    }

    /// The server's log of arrivals, in nanoseconds from the first arrival.
    pub(crate) fn arrivals(&self) -> Vec<u64> {
        let text = get(self.address(), "/arrivals").unwrap();
        let mut times: Vec<u64> = text.lines().map(|line| line.parse().unwrap()).collect();
        times.sort_unstable();
        times
    }

    /// Ends the server.
    pub(crate) fn stop(self) -> Run {
        self.stop_by(Signal::INT)
    }

    /// Ends the server with this signal.
    pub(crate) fn stop_by(self, signal: Signal) -> Run {
        self.process.signal(signal);
        self.process.finish(PATIENCE)
    }
}
